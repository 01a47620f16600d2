import ArgumentParser
import CLibrary
import CommandKit
import StatusCodes
import VaultInterface

/// Gives the vault fresh class keys, and wraps the keys of files and databases anew under them.
struct RekeyCommand: DocumentedCommand {
    static let summary = "Give the vault fresh class keys, and renew files and databases."
    static let details = """
        Use this if somebody may have had the vault's files together with the passcode. The class keys open all items, \
        and a change of the passcode does not replace them. This command replaces the class keys and seals every item \
        again. The passcode stays the same. It needs as much free disk space as the items take.

        The vault keeps the former class keys, sealed under the new ones, so that protected files and encrypted \
        databases still open. Name them, or folders with them, as PATH: the command then wraps their keys under the \
        new class keys. Without this, somebody with the former class keys can still open them. It does not encrypt \
        the data again, so a large file takes no longer than a small one. Copies and backups that were made before \
        still open with the former keys.

        Other programs can use the vault meanwhile. A program that opened a vault with a passcode itself, without the \
        daemon, has to unlock it again; start `keychain run` again. The recovery key stops working, but for backups \
        that were made to it before: make another. With --json, the first line is \
        about the vault, and the second about the files.

        To continue later, for example with a disk that was not there, run it with --files-only. It leaves alone plain \
        files, files under a password, and databases whose key is an item in the keychain.
        """
    static let examples = [
        Example("With all files of your own", "keychain rekey ~"),
        Example("Later, for a disk that was not there", "keychain rekey --files-only /media/disk"),
    ]
    static let configuration: CommandConfiguration = documented("rekey")

    @Argument(help: "Protected files, encrypted databases, or folders that contain them.", completion: .file())
    var paths: [String] = []

    @Flag(
        name: .customLong("files-only"),
        help: "Only wrap the keys of files and databases again; do not replace the vault's class keys.")
    var filesOnly = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard !filesOnly || !paths.isEmpty else { throw ValidationError("name files or folders for --files-only") }
    }

    private struct Answer: Encodable {
        var items: Int
        var formerVersions: Int
        var endsRecoveryKey: Bool
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if !filesOnly {
            // Before anything is renewed: a mistyped name is no reason to end the recovery key.
            try FileRenewal.check(paths)
            for path in paths where access(path, F_OK) != 0 {
                throw Failure(status: errSecItemNotFound, "there is no \(path.escapedForTerminal): nothing was renewed")
            }
            try renewVaultKeys(session)
        }
        guard paths.isEmpty else { return try FileRenewal(session).run(paths, json: json) }
        session.noteFilesOfFormerKeys()
    }

    private func renewVaultKeys(_ session: VaultSession) throws {
        let present = try session.perform(ReadStatus()).isPasscodeSet ? passcode.ask() : nil
        let summary = try session.renewKeys(present)
        if json {
            return try StandardOutput.write(
                json: Answer(
                    items: summary.items, formerVersions: summary.formerVersions,
                    endsRecoveryKey: summary.hadRecoveryKey))
        }
        var line = "\(summary.items) \(summary.items == 1 ? "item" : "items") sealed under new keys"
        if summary.formerVersions > 0 {
            line += ", \(summary.formerVersions) former \(summary.formerVersions == 1 ? "version" : "versions")"
        }
        try StandardOutput.write(line: line)
    }
}
