import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import PreparedKeys

/// A sealed value: the seal that opens it, and the ciphertext. They are separate, so that a listing need not read large
/// values.
package struct SealedValue: Sendable, Hashable {
    /// The seal: a ``SealHeader`` if the value needs more than the class key; then the wrapped key of the item (40
    /// bytes, RFC 3394), the nonce (12) and the tag (16). After a renewal of the class keys it may be the stored form
    /// of a ``FormerSeal``.
    ///
    /// Empty for an item without a value.
    package var seal: Data
    /// Nil if it was not read.
    package var ciphertext: Data?

    package init(seal: Data, ciphertext: Data?) {
        self.seal = seal
        self.ciphertext = ciphertext
    }

    /// The sealed form of an item without a value.
    package static let none = SealedValue(seal: Data(), ciphertext: Data())

    /// The length of ``seal`` in bytes without a header.
    package static let sealSize = 40 + 12 + 16

    /// Returns the header of a seal; nil if the class key alone opens the value, or if there is no value.
    package static func header(of seal: Data) throws(SealingError) -> SealHeader? {
        if seal.isEmpty || seal.count == sealSize { return nil }
        guard seal.count > sealSize else { throw .malformed("length of a value's seal") }
        if FormerSeal.isForm(of: seal) { return try SealHeader(decoding: Array(FormerSeal.header(in: seal))) }
        return try SealHeader(decoding: Array(seal.dropLast(sealSize)))
    }
}

