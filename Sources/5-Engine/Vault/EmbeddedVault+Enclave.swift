import Crypto
import Enclave
import Keybag
import TPM
import VaultInterface

/// What concerns the enclave that a vault hangs on.
extension EmbeddedVault {
    package var enclaveKind: EnclaveKind { currentKeybag.keys.keybag.enclaveKind }

    /// Whether an older copy of the keybag is found out.
    package var detectsRollback: Bool { currentKeybag.keys.keybag.counter != nil }

    /// What ``takeLockout(_:)`` would make of the machine's guard against guessing: the vault's owner's, with a fresh
    /// password, unless it has an owner.
    ///
    /// - Returns: Nil for an enclave without such a guard.
    package func plannedLockout() throws(VaultError) -> EnclaveLockout? {
        guard let enclave = currentKeybag.keys.enclave as? TPMEnclave else { return nil }
        do throws(EnclaveError) {
            let state = try enclave.connection.lockoutState()
            let policy = state.hasPassword ? state.policy : .standard
            return EnclaveLockout(
                tries: Int(policy.tries), recoveryTime: Int(policy.recoveryTime),
                password: state.hasPassword ? nil : Self.freshPassword())
        } catch {
            throw VaultError(error)
        }
    }

    /// Takes a lockout that has no owner. Nobody can take it back without the password, which the owner has to have by now.
    ///
    /// - Returns: False if it has an owner meanwhile.
    package func takeLockout(_ lockout: EnclaveLockout) throws(VaultError) -> Bool {
        guard let enclave = currentKeybag.keys.enclave as? TPMEnclave, let password = lockout.password else {
            return false
        }
        do throws(EnclaveError) {
            return try enclave.takeLockout(.standard, password: SymmetricKey(data: Array(password.utf8)))
        } catch {
            throw VaultError(error)
        }
    }

    /// 120 random bits in an alphabet without look-alikes (RFC 4648, section 6), as many as a TPM takes and a person
    /// can write down.
    private static func freshPassword() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var random = SystemRandomNumberGenerator()
        let groups = (0..<6).map { _ in String((0..<4).compactMap { _ in alphabet.randomElement(using: &random) }) }
        return groups.joined(separator: "-")
    }
}

/// A machine's guard against guessing.
package struct EnclaveLockout: Sendable {
    /// Wrong passcodes after which none is looked at.
    package var tries: Int
    /// Seconds after which one is forgotten.
    package var recoveryTime: Int
    /// What is to change or end it; nil where it has another owner.
    package var password: String?
}
