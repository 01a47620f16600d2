import Access
import ArgumentParser
import Bytes
import CLibrary
import Enclave
import FoundationEssentials
import Keybag
import KeychainModel
import SecureMemory
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
        subcommands: [CreateRecoveryCommand.self, RestoreCommand.self])

    /// The vault's owner, who may do everything.
    static let owner = Client(identifier: "keychain", accessGroups: ["keychain", Client.everyGroup])
}

struct CreateRecoveryCommand: DocumentedCommand {
    static let summary = "Make a recovery key and print it, once."
    static let details = """
        Stores the class keys once more in the vault's folder, under this key. An earlier recovery key then opens only \
        older copies of the folder. Works on the folder itself, also while a daemon runs.
        """
    static let examples = [Example("Print it on paper", "keychain recovery create | lpr")]
    static let configuration: CommandConfiguration = documented("create")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var recoveryKey: String
    }

    func run() throws {
        guard try ProcessVault.exists() else {
            throw Failure(status: errSecItemNotFound, "there is no vault to recover: `keychain init` makes one")
        }
        let path = try ProcessVault.defaultPath()
        let vault = try EmbeddedVault.open(at: path)
        defer { vault.close() }
        if vault.lockState != .unlocked {
            let given = try passcode.ask()
            try vault.perform(UnlockVault(with: given), as: RecoveryCommand.owner)
        }
        let key = try vault.makeRecoveryKey(as: RecoveryCommand.owner)
        if json {
            try StandardOutput.write(json: Answer(recoveryKey: key.text))
        } else {
            try StandardOutput.write(line: key.text)
        }
    }
}

struct RestoreCommand: DocumentedCommand {
    static let summary = "Put a vault into this machine's enclave with its recovery key."
    static let details = """
        Works on a copy of a vault's folder, at $KEYCHAIN_HOME or in the usual place. The vault gets a new device \
        secret and no passcode. Items for the old device only are deleted, because nothing can open them. The key is \
        asked for at the terminal, or read from standard input.
        """
    static let examples = [
        Example("In the machine's TPM", "keychain recovery restore --enclave tpm2"),
        Example("From a file", "keychain recovery restore < recovery-key"),
    ]
    static let configuration: CommandConfiguration = documented("restore")

    @OptionGroup var options: EnclaveOptions

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var vault: String
        var enclave: String
        var lostItems: Int
    }

    func run() throws {
        let kind = try EnclaveKind(named: options.enclave)
        let path = try ProcessVault.defaultPath()
        var typed = try readKey()
        defer { typed.wipe() }
        guard let key = typed.withUnsafeBytes({ RecoveryKey($0) }) else {
            throw Failure.usage(
                "this is not a recovery key: one has 52 letters and digits from 2 to 7, in groups of four")
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

    private func readKey() throws -> Data {
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            return try SecretInput.readAll(0, keepingNewline: false)
        }
        return try terminal.askSecrets(["Recovery key: "]).first ?? Data()
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
