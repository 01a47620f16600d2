import ArgumentParser
import Broker
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// The command `broker` and its subcommands.
struct BrokerCommand: DocumentedCommand {
    static let summary = "Approve the rules of projects, by which programs use secrets that they never see."
    static let details = """
        A project can have rules for `keychain run --project` and `keychain mcp --project`, in the file \
        .keychain-broker.toml in its folder. Whoever writes the project writes them, and so may a program that runs \
        in it. So they take effect only after the owner of the vault approved them, and every change needs a new approval.

        Each approval is an item of its own, `broker-approval/PATH`.
        """
    static let examples = [
        Example("Read the rules of the current folder, and approve them", "keychain broker approve"),
        Example("What is approved", "keychain broker list"),
        Example("Approve them no more", "keychain broker revoke ~/src/site"),
    ]
    static let configuration: CommandConfiguration = documented(
        "broker",
        subcommands: [ApproveRulesCommand.self, ListApprovalsCommand.self, RevokeApprovalCommand.self])
}

struct ApproveRulesCommand: DocumentedCommand {
    static let summary = "Show the rules of a project, and approve them."
    static let details = """
        Prints each rule in words: the variable, the secret, the servers and the places. If the vault has a \
        passcode, and other rules of this file were approved before, the lines that are new begin with +, and those \
        that are gone with -. Then the passcode or a finger is asked for, as for an item that needs a person. The \
        approval is for these bytes of the file at this path: after a change, and in a copy of the folder, the rules \
        have to be approved again.

        In a vault without a passcode nobody can be asked so. Then a word is typed at the terminal, which any program \
        of the same user could type, too. Set a passcode with `keychain passcode set`.
        """
    static let examples = [
        Example("Those of the current folder", "keychain broker approve"),
        Example("Those of another project", "keychain broker approve ~/src/site"),
    ]
    static let configuration: CommandConfiguration = documented("approve")

    @Argument(help: "The folder of the project, or the file.", completion: .directory)
    var place = "."

    @Flag(help: .json)
    var json = false

    private struct Result: Encodable {
        var path: String
        var digest: String
        var state: ApprovalState
        /// In words.
        var rules: [String]
    }

    func run() throws {
        let file = try ProjectFile(at: place)
        let rules = try file.rules()
        // Mistakes that a run would meet are found before anybody approves them.
        _ = try BrokeredSecrets.checked(rules.rules, of: file.path)
        let words = try RuleWords.lines(rules)
        let approvals = try Approvals(.ofOwnerInPresentVault(PasscodeInput.none))
        let isApproved = try approvals.state(of: file) == .approved
        if !json {
            try StandardOutput.write(line: "\(RuleWords.shown(file.path)), SHA-256 \(file.digest)")
            for line in Self.changes(from: try approvals.provenWords(of: file.path), to: words) {
                try StandardOutput.write(line: line)
            }
        }
        if isApproved {
            if !json { CommandNote.show("these rules are approved already") }
        } else {
            if try !approvals.hasPasscode { try confirm(file) }
            try approvals.approve(file, words, purpose: RuleWords.question(rules.rules, file.path))
        }
        if json {
            try StandardOutput.write(
                json: Result(path: file.path, digest: file.digest, state: .approved, rules: words))
        }
    }

    private func confirm(_ file: ProjectFile) throws {
        let confirmation = Confirmation(
            loss: "The vault has no passcode: any program of yours could approve these rules, too.", word: "approve",
            verb: "approved")
        try confirmation.ask(
            unattended: .refused("approve at a terminal, or set a passcode with `keychain passcode set`"))
    }

    /// The lines with marks: what is new, and what was approved before and is gone.
    static func changes(from former: [String]?, to words: [String]) -> [String] {
        guard let former else { return words.map { "  \($0)" } }
        // Texts that Unicode takes for equal may name different secrets.
        func has(_ lines: [String], _ line: String) -> Bool { lines.contains { $0.utf8.elementsEqual(line.utf8) } }
        let gone = former.filter { !has(words, $0) }.map { "- \(RuleWords.visible($0))" }
        return gone + words.map { has(former, $0) ? "  \($0)" : "+ \($0)" }
    }
}

struct ListApprovalsCommand: DocumentedCommand {
    static let summary = "List the projects whose rules are approved."
    static let details = """
        Prints the path of each file, when it was approved, and what holds now: approved; changed, if the file has \
        another content; unproven, if it was approved before the vault had its passcode; gone, if there is no such \
        file, or other users may write it.
        """
    static let examples = [Example("All of them", "keychain broker list")]
    static let configuration: CommandConfiguration = documented("list")

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Row: Encodable {
        var path: String
        var approved: String
        var state: ApprovalState
        var digest: String
    }

    func run() throws {
        let approvals = try Approvals(.ofOwnerInPresentVault(passcode))
        let rows = try approvals.all().map { named in
            Row(
                path: named.path, approved: Timestamp(named.item.modificationDate).iso8601,
                state: try state(named, approvals), digest: named.approval.digest)
        }
        if json { return try StandardOutput.write(json: rows) }
        guard !rows.isEmpty else { return }
        try StandardOutput.write(
            Table(
                rows.map { [$0.path.escapedForTerminal, $0.approved, $0.state.rawValue] },
                heads: ["file", "approved", "state"]))
    }

    private func state(_ named: Approvals.Named, _ approvals: Approvals) throws -> ApprovalState {
        guard let file = try? ProjectFile(at: named.path), file.path == named.path else { return .gone }
        return try approvals.state(of: file)
    }
}

struct RevokeApprovalCommand: DocumentedCommand {
    static let summary = "Withdraw the approval of a project's rules."
    static let details = """
        Programs that run with the rules go on with them. The next `keychain run --project` refuses them.
        """
    static let examples = [
        Example("Those of the current folder", "keychain broker revoke"),
        Example(
            "Of a project that is gone, as the list shows it", "keychain broker revoke /src/old/.keychain-broker.toml"),
    ]
    static let configuration: CommandConfiguration = documented("revoke")

    @Argument(help: "The folder of the project, or the file.", completion: .directory)
    var place = "."

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        let approvals = try Approvals(.ofOwnerInPresentVault(passcode))
        // The folder may be gone.
        let paths = [try? ProjectFile.path(at: place), place, "\(place)/\(RulesFile.name)"].compactMap(\.self)
        for path in paths where try approvals.revoke(path) {
            return
        }
        throw Failure(
            status: errSecItemNotFound,
            "no rules of \((paths.first ?? place).escapedForTerminal) are approved: `keychain broker list` shows what is"
        )
    }
}
