import Access
import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import Enclave
import KeychainModel
import StatusCodes
import Vault
import VaultInterface

/// Opens a vault whose enclave is gone.
struct RecoveryCommand: DocumentedCommand {
    static let summary = "Make a recovery key, or open a vault with one on another machine."
    static let details = """
        A vault cannot be opened without its device secret, and a vault in a TPM cannot be opened without that \
        machine. A recovery key opens it anyway, even without the passcode: write it down and lock it away. It brings \
        back all items except those that are for one device only.
        """
    static let examples = [
        Example("Make one", "keychain recovery create"),
        Example("On the new machine, in a copy of the folder", "keychain recovery restore --enclave tpm2"),
    ]
    static let configuration = documented(
        "recovery",
        subcommands: [
            CreateRecoveryCommand.self, CheckRecoveryCommand.self, RestoreCommand.self, PutBackCommand.self,
        ])

    /// The vault's owner, who may do everything.
    static let owner = Client(identifier: "keychain", accessGroups: ["keychain", Client.everyGroup])
}

struct CreateRecoveryCommand: DocumentedCommand {
    static let summary = "Make a recovery key and print it, once."
    static let details = """
        Stores the class keys once more in the vault's folder, under this key. An earlier recovery key then opens only \
        older copies of the folder: if there is one, you have to type 'replace' on a terminal, and elsewhere --yes is \
        needed. If a daemon serves the vault, the daemon makes the key. `keychain status` shows since when there is \
        one, and `keychain recovery check` what it does not bring back.
        """
    static let examples = [Example("Print it on paper", "keychain recovery create | lpr")]
    static let configuration: CommandConfiguration = documented("create")

    @Flag(help: "Do not ask, also if there is a recovery key already.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var recoveryKey: String
    }

    func run() throws {
        let key = try make(.ofOwnerInPresentVault(passcode)).text.withUnsafeBytes {
            String(decoding: $0, as: UTF8.self)
        }
        if json { return try StandardOutput.write(json: Answer(recoveryKey: key)) }
        try StandardOutput.write(line: key)
        CommandNote.show(
            "write this key down and lock it away: it is not shown again, and an earlier recovery key opens only "
                + "older copies of the vault's folder")
    }

    /// Asks before a key is replaced, also one that somebody else has made a moment ago.
    private func make(_ session: VaultSession) throws -> MakeRecoveryKey.Reply {
        var state = yes ? .undisclosed : try session.perform(ReadStatus()).recoveryKey
        if case .absent = state {
            do {
                return try session.perform(MakeFirstRecoveryKey())
            } catch {
                state = try session.perform(ReadStatus()).recoveryKey
                guard case .made = state else { throw error }
            }
        }
        if case .made(let seconds) = state {
            let since = Timestamp(secondsSince1970: seconds).iso8601
            try Confirmation(
                loss: "The vault has a recovery key since \(since), which then opens only older copies of the folder.",
                word: "replace", verb: "changed"
            ).ask(
                unattended: .refused(
                    "the vault has a recovery key since \(since): say --yes to make another one in its place"))
        }
        return try session.perform(MakeRecoveryKey())
    }
}

struct RestoreCommand: DocumentedCommand {
    static let summary = "Put a vault into this machine's enclave with its recovery key."
    static let details = """
        Works on a copy of a vault's folder, at $KEYCHAIN_HOME or in the usual place. The vault gets a new device \
        secret and no passcode. Items for the old device only are deleted, because nothing can open them. If there \
        are such items, or if the vault opens on this machine with a passcode, the command says so, and you have to \
        type 'restore'; without a terminal --yes is needed. The key is asked for at the terminal, or read from a \
        descriptor or from standard input. While a daemon serves the vault, the command refuses: stop it first.
        """
    static let examples = [
        Example("In the machine's TPM", "keychain recovery restore --enclave tpm2"),
        Example("In a script", "keychain recovery restore --yes --key-fd 3 3< recovery-key"),
    ]
    static let configuration: CommandConfiguration = documented("restore")

    @OptionGroup var options: EnclaveOptions

    @OptionGroup var recoveryKey: RecoveryKeyInput

    @Flag(help: "Do not ask, also if items or the passcode are lost.")
    var yes = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var vault: String
        var enclave: String
        var lostItems: Int
    }

    func run() throws {
        let kind = try EnclaveKind(named: options.enclave)
        let path = try FolderOfVault.path()
        try FolderOfVault.claim(path)
        let key = try recoveryKey.ask()
        if !yes {
            try confirm(
                EmbeddedVault.itemsLost(recovering: path, with: key),
                removesPasscode: EmbeddedVault.removesPasscode(recovering: path))
        }
        let (vault, lost) = try EmbeddedVault.recover(
            at: path, with: key, in: kind, detectsRollback: options.detectRollback, as: RecoveryCommand.owner)
        vault.close()
        if json {
            try StandardOutput.write(json: Answer(vault: path, enclave: kind.name, lostItems: lost))
        } else {
            let rows = [
                ["vault", path.escapedForTerminal], ["enclave", kind.name], ["items lost", "\(lost)"],
                ["passcode", "not set: `keychain passcode set`"],
            ]
            try StandardOutput.write(line: Table(rows).text(aligned: true))
        }
    }

    private func confirm(_ lost: [ItemClass: Int], removesPasscode: Bool) throws {
        var losses: [String] = []
        if removesPasscode { losses.append("the vault opens on this machine, and its passcode will be removed") }
        if !lost.isEmpty {
            let counts = ItemClass.stored.compactMap { kind in
                lost[kind].map { kind == .key ? "\($0) \($0 == 1 ? "item" : "items") of keys" : kind.counted($0) }
            }
            losses.append(
                "the items for the old device only cannot come back and will be deleted: "
                    + counts.joined(separator: ", "))
            losses.append("`keychain recovery check` names them on the old device")
        }
        guard !losses.isEmpty else { return }
        let words = losses.joined(separator: "; ")
        guard let terminal = CommandTerminal() else {
            throw Failure(
                status: errSecInteractionNotAllowed, "\(words); there is nobody to confirm it: say --yes to go on")
        }
        guard
            try terminal.ask("\(words.prefix(1).uppercased())\(words.dropFirst()).\nType 'restore' to go on: ")
                == "restore"
        else {
            throw Failure(status: errSecUserCanceled, "not confirmed: nothing was changed")
        }
    }
}

extension EnclaveKind {
    /// The enclave called `name` on the command line.
    init(named name: String) throws {
        guard let kind = EnclaveKind.allCases.first(where: { $0.name == name }) else {
            throw Failure.usage("'\(name.escapedForTerminal)' is not an enclave: choose software or tpm2")
        }
        self = kind
    }
}
