import Bytes
import CSodium

/// Argon2id (RFC 9106), version 1.3 with one lane, computed by libsodium.
package enum Argon2id {
    /// The cost of a derivation. It is stored beside the data that the derived key protects.
    package struct Cost: Sendable, Equatable, Hashable {
        /// Memory in KiB: Argon2's m.
        package var memoryKiB: UInt32
        /// Passes over the memory: Argon2's t.
        package var passes: UInt32

        package init(memoryKiB: UInt32, passes: UInt32) {
            self.memoryKiB = memoryKiB
            self.passes = passes
        }

        /// Whether libsodium accepts these numbers and they are at most 4 GiB and 64 passes.
        ///
        /// A changed file must not be able to demand all memory and time of the machine.
        package var isSensible: Bool { (8...4_194_304).contains(memoryKiB) && (1...64).contains(passes) }
    }

    /// The length of a salt in bytes, as libsodium requires it.
    package static let saltSize = 16

    /// Derives `count` bytes from a password and a salt of ``saltSize`` bytes.
    ///
    /// - Throws: ``SecureMemoryError/unavailable(bytes:)`` if the machine does not have the memory.
    package static func derive(
        from password: UnsafeRawBufferPointer, salt: [UInt8], cost: Cost, count: Int = 32
    ) throws(SecureMemoryError) -> LockedBytes {
        let memory = Int(cost.memoryKiB) * 1024
        guard salt.count == saltSize, cost.isSensible, count >= 16 else { throw .unavailable(bytes: memory) }
        // libsodium requires a pointer even for an empty password.
        let bytes = password.isEmpty ? [0] : Array(password.bindMemory(to: CChar.self))
        defer { bytes.withUnsafeBytes { wipe(UnsafeMutableRawBufferPointer(mutating: $0)) } }
        do {
            return try LockedBytes(count: count) { derived in
                guard let start = derived.bindMemory(to: UInt8.self).baseAddress else {
                    throw SecureMemoryError.unavailable(bytes: count)
                }
                let status = crypto_pwhash(
                    start, UInt64(clamping: count), bytes, UInt64(clamping: password.count), salt, UInt64(cost.passes),
                    memory,
                    crypto_pwhash_ALG_ARGON2ID13)
                guard status == 0 else { throw SecureMemoryError.unavailable(bytes: memory) }
            }
        } catch {
            throw .unavailable(bytes: memory)
        }
    }
}
