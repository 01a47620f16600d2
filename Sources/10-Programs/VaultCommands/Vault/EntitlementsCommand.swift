import Access
import ArgumentParser
import CLibrary
import CommandKit
import ProcessVault
import StatusCodes
import VaultInterface
import VaultService

/// Shows and checks who may use which access groups of a daemon's vault.
struct EntitlementsCommand: DocumentedCommand {
    static let summary = "Show and check who may use which access groups of the daemon's vault."
    static let details = """
        The entitlements file of a user's daemon is $XDG_CONFIG_HOME/keychain/entitlements.json, else \
        ~/.config/keychain/entitlements.json. That of the system's daemon is /etc/keychain/entitlements.json. The \
        daemon reads the file again when it changes. Each rule names the programs that it is for, and the groups and \
        rights that they get besides their own access group, as in {"version": 1, "rules": [{"executable": \
        "/usr/bin/mail", "groups": ["TEAM.mail"], "rights": ["list"]}]}
        """
    static let examples = [
        Example("Check a file before putting it in place", "keychain entitlements check new.json"),
        Example("See what the daemon grants to this command", "keychain entitlements show"),
    ]
    static let configuration = documented(
        "entitlements",
        subcommands: [EntitlementsListCommand.self, EntitlementsCheckCommand.self, EntitlementsShowCommand.self])
}

/// The entitlements file that a command is about.
struct EntitlementsFileOptions: ParsableArguments {
    @Argument(help: "The file; without it, that of the user's daemon.", completion: .file())
    var file: String?

    @Flag(help: "Use the file of the system's daemon.")
    var system = false

    var path: String {
        get throws {
            guard let path = file ?? (system ? Entitlements.systemFile : Entitlements.userFile) else {
                throw Failure.usage("HOME is not set: name the file")
            }
            return path
        }
    }

    func read() throws -> Entitlements {
        let path = try path
        do {
            return try Entitlements(file: path)
        } catch {
            throw Failure(status: errSecDecode, error.description.escapedForTerminal)
        }
    }
}

struct EntitlementsListCommand: DocumentedCommand {
    static let summary = "List the rules in an entitlements file."
    static let details =
        "One line for each rule: the programs that it is for, the groups with their quota, and the rights."
    static let examples = [Example("List the system's rules", "keychain entitlements list --system")]
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: summary, discussion: discussion)

    @OptionGroup var file: EntitlementsFileOptions

    func run() throws {
        let rows = try file.read().rules.map { rule in
            [rule.conditions, rule.groupsAndQuota, rule.rights.words].map(\.escapedForTerminal)
        }
        if !rows.isEmpty { try StandardOutput.write(Table(rows, heads: ["programs", "groups", "rights"])) }
    }
}

struct EntitlementsCheckCommand: DocumentedCommand {
    static let summary = "Check an entitlements file as the daemon reads it."
    static let details = "The exit status is 0 if the file is in order. Otherwise the error names the mistake."
    static let examples = [Example("Check before putting it in place", "keychain entitlements check new.json")]
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: summary, discussion: discussion)

    @OptionGroup var file: EntitlementsFileOptions

    func run() throws {
        let path = try file.path
        guard access(path, F_OK) == 0 else {
            throw Failure(
                status: errSecItemNotFound, "\(path.escapedForTerminal) does not exist: no rules are in force")
        }
        let count = try file.read().rules.count
        try StandardOutput.write(line: "\(count) \(count == 1 ? "rule" : "rules")")
    }
}

struct EntitlementsShowCommand: DocumentedCommand {
    static let summary = "Show what the running daemon grants to this command."
    static let details = "Prints how the daemon identifies this command, its access groups in order, and its rights."
    static let examples = [Example("Ask the daemon", "keychain entitlements show")]
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: summary, discussion: discussion)

    func run() throws {
        guard try ProcessVault.exists(),
            let remote = try VaultSession.ofOwner().vault as? RemoteVault
        else {
            throw Failure(
                status: errSecNotAvailable, "no daemon serves this vault: start keychaind, or set KEYCHAIN_SOCKET")
        }
        let caller = try remote.describeCaller()
        let rows = [
            ["caller", caller.identifier], ["groups", caller.accessGroups.joined(separator: ", ")],
            ["rights", caller.rights.words],
        ]
        try StandardOutput.write(line: Table(rows.map { $0.map(\.escapedForTerminal) }).text(aligned: true))
    }
}

extension Entitlements.Rule {
    fileprivate var conditions: String {
        let named: [(String, String?)] = [
            ("executable", executable), ("uid", user.map { "\($0)" }), ("unit", unit), ("userUnit", userUnit),
            ("flatpak", flatpak), ("snap", snap), ("label", label),
        ]
        return named.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
    }

    fileprivate var groupsAndQuota: String {
        groups.joined(separator: ", ") + (quota.map { " (at most \($0) bytes each)" } ?? "")
    }
}

extension CallerRights {
    fileprivate var words: String {
        CallerRights.names.filter { isSuperset(of: $0.right) }.map(\.name).joined(separator: ", ")
    }
}
