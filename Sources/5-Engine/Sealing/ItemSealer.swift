import Crypto
import FoundationEssentials
import KeychainModel

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
        let itemKey = SymmetricKey(size: .bits256)
        let header = header?.encoded ?? []
        do {
            var seal = Data(header)
            seal.append(try AES.KeyWrap.wrap(itemKey, using: wrappingKey))
            let box = try AES.GCM.seal(
                value, using: itemKey, authenticating: binding.valueContext(accessControl: accessControl) + header)
            seal.append(contentsOf: box.nonce)
            seal.append(box.tag)
            return SealedValue(seal: seal, ciphertext: box.ciphertext)
        } catch {
            throw .malformed("the value cannot be sealed")
        }
    }

    /// - Throws: ``SealingError/wrongFactor`` if the seal has a header and `wrappingKey` is wrong.
    package static func open(
        _ sealed: SealedValue, accessControl: AccessControl, binding: RowBinding, wrappingKey: SymmetricKey
    ) throws(SealingError) -> Data {
        guard let ciphertext = sealed.ciphertext else { throw .malformed("its value was not read") }
        let itemKey = try self.itemKey(in: sealed.seal, wrappingKey: wrappingKey)
        let seal = sealed.seal.suffix(SealedValue.sealSize)
        let header = sealed.seal.dropLast(SealedValue.sealSize)
        let start = seal.startIndex
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: seal[(start + 40)..<(start + 52)]), ciphertext: ciphertext,
                tag: seal[(start + 52)...])
            return try AES.GCM.open(
                box, using: itemKey, authenticating: binding.valueContext(accessControl: accessControl) + header)
        } catch {
            throw .authenticationFailed
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
        metadata: Data, valueSeal: Data, binding: RowBinding, metadataKey: SymmetricKey
    ) throws(SealingError) -> Data {
        do {
            let box = try AES.GCM.seal(
                metadata, using: metadataKey, authenticating: binding.metadataContext(valueSeal: valueSeal))
            guard let combined = box.combined else { throw SealingError.malformed("nonce") }
            return combined
        } catch {
            throw .malformed("the attributes cannot be sealed")
        }
    }

    package static func open(
        metadata: Data, valueSeal: Data, binding: RowBinding, metadataKey: SymmetricKey
    ) throws(SealingError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(combined: metadata)
            return try AES.GCM.open(
                box, using: metadataKey, authenticating: binding.metadataContext(valueSeal: valueSeal))
        } catch {
            throw .authenticationFailed
        }
    }
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
