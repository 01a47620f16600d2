import Bytes
import Crypto
import Enclave
import TPM
import VaultInterface

/// A TPM's lockout after wrong passcodes.
package struct EnclaveLockout: Sendable {
    /// The number of wrong passcodes after which the TPM checks none.
    package var tries: Int
    /// Seconds after which the TPM forgets one wrong passcode.
    package var recoveryTime: Int
    /// The password that changes or ends the lockout; nil if the lockout has another owner.
    package var password: String?

    /// Returns the lockout that ``take(in:)`` would set up: with a fresh password, unless the lockout has an owner
    /// already.
    ///
    /// - Returns: Nil for an enclave without such a guard.
    static func planned(in enclave: any Enclave) throws(VaultError) -> EnclaveLockout? {
        guard let enclave = enclave as? TPMEnclave else { return nil }
        do throws(EnclaveError) {
            let state = try enclave.connection.lockoutState()
            let policy = state.hasPassword ? state.policy : .standard
            return EnclaveLockout(
                tries: Int(policy.tries), recoveryTime: Int(policy.recoveryTime),
                password: state.hasPassword ? nil : freshPassword())
        } catch {
            throw VaultError(error)
        }
    }

    /// Becomes the owner of a lockout that has none.
    ///
    /// - Returns: False if the lockout has an owner by now.
    func take(in enclave: any Enclave) throws(VaultError) -> Bool {
        guard let enclave = enclave as? TPMEnclave, let password else { return false }
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
