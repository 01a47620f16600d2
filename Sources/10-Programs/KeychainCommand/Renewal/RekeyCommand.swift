import ArgumentParser
import VaultInterface

/// Gives the vault fresh class keys, and wraps the keys of files and databases anew under them.
struct RekeyCommand: DocumentedCommand {
    static let summary = "Give the vault fresh class keys, and renew files and databases."
    static let details = """
        The vault gets fresh class keys, and every item is sealed anew under them. Files and databases elsewhere open \
        as before, because the vault keeps its former class keys for them. Those under PATH get their keys wrapped \
        anew, so that a former keybag with its passcode opens nothing of them. Their data stay as they are, so that a \
        large file takes no longer than a small one. A copy that was made before still opens with the former keybag.

        Other programs read and write meanwhile. A former recovery key opens nothing any more: make another. With \
        --json, the first line tells of the vault, and the second of the files.

        Run it again with --files-only for files that were not there, or that failed. Files that are renewed already \
        stay as they are. Plain files and files under a password are left alone, and so are databases with a key in \
        the keychain, which is an item of the vault.
        """
    static let examples = [
        Example("With all files of your own", "keychain rekey ~"),
        Example("Later, for a disk that was not there", "keychain rekey --files-only /media/disk"),
    ]
    static let configuration: CommandConfiguration = documented("rekey")

    @Argument(help: "Files, encrypted databases, and folders with them.", completion: .file())
    var paths: [String] = []

    @Flag(
        name: .customLong("files-only"),
        help: "Leave the vault's keys as they are: they were renewed earlier, and these files were out of reach then.")
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
        if !filesOnly { try renewVaultKeys(session) }
        guard paths.isEmpty else { return try FileRenewal(session).run(paths, json: json) }
        CommandNote.show(
            "files and databases outside of the vault still hang on its former class keys, which it keeps: renew them "
                + "with `keychain rekey --files-only PATH`")
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
