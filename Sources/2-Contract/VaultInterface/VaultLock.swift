import Access
import KeychainModel

/// The passcode and the lock of a vault.
///
/// Without a passcode a vault is always unlocked. With one it is locked when it is opened, until
/// ``unlock(with:as:)``.
package protocol VaultLock: Sendable {
    /// Gives the vault, which is unlocked and has none, a passcode.
    ///
    /// - Throws: ``VaultError/passcodeIsSet`` when there is one.
    func setPasscode(_ passcode: SecretBytes, options: PasscodeOptions, as client: Client) throws(VaultError)

    /// Puts another passcode in the place of the present one; the vault is unlocked afterwards.
    func changePasscode(
        from passcode: SecretBytes, to next: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError)

    /// Takes the passcode away, and with it for good every item that exists only while one is set.
    func removePasscode(_ passcode: SecretBytes, as client: Client) throws(VaultError)

    func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError)

    /// Takes the keys of locked classes away, after `grace`; at once if it is zero. An unlocking in the
    /// meantime calls it off.
    ///
    /// - Throws: ``VaultError/passcodeNotSet`` when there is none: nothing could unlock.
    func lock(after grace: Duration, as client: Client) throws(VaultError)
}

/// How a passcode is guarded.
package struct PasscodeOptions: Sendable, Equatable {
    /// What deriving a key from the passcode may cost at least.
    package enum Cost: Sendable, Equatable {
        /// Calibrated on this machine: at least 250 ms and 256 MiB.
        case interactive
        /// For small containers: so many MiB and passes, chosen by the person who sets the passcode.
        case explicit(memoryMiB: Int, passes: Int)
    }

    package var cost: Cost
    /// The number of wrong attempts in a row after which everything is erased; nil for never.
    package var eraseAfter: Int?

    package init(cost: Cost = .interactive, eraseAfter: Int? = nil) {
        self.cost = cost
        self.eraseAfter = eraseAfter
    }
}
