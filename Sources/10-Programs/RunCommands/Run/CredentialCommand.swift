import ArgumentParser
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainModel
import SystemLibraries

/// Encrypts a secret for a unit of systemd.
struct CredentialCommand: DocumentedCommand {
    static let summary = "Encrypt a secret as a credential of systemd, for a unit without the keychain."
    static let details = """
        systemd-creds encrypts the secret with a key of this machine, and writes the credential to standard output. A \
        unit loads it with LoadCredentialEncrypted= (systemd.exec(5)), at boot too, when the vault is locked. The unit \
        has the secret of now: make the credential again when the secret changes. `keychaind --credentials` gives a \
        unit the present secret instead.
        """
    static let examples = [
        Example(
            "For LoadCredentialEncrypted=db:/etc/credstore.encrypted/db",
            "keychain credential postgres app --name db > /etc/credstore.encrypted/db"),
        Example(
            "Bind it to the TPM", "keychain credential postgres app --name db --with-key tpm2 > db"),
    ]
    static let configuration: CommandConfiguration = documented("credential")

    @OptionGroup var password: PasswordName
    @OptionGroup var scope: ItemScope

    @Option(
        help: ArgumentHelp(
            "The credential's name, which the unit has to use. Without this it is the account.", valueName: "name"))
    var name: String?

    @Option(
        name: .customLong("with-key"),
        help: ArgumentHelp(
            "What it is encrypted with: host, tpm2, host+tpm2 or another key that systemd-creds knows.",
            valueName: "key"))
    var key = "auto"

    @Option(
        name: .customLong("not-after"),
        help: ArgumentHelp(
            "When systemd refuses it, as in '2027-01-31 12:00 UTC' (systemd.time(7)).", valueName: "time"))
    var end: String?

    @Flag(help: "Write the lines SetCredentialEncrypted= for the unit's own file.")
    var pretty = false

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        let name = name ?? password.account
        // systemd.exec(5): a name is that of a file.
        guard !name.isEmpty, name.utf8.count <= 255, !name.contains("/"), !name.contains(":"), name != ".", name != ".."
        else { throw Failure.usage("'\(name.escapedForTerminal)' cannot be a credential's name: say --name") }
        guard pretty || !StandardOutput.isTerminal else {
            throw Failure.usage("the credential is for a file: add > FILE")
        }
        let program = try RunProgram("systemd-creds", searchPath: Environment.value(of: "PATH"))
        let search = try PasswordSearch(password, scope, itemPassword.authentication())
        let item = try search.one(in: .ofOwnerInPresentVault(passcode), includingValues: true)
        let input = try MemoryFile.holding(item.value ?? Data())
        defer { close(input) }
        guard dup2(input, 0) == 0 else { throw Failure.system("the secret cannot be passed on", errno) }
        let options = ["--with-key=\(key)", "--name=\(name)"] + (end.map { ["--not-after=\($0)"] } ?? [])
        throw program.replaceThisProcess(
            arguments: ["encrypt"] + options + (pretty ? ["--pretty"] : []) + ["-", "-"])
    }
}
