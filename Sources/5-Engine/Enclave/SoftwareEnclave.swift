import Bytes
import Crypto
import FoundationEssentials
import PreparedKeys
import SecureMemory

/// An enclave whose device secret is 32 random bytes in a file of mode 0600.
///
/// Without the device secret, a copy of the other files is useless. A copy of the whole folder is not: anyone who reads
/// the device secret, too, has everything that the enclave has.
package struct SoftwareEnclave: Enclave {
    package var kind: EnclaveKind { .software }

    private let secret: LockedBytes

    /// Makes an enclave with a new device secret, which exists only in memory until ``encoded()`` is stored.
    package init() throws(EnclaveError) {
        do {
            secret = try LockedBytes.random(count: Self.secretSize)
        } catch {
            throw .memoryUnavailable
        }
    }

    /// Opens the enclave with a stored device secret.
    package init(decoding encoded: Data) throws(EnclaveError) {
        var encoded = [UInt8](encoded)
        defer { encoded.wipe() }
        guard encoded.count == Self.encodedSize else {
            throw .damagedDeviceSecret(reason: "\(encoded.count) bytes instead of \(Self.encodedSize)")
        }
        guard Array(encoded[0..<8]) == Self.magic else { throw .damagedDeviceSecret(reason: "not a device secret") }
        guard encoded[8] == 0, encoded[9] == 1 else {
            throw .damagedDeviceSecret(reason: "unknown version \(Int(encoded[8]) << 8 | Int(encoded[9]))")
        }
        let digest = SHA256.hash(data: encoded[..<42])
        guard Array(digest.prefix(8)) == Array(encoded[42...]) else {
            throw .damagedDeviceSecret(reason: "its check value does not match")
        }
        do {
            secret = try encoded.withUnsafeBytes { try LockedBytes(copying: .init(rebasing: $0[10..<42])) }
        } catch {
            throw .memoryUnavailable
        }
    }

    /// Returns the stored form of the device secret: magic, version (big-endian), 32 bytes, and the first 8 bytes of
    /// the SHA-256 of all these, against accidental damage.
    package func encoded() -> Data {
        var encoded = Data(Self.magic)
        encoded.append(contentsOf: [0, 1])
        secret.withUnsafeBytes { encoded.append(contentsOf: $0) }
        encoded.append(contentsOf: SHA256.hash(data: encoded).prefix(8))
        return encoded
    }

    /// Returns HKDF-SHA256 (RFC 5869) with the device secret followed by `input` as key material.
    package func deriveKey(
        tangling input: LockedBytes?, salt: Data, context: String
    ) throws(EnclaveError) -> SymmetricKey {
        let material: LockedBytes
        do {
            material = try input.map { try LockedBytes(joining: secret, $0) } ?? secret
        } catch {
            throw .memoryUnavailable
        }
        return material.withUnsafeBytes { key(from: $0, salt, context) }
    }

    /// The same with an input that is not in locked memory.
    ///
    /// The material is on the stack, where HKDF has it anyway: a block of locked memory is a dozen calls of the system,
    /// which take longer than a signature.
    func deriveKey(tangling input: UnsafeRawBufferPointer, salt: Data, context: String) -> SymmetricKey {
        withUnsafeTemporaryAllocation(byteCount: secret.count + input.count, alignment: 8) { material in
            defer { SecureMemory.wipe(material) }
            secret.withUnsafeBytes { material.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: material[secret.count...]).copyMemory(from: input)
            return key(from: UnsafeRawBufferPointer(material), salt, context)
        }
    }

    private func key(from material: UnsafeRawBufferPointer, _ salt: Data, _ context: String) -> SymmetricKey {
        defer { if !PreparedAEAD.isAvailable { wipeRecentlyFreed(.derivation) } }
        return KeyDerivation.key(from: material, salt: [UInt8](salt), info: [UInt8](context.utf8))
    }

    /// Returns the stretched passcode itself, which is then combined with the device secret. Whether the passcode is
    /// right shows when a class key is unwrapped. The callers count the tries.
    package func guardPasscode(stretched: LockedBytes) -> (binding: Data, key: LockedBytes) {
        (Data(), stretched)
    }

    package func passcodeKey(stretched: LockedBytes, binding: Data) throws(EnclaveError) -> LockedBytes {
        guard binding.isEmpty else { throw .otherEnclave }
        return stretched
    }

    package func lockoutTime() -> Int { 0 }

    // A counter in a file could be restored together with the file that it protects.
    package func freeCounter() throws(EnclaveError) -> UInt32 { throw Self.noCounter }
    package func makeCounter(_ counter: UInt32) throws(EnclaveError) { throw Self.noCounter }
    package func value(ofCounter counter: UInt32) throws(EnclaveError) -> UInt64 { throw Self.noCounter }
    package func advance(counter: UInt32) throws(EnclaveError) { throw Self.noCounter }
    package func seal(
        _ secret: LockedBytes, toCounter counter: UInt32, at value: UInt64
    ) throws(EnclaveError) -> Data { throw Self.noCounter }
    package func unseal(
        _ sealed: Data, toCounter counter: UInt32, at value: UInt64
    ) throws(EnclaveError) -> LockedBytes { throw Self.noCounter }

    private static let noCounter = EnclaveError.refused(reason: "the software enclave has no counters; a TPM has")

    package func forget() {}

    package func close() {}

    private static let magic = [UInt8]("SKDEVICE".utf8)
    private static let secretSize = 32
    /// The length of ``encoded()`` in bytes.
    package static let encodedSize = 8 + 2 + secretSize + 8
}
