import ArgumentParser
import CommandKit

/// Apple's `security` as a subcommand; the arguments are its own.
struct SecurityCommand: DocumentedCommand {
    static let summary = "Run a subcommand of macOS's security(1), for scripts made for it."
    static let details = """
        Understands the subcommands about passwords, keychains, certificates, identities and trust, with their own \
        flags, output and exit statuses; `keychain security help` lists them. A link to this program with the name \
        'security' does the same. The beginning of a name is enough if no other name begins so.

        `create-keychain` makes a vault of its own, with its password as the passcode. A keychaind for this vault \
        alone keeps it unlocked until lock-keychain, or for the time of set-keychain-settings.

        A password that is an argument of -w, -p, -P, -o, -k or -X is visible to other users while the command runs. \
        Leave the option out, or end the command with -w alone, to be asked for the password; or give the whole \
        command to `security -i` on standard input.
        """
    static let examples = [
        Example("Add a password, typed at a prompt", "keychain security add-generic-password -s mail -a alice -w"),
        Example("Print it", "keychain security find-generic-password -s mail -a alice -w"),
        Example("Make a keychain for a build", "keychain security create-keychain build.keychain"),
        Example("Serve scripts that call 'security'", "ln -s \"$(command -v keychain)\" ~/.local/bin/security"),
    ]
    static let configuration: CommandConfiguration = documented("security")

    @Argument(parsing: .captureForPassthrough, help: "A subcommand of security(1) and its arguments.")
    var arguments: [String] = []

    func run() throws { throw ExitCode(SecurityTool.run(arguments)) }
}
