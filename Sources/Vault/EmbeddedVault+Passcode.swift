import Access
import KeychainModel

/// The passcode and the lock.
extension EmbeddedVault {
    package func setPasscode(
        _ passcode: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        throw .unsupported(reason: "this vault has no passcode")
    }

    package func changePasscode(
        from passcode: SecretBytes, to next: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        throw .passcodeNotSet
    }

    package func removePasscode(_ passcode: SecretBytes, as client: Client) throws(VaultError) {
        throw .passcodeNotSet
    }

    package func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError) {
        throw .passcodeNotSet
    }

    package func lock(after grace: Duration, as client: Client) throws(VaultError) {
        throw .passcodeNotSet
    }

    /// What checks passcodes for authenticators.
    var passcodeVerifier: any PasscodeVerifier { NoPasscode() }
}

/// Checks passcodes of a vault that has none.
private struct NoPasscode: PasscodeVerifier {
    var isPasscodeSet: Bool { false }
    func verify(_ passcode: SecretBytes) -> PasscodeVerdict { .notSet }
}
