import Crypto
import Enclave
import Keybag
import TPM

/// What concerns the enclave that a vault hangs on.
extension EmbeddedVault {
    package var enclaveKind: EnclaveKind { currentKeybag.keys.keybag.enclaveKind }

    /// Whether an older copy of the keybag is found out.
    package var detectsRollback: Bool { currentKeybag.keys.keybag.counter != nil }

    /// Makes the machine's guard against guessing this vault's owner's, unless it has an owner.
    ///
    /// - Returns: Nil for an enclave without such a guard.
    package func takeLockout() throws(VaultError) -> EnclaveLockout? {
        guard let enclave = currentKeybag.keys.enclave as? TPMEnclave else { return nil }
        do throws(EnclaveError) {
            let password = Self.freshPassword()
            let isOurs = try enclave.takeLockout(.standard, password: SymmetricKey(data: Array(password.utf8)))
            let state = try enclave.connection.lockoutState()
            return EnclaveLockout(
                tries: Int(state.policy.tries), recoveryTime: Int(state.policy.recoveryTime),
                password: isOurs ? password : nil)
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
    /// What changes or ends it, where it was set now; nil where it has another owner.
    package var password: String?
}
