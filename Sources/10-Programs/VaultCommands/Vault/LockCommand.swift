import Access
import ArgumentParser
import Bytes
import CommandKit
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// What `lock` and `unlock` print as JSON.
struct LockAnswer: Encodable {
    var lock: String
}

struct LockCommand: DocumentedCommand {
    static let summary = "Lock the vault."
    static let details = """
        Wipes the keys of items that are accessible 'when unlocked' from the daemon's memory at once. Without a daemon \
        there is nothing to lock: each program that was given the passcode unlocks the vault for itself, until the \
        program ends.
        """
    static let examples = [
        Example("Lock now", "keychain lock"),
        Example("Lock in ten seconds, unless it is unlocked again", "keychain lock --after 10"),
    ]
    static let configuration: CommandConfiguration = documented("lock")

    @Option(
        help: ArgumentHelp("Wait this long first; an unlock in the meantime cancels the lock.", valueName: "seconds"))
    var after: Int = 0

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard (0...86_400).contains(after) else { throw ValidationError("--after takes 0 to 86400 seconds") }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault()
        try session.requirePasscode()
        try session.perform(LockVault(after: .seconds(after)))
        let status = try session.perform(ReadStatus())
        if json { return try StandardOutput.write(json: LockAnswer(lock: status.lockState.rawValue)) }
        guard !status.isShared else { return }
        // Nothing failed, but the person has to know that mounted folders and other programs are not locked.
        CommandNote.show(
            "\(Self.noDaemon): programs that were given the passcode stay unlocked until they end")
    }

    /// Why no daemon locks and unlocks for this command.
    fileprivate static var noDaemon: String {
        ProcessVault.variableAgainstDaemon().map { "no daemon is asked, because \($0) is set" } ?? "no daemon runs"
    }
}

struct UnlockCommand: DocumentedCommand {
    static let summary = "Unlock the vault with the passcode."
    static let details = """
        The daemon keeps the vault unlocked until the vault is locked or the daemon ends. Without a daemon nothing can \
        keep it unlocked, and the command fails: give the passcode to each command with --passcode-fd instead.
        """
    static let examples = [
        Example("Type the passcode", "keychain unlock"),
        Example(
            "At boot, from a credential of systemd",
            "keychain unlock --passcode-fd 3 3< $CREDENTIALS_DIRECTORY/passcode"),
    ]
    static let configuration: CommandConfiguration = documented("unlock")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        // First, so that nobody is asked for a passcode that cannot help.
        guard try session.requirePasscodeToTry().isShared else {
            let remedy = ProcessVault.variableAgainstDaemon().map { "unset \($0)" } ?? "start keychaind"
            throw Failure(
                status: errSecNotAvailable,
                "\(LockCommand.noDaemon), and nothing else keeps the vault unlocked: \(remedy), or give the passcode to "
                    + "each command with --passcode-fd")
        }
        try OtherTool.requireServed(.unlock, named: "unlock")
        let passcode = try passcode.ask()
        try session.perform(UnlockVault(with: passcode))
        session.showUnlockFindings()
        let status = try session.perform(ReadStatus())
        if json { try StandardOutput.write(json: LockAnswer(lock: status.lockState.rawValue)) }
    }
}
