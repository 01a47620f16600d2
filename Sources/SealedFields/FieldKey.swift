import Crypto
import Foundation
import KeychainModel

/// A key of a keyring, in memory that swift-crypto wipes when the last reference goes.
struct FieldKey: Sendable {
    let id: FieldKeyID
    private let chaChaPoly: SymmetricKey
    private let aesGCM: SymmetricKey

    /// - Parameter secret: The 32 random bytes that the keyring has.
    init(_ id: FieldKeyID, secret: SymmetricKey) {
        self.id = id
        // One key for each cipher, so that no key is used with two.
        func key(_ algorithm: SealingAlgorithm) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: secret, info: Data("swift-keychain/v1/field/".utf8) + [algorithm.number],
                outputByteCount: 32)
        }
        chaChaPoly = key(.chaChaPoly)
        aesGCM = key(.aesGCM)
    }

    /// Seals `plaintext` for a place.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, _ algorithm: SealingAlgorithm, _ binding: BindingBytes
    ) throws(SealedFieldsError) -> Data {
        var sealed = Data(capacity: SealedForm.overhead + plaintext.count)
        sealed.append(SealedForm.version)
        sealed.append(algorithm.number)
        withUnsafeBytes(of: id.number.bigEndian) { sealed.append(contentsOf: $0) }
        do {
            return try withUnsafeTemporaryAllocation(byteCount: binding.count, alignment: 1) { room in
                sealed.withUnsafeBytes { binding.write(header: $0, into: room) }
                let binding = UnsafeRawBufferPointer(room)
                if algorithm == .chaChaPoly {
                    sealed.append(try ChaChaPoly.seal(plaintext, using: chaChaPoly, authenticating: binding).combined)
                } else {
                    let box = try AES.GCM.seal(plaintext, using: aesGCM, authenticating: binding)
                    sealed.append(contentsOf: box.nonce)
                    sealed.append(box.ciphertext)
                    sealed.append(box.tag)
                }
                return sealed
            }
        } catch {
            throw SealedFieldsError(.outOfMemory, message: "the value could not be sealed")
        }
    }

    /// Opens what ``seal(_:_:_:)`` made, and wipes the plaintext after `body`.
    func open<Result>(
        _ sealed: Data, _ algorithm: SealingAlgorithm, _ binding: BindingBytes,
        _ body: (UnsafeRawBufferPointer) throws(SealedFieldsError) -> Result
    ) throws(SealedFieldsError) -> Result {
        var plaintext: Data
        do {
            plaintext = try withUnsafeTemporaryAllocation(byteCount: binding.count, alignment: 1) { room in
                sealed.withUnsafeBytes {
                    binding.write(
                        header: UnsafeRawBufferPointer(rebasing: $0.prefix(SealedForm.headerCount)), into: room)
                }
                let combined = sealed.dropFirst(SealedForm.headerCount)
                let binding = UnsafeRawBufferPointer(room)
                if algorithm == .chaChaPoly {
                    let box = try ChaChaPoly.SealedBox(combined: combined)
                    return try ChaChaPoly.open(box, using: chaChaPoly, authenticating: binding)
                }
                return try AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: aesGCM, authenticating: binding)
            }
        } catch {
            throw .notAuthentic("\(binding.table).\(binding.column)")
        }
        defer { plaintext.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        let result = plaintext.withUnsafeBytes { (bytes) -> Swift.Result<Result, SealedFieldsError> in
            do throws(SealedFieldsError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
