import ArgumentParser
import BrowserCommands
import CircleCommands
import CommandKit
import DatabaseCommands
import FileCommands
import KeyCommands
import KeychainDaemon
import PasswordCommands
import RunCommands
import ScreenCommands
import SecurityCommands
import VaultCommands

struct KeychainTool: DocumentedCommand {
    static let summary = "Keep passwords and other secrets in the keychain."
    static let details = """
        The keychain is a vault in a folder of your own: $KEYCHAIN_HOME, else $XDG_DATA_HOME/keychain, else \
        ~/.local/share/keychain. The first use makes it. You find a secret by its service (what it is for) and its \
        account (whose it is). Access groups keep the items of different programs apart; this tool sees every group.

        On a terminal, tables have heads, colours and local times; in a pipe, cells are separated by tabs and times \
        are in UTC. Every command takes --color auto, always or never; NO_COLOR switches colours off, too. `--json` \
        gives scripts names that stay.
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
        subcommands: hidden.compactMap(subcommand(named:)),
        groupedSubcommands: groups.map { title, names in
            CommandGroup(name: title, subcommands: names.compactMap(subcommand(named:)))
        })

    // With the parser's own flag, every subcommand would have it, also those with an option of this name.
    @Flag(help: "Show the version.")
    var version = false

    func run() throws {
        guard version else { throw CleanExit.helpRequest(self) }
        try StandardOutput.write(line: DaemonProgram.version)
    }

    /// The commands in groups, each with a title, in the order in which the help lists them.
    private static let groups: [(title: String, names: [String])] = [
        (
            "Passwords and one-time codes",
            [
                "set", "generate", "get", "copy", "otp", "list", "find", "info", "change", "edit", "rename", "delete",
                "history", "restore", "purge", "watch", "ui",
            ]
        ),
        ("Logins of sites and services", ["internet", "browser", "aws", "kube"]),
        ("Keys and certificates", ["key", "cert", "ssh-agent"]),
        ("Files and databases", ["file", "mount", "unmount", "db"]),
        ("From and to other programs and machines", ["circle", "import", "export", "send", "receive"]),
        ("Secrets for programs", ["run", "mcp", "broker", "token", "integrate", "credential", "security"]),
        (
            "The vault",
            [
                "init", "passcode", "lock", "unlock", "status", "audit", "entitlements", "backup", "recovery", "rekey",
                "erase",
            ]
        ),
    ]

    private static let hidden = ["manual", "empty-clipboard", "browser-host", "pkcs11-helper", "token-keeper"]
    /// Returns what to say of a word that is no command.
    static func noCommand(_ word: String) -> Failure { noCommand(word, after: "", among: groups.flatMap(\.names)) }

    /// Returns what to say of a word that is no command of a group.
    ///
    /// - Parameter group: The words before it, such as ` cert`.
    static func noCommand(_ word: String, after group: String, among names: [String]) -> Failure {
        let start = "there is no command '\(group.dropFirst())\(group.isEmpty ? "" : " ")\(word.escapedForTerminal)'"
        let help = "`keychain help\(group)`"
        guard let name = names.map({ ($0, distance(word, $0)) }).min(by: { $0.1 < $1.1 }), name.1 <= 2,
            name.1 < name.0.utf8.count - 1
        else { return .usage("\(start): see \(help)") }
        return .usage("\(start); did you mean `keychain\(group) \(name.0)`? See \(help)")
    }

    /// How many letters have to be put in, taken away, replaced, or exchanged with their neighbours.
    private static func distance(_ typed: String, _ name: String) -> Int {
        let (typed, name) = (Array(typed.utf8.prefix(32)), Array(name.utf8))
        var rows = [Array(0...name.count)]
        for (row, letter) in typed.enumerated() {
            var next = [row + 1]
            for (column, other) in name.enumerated() {
                var least = min(
                    rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == name[column - 1], typed[row - 1] == other {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows.last?.last ?? .max
    }

    private static var modules: [any CommandModule.Type] {
        [
            PasswordCommands.self, KeyCommands.self, FileCommands.self, DatabaseCommands.self, RunCommands.self,
            BrowserCommands.self, CircleCommands.self, VaultCommands.self, SecurityCommands.self, ScreenCommands.self,
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