/// Seals and opens the two parts of an item: AES-256-GCM (NIST SP 800-38D) with random 96-bit nonces.
package enum ItemSealer {
    /// Seals `value` with a new key, which `wrappingKey` wraps.
    ///
    /// - Parameters:
    ///   - header: Describes the parts of `wrappingKey`; nil for the class key.
    package static func seal(
        value: Data, header: SealHeader? = nil, accessControl: AccessControl, binding: RowBinding,
        wrappingKey: SymmetricKey
    ) throws(SealingError) -> SealedValue {
        let header = header?.encoded ?? []
        let context = binding.valueContext(accessControl: accessControl) + header
        var seal = Data(header) + Data(count: SealedValue.sealSize)
        var ciphertext = Data(count: value.count)
        let isSealed = seal.withUnsafeMutableBytes { seal in
            let end = UnsafeMutableRawBufferPointer(rebasing: seal[header.count...])
            let nonce = UnsafeMutableRawBufferPointer(rebasing: end[40..<52])
            AES.GCM.Nonce().withUnsafeBytes { nonce.copyMemory(from: $0) }
            return ciphertext.withUnsafeMutableBytes { ciphertext in
                value.withUnsafeBytes { value in
                    context.withUnsafeBytes { context in
                        WrappedKeyAEAD.seal(
                            value, under: wrappingKey, wrapped: UnsafeMutableRawBufferPointer(rebasing: end[..<40]),
                            nonce: UnsafeRawBufferPointer(nonce), binding: context, into: ciphertext,
                            tag: UnsafeMutableRawBufferPointer(rebasing: end[52...]))
                    }
                }
            }
        }
        guard isSealed else { throw .malformed("the value cannot be sealed") }
        return SealedValue(seal: seal, ciphertext: ciphertext)
    }

    /// Returns the value, in memory that is wiped when its last copy goes.
    ///
    /// - Throws: ``SealingError/wrongFactor`` if the seal has a header and `wrappingKey` is wrong.
    package static func open(
        _ sealed: SealedValue, accessControl: AccessControl, binding: RowBinding, wrappingKey: SymmetricKey
    ) throws(SealingError) -> Data {
        guard let ciphertext = sealed.ciphertext else { throw .malformed("its value was not read") }
        guard sealed.seal.count >= SealedValue.sealSize else { throw .malformed("value seal") }
        let headerSize = sealed.seal.count - SealedValue.sealSize
        let context = binding.valueContext(accessControl: accessControl) + sealed.seal.prefix(headerSize)
        return try .wipedWhenFreed(exactly: ciphertext.count, orOutOfMemory: .malformed("no memory for its value")) {
            (text: UnsafeMutableRawBufferPointer) throws(SealingError) in
            let failure = sealed.seal.withUnsafeBytes { seal -> WrappedKeyAEAD.Failure? in
                let end = UnsafeRawBufferPointer(rebasing: seal[headerSize...])
                let nonce = UnsafeRawBufferPointer(rebasing: end[40..<52])
                return ciphertext.withUnsafeBytes { sealed in
                    context.withUnsafeBytes { context in
                        do throws(WrappedKeyAEAD.Failure) {
                            try WrappedKeyAEAD.open(
                                sealed, wrapped: UnsafeRawBufferPointer(rebasing: end[..<40]), under: wrappingKey,
                                nonce: nonce, binding: context, tag: UnsafeRawBufferPointer(rebasing: end[52...]),
                                into: text)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
            }
            switch failure {
            case nil: return
            case .wrongKey: throw headerSize == 0 ? .authenticationFailed : .wrongFactor
            case .wrongTag: throw .authenticationFailed
            }
        }
    }

    /// Checks whether `wrappingKey` opens a seal, without the value.
    ///
    /// - Throws: The errors of ``open(_:accessControl:binding:wrappingKey:)``.
    package static func check(_ seal: Data, wrappingKey: SymmetricKey) throws(SealingError) {
        _ = try itemKey(in: seal, wrappingKey: wrappingKey)
    }

    private static func itemKey(in seal: Data, wrappingKey: SymmetricKey) throws(SealingError) -> SymmetricKey {
        guard seal.count >= SealedValue.sealSize else { throw .malformed("value seal") }
        let start = seal.endIndex - SealedValue.sealSize
        do {
            return try AES.KeyWrap.unwrap(seal[start..<(start + 40)], using: wrappingKey)
        } catch {
            throw seal.count == SealedValue.sealSize ? .authenticationFailed : .wrongFactor
        }
    }

    /// Seals the encoded attributes: nonce (12), ciphertext, tag (16).
    package static func seal(
        metadata: Data, valueSeal: Data, binding: RowBinding, cipher: PreparedAEAD
    ) throws(SealingError) -> Data {
        let context = binding.metadataContext(valueSeal: valueSeal)
        var sealed = Data(count: nonceSize + metadata.count + tagSize)
        let isSealed = sealed.withUnsafeMutableBytes { sealed in
            metadata.withUnsafeBytes { text in
                context.withUnsafeBytes { context in
                    guard let target = sealed.baseAddress, let binding = context.baseAddress else { return false }
                    AES.GCM.Nonce().withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: sealed[..<nonceSize]).copyMemory(from: $0)
                    }
                    return cipher.seal(
                        text.baseAddress ?? UnsafeRawPointer(target), count: text.count, nonce: target,
                        binding: binding, bindingCount: context.count, into: target + nonceSize,
                        tag: target + nonceSize + text.count)
                }
            }
        }
        guard isSealed else { throw .malformed("the attributes cannot be sealed") }
        return sealed
    }

    /// Runs `body` with the encoded attributes, which are in no memory afterwards.
    package static func open<Result>(
        metadata: Data, valueSeal: Data, binding: RowBinding, cipher: PreparedAEAD,
        _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Result
    ) throws(SealingError) -> Result {
        let count = metadata.count - nonceSize - tagSize
        guard count >= 0 else { throw .authenticationFailed }
        let context = binding.metadataContext(valueSeal: valueSeal)
        return try withUnsafeTemporaryAllocation(byteCount: max(1, count), alignment: 16) {
            room throws(SealingError) in
            defer { SecretBytes.wipe(room) }
            let isOpen = metadata.withUnsafeBytes { sealed in
                context.withUnsafeBytes { context in
                    guard let base = sealed.baseAddress, let binding = context.baseAddress, let text = room.baseAddress
                    else { return false }
                    return cipher.open(
                        base + nonceSize, count: count, nonce: base, binding: binding, bindingCount: context.count,
                        tag: base + nonceSize + count, into: text)
                }
            }
            guard isOpen else { throw .authenticationFailed }
            return try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    private static let (nonceSize, tagSize) = (12, 16)
}

/// The reason why sealed bytes could not be opened.
package enum SealingError: Error, Equatable {
    /// The tag or key wrap does not verify: the bytes were changed, moved from another place, or sealed with another
    /// key.
    case authenticationFailed
    /// The bytes are unchanged, but a part of the wrapping key other than the class key is wrong: the application
    /// password or the enrolment.
    case wrongFactor
    /// The opened bytes do not have the shape they must have.
    case malformed(String)
}
