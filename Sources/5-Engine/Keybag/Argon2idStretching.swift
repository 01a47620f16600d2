import Bytes
import KeychainModel
import SecureMemory

/// The passcode's derivation, for other passwords.
package final class Argon2idStretching: PasswordStretching {
    package static func stretch(
        _ password: SecretBytes, salt: [UInt8], memoryKiB: UInt32, passes: UInt32
    ) throws(VaultMemoryError) -> SecretBytes {
        do {
            return try password.withUnsafeBytes { password in
                let cost = Argon2id.Cost(memoryKiB: memoryKiB, passes: passes)
                return try Argon2id.derive(from: password, salt: salt, cost: cost)
                    .withUnsafeBytes { try SecretBytes(copying: $0) }
            }
        } catch {
            throw VaultMemoryError()
        }
    }

    /// Returns the cost of a passcode with at least three passes, because only the password protects a file.
    package static func suitableCost() throws(VaultMemoryError) -> (memoryKiB: UInt32, passes: UInt32) {
        do {
            let cost = try PasscodeCost.calibrated()
            return (cost.memoryKiB, max(3, cost.passes))
        } catch {
            throw VaultMemoryError()
        }
    }
}
