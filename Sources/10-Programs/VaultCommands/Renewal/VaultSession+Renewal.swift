import Bytes
import CommandKit
import VaultInterface

extension VaultSession {
    /// Gives the vault new class keys, and shows how far that is.
    ///
    /// - Parameters:
    ///   - passcode: The present one; nil if none is set.
    ///   - next: What takes its place, with its options; nil to keep it.
    func renewKeys(
        _ passcode: SecretBytes?, next: (passcode: SecretBytes, options: PasscodeOptions)? = nil
    ) throws -> RenewalSummary {
        let operation = RenewKeys(
            passcode: passcode, next: next?.passcode, options: next?.options ?? PasscodeOptions())
        defer { ItemProgress.end() }
        let summary = try vault.perform(operation, as: client) { part throws(VaultError) in
            ItemProgress.show("sealing under new keys", part.done, of: part.all)
        }
        if summary.hadRecoveryKey {
            ItemProgress.end()
            CommandNote.show(
                "the recovery key opens only backups that were made to it before: make another with "
                    + "`keychain recovery create`")
        }
        return summary
    }

    /// Says that what is outside the vault was not renewed with it.
    func noteFilesOfFormerKeys() {
        CommandNote.show(
            "protected files and encrypted databases still open with the former class keys, which the vault keeps: "
                + "wrap their keys under the new ones with `keychain rekey --files-only PATH`")
    }
}
