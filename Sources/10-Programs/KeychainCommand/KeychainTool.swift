import ArgumentParser
import CommandKit
import DatabaseCommands
import FileCommands
import KeyCommands
import KeychainDaemon
import PasswordCommands
import RunCommands
import VaultCommands

struct KeychainTool: DocumentedCommand {
    static let summary = "Keep passwords and other secrets in the keychain."
    static let details = """
        The keychain is a vault in a folder of your own: $KEYCHAIN_HOME, else $XDG_DATA_HOME/keychain, else \
        ~/.local/share/keychain. The first use makes it. You find a secret by its service (what it is for) and its \
        account (whose it is). Access groups keep the items of different programs apart; this tool sees every group.
        """
    static let examples = [
        Example("Store a secret, typed twice without echo", "keychain set mail.example.com alice"),
        Example("Use it in a script", "token=$(keychain get api.example.com ci)"),
        Example("See what there is", "keychain list"),
    ]

    static let configuration: CommandConfiguration = CommandConfiguration(
        commandName: "keychain",
        abstract: summary,
        discussion: helpText + ExitStatus.list,
        version: DaemonProgram.version,
        subcommands: names.compactMap(subcommand(named:)))

    /// The names of the commands, in the order in which the help lists them.
    private static let names = [
        "init", "set", "change", "get", "list", "info", "delete", "history", "restore", "purge", "watch", "internet",
        "aws", "kube", "key", "file", "mount", "unmount", "db", "import", "export", "send", "receive", "run",
        "ssh-agent", "integrate", "credential", "passcode", "lock", "unlock", "status", "audit", "entitlements",
        "backup", "erase", "recovery", "rekey", "security", "manual",
    ]

    private static var modules: [any CommandModule.Type] {
        [
            PasswordCommands.self, KeyCommands.self, FileCommands.self, DatabaseCommands.self, RunCommands.self,
            VaultCommands.self,
        ]
    }

    /// Returns the subcommand with this name or alias; nil for another word. Builds no help texts.
    static func subcommand(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "manual": ManualCommand.self
        default: modules.lazy.compactMap { $0.command(named: name) }.first
        }
    }
}
