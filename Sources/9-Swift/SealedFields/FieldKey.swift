import Bytes
import Crypto
import Foundation
import PreparedKeys

/// A key of a keyring, in memory that is wiped when the last reference goes away.
final class FieldKey: Sendable {
    let id: FieldKeyID
    private let chaChaPoly: PreparedAEAD
    private let aesGCM: PreparedAEAD

    /// - Parameter secret: The 32 random bytes that the keyring has.
    /// - Parameter preparing: False for swift-crypto's own interface, which otherwise is used where no key can be
    ///   prepared.
    init(_ id: FieldKeyID, secret: SymmetricKey, preparing: Bool = true) {
        self.id = id
        // One key for each cipher, so that no key is used with two.
        func cipher(_ algorithm: SealingAlgorithm, _ prepared: PreparedAEAD.Algorithm) -> PreparedAEAD {
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: secret, info: Data("swift-keychain/v1/field/".utf8) + [algorithm.number],
                outputByteCount: 32)
            return PreparedAEAD(prepared, key, preparing: preparing)
        }
        chaChaPoly = cipher(.chaChaPoly, .chaChaPoly)
        aesGCM = cipher(.aesGCM, .aesGCM)
    }

    private func cipher(_ algorithm: SealingAlgorithm) -> PreparedAEAD {
        algorithm == .chaChaPoly ? chaChaPoly : aesGCM
    }

    // MARK: Sealing

    /// Seals `plaintext` for a place.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, _ algorithm: SealingAlgorithm, _ binding: BindingBytes
    ) throws -> Data {
        var sealed = Data(count: SealedForm.overhead + plaintext.count)
        let isSealed = sealed.withUnsafeMutableBytes { sealed in
            sealed[0] = SealedForm.version
            sealed[1] = algorithm.number
            sealed.storeBytes(of: id.number.bigEndian, toByteOffset: 2, as: UInt64.self)
            return withUnsafeTemporaryAllocation(byteCount: binding.count, alignment: 1) { room in
                binding.write(
                    header: UnsafeRawBufferPointer(rebasing: sealed[..<SealedForm.headerCount]), into: room)
                return seal(plaintext, algorithm, UnsafeRawBufferPointer(room), into: sealed)
            }
        }
        guard isSealed else {
            sealed.withUnsafeMutableBytes { SecretBytes.wipe($0) }
            throw SealedFieldsError(.outOfMemory, message: "the value could not be sealed")
        }
        return sealed
    }

    /// Writes nonce, ciphertext and tag behind the header.
    private func seal(
        _ plaintext: UnsafeRawBufferPointer, _ algorithm: SealingAlgorithm, _ binding: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let base = sealed.baseAddress, let bindingBase = binding.baseAddress else { return false }
        let (nonce, text) = (base + SealedForm.headerCount, base + SealedForm.headerCount + SealedForm.nonceCount)
        var generator = SystemRandomNumberGenerator()
        nonce.storeBytes(of: generator.next() as UInt64, as: UInt64.self)
        nonce.storeBytes(of: generator.next() as UInt32, toByteOffset: 8, as: UInt32.self)
        // Without plaintext there may be no address, and none is looked at.
        return cipher(algorithm).seal(
            plaintext.baseAddress ?? UnsafeRawPointer(text), count: plaintext.count, nonce: nonce, binding: bindingBase,
            bindingCount: binding.count, into: text, tag: text + plaintext.count)
    }

    // MARK: Opening

    /// Opens what ``seal(_:_:_:)`` made, and wipes the plaintext after `body`.
    func open<Result>(
        _ sealed: Data, _ algorithm: SealingAlgorithm, _ binding: BindingBytes,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let count = max(0, sealed.count - SealedForm.overhead)
        let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer {
            SecretBytes.wipe(plaintext)
            plaintext.deallocate()
        }
        guard sealed.count >= SealedForm.overhead, open(sealed, algorithm, binding, into: plaintext) else {
            throw SealedFieldsError.notAuthentic("\(binding.table).\(binding.column)")
        }
        return try body(UnsafeRawBufferPointer(plaintext))
    }

    private func open(
        _ sealed: Data, _ algorithm: SealingAlgorithm, _ binding: BindingBytes,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        sealed.withUnsafeBytes { sealed in
            withUnsafeTemporaryAllocation(byteCount: binding.count, alignment: 1) { room in
                let header = UnsafeRawBufferPointer(rebasing: sealed[..<SealedForm.headerCount])
                binding.write(header: header, into: room)
                return open(sealed, algorithm, UnsafeRawBufferPointer(room), into: plaintext)
            }
        }
    }

    private func open(
        _ sealed: UnsafeRawBufferPointer, _ algorithm: SealingAlgorithm, _ binding: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let base = sealed.baseAddress, let bindingBase = binding.baseAddress, let target = plaintext.baseAddress
        else { return false }
        let (nonce, text) = (base + SealedForm.headerCount, base + SealedForm.headerCount + SealedForm.nonceCount)
        return cipher(algorithm).open(
            text, count: plaintext.count, nonce: nonce, binding: bindingBase, bindingCount: binding.count,
            tag: text + plaintext.count, into: target)
    }
}
