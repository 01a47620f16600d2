import ArgumentParser
import CommandKit
import KeychainModel
import VaultInterface

/// Shows everything about a password except the secret.
struct InfoCommand: DocumentedCommand {
    static let summary = "Show what is known about a password, without the secret."
    static let details = """
        Prints the access group, the label, the comment and your own attributes; when the secret can be read and what \
        that takes; which version it is, and how many former ones it keeps, if it says so; and when it expires, was \
        stored and was last changed: at a terminal in local time, otherwise in UTC.
        """
    static let examples = [
        Example("Show it", "keychain info mail.example.com alice"),
        Example("When was it changed?", "keychain info mail.example.com alice --json | jq -r .modified"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @OptionGroup var choice: PasswordChoice
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let item = try choice.search(passcode, nil).described(in: session)
        if json { return try StandardOutput.write(json: ItemSummary(item)) }
        let note = TravelNotes(session).note(item).map { " (\($0))" } ?? ""
        let facts = item.facts.map { fact in
            fact.first == "synchronizable" ? ["synchronizable", (fact.last ?? "") + note] : fact
        }
        try StandardOutput.write(line: Table(facts).text(aligned: true))
    }
}

/// Why synchronizable items do not travel.
struct TravelNotes {
    /// Nil if this command may not know.
    private let circle: CircleStatus?

    init(_ session: VaultSession) { circle = try? session.perform(ReadCircle()) }

    /// Nil if the item travels, or is not to.
    func note(_ item: StoredItem) -> String? {
        guard item.isSynchronizable, let circle else { return nil }
        guard circle.standing == .member else { return "no circle here" }
        let travels = circle.views.contains { $0.group.utf8.elementsEqual(item.accessGroup.utf8) }
        return travels || circle.views.isEmpty ? nil : "its group does not travel"
    }
}

extension StoredItem {
    /// Everything that is known about a password except the secret: pairs of a name and a text, ready for a terminal.
    package var facts: [[String]] {
        let summary = ItemSummary(self)
        let custom = (summary.attributes ?? [:]).sorted { $0.key < $1.key }.map { name, value in
            ["attribute", "\(name.escapedForTerminal)=\(value.escapedForTerminal)"]
        }
        let about = [
            ["service", summary.service?.forTerminal ?? ""],
            ["account", summary.account?.forTerminal ?? ""],
            ["group", summary.group.escapedForTerminal],
            ["label", summary.label?.forTerminal ?? ""],
            ["comment", summary.comment?.forTerminal ?? ""],
        ]
        let conditions = [
            ["accessible", summary.accessible],
            ["requires", summary.requires?.joined(separator: ", ") ?? ""],
            ["synchronizable", summary.synchronizable ? "yes" : "no"],
            [
                "expires",
                (expiry.date.map { Timestamp($0).shown } ?? "") + (summary.expired == true ? " (expired)" : ""),
            ],
            ["keeps", summary.keep.map { $0 == 1 ? "1 former version" : "\($0) former versions" } ?? ""],
            ["version", "\(summary.version)"],
            ["created", Timestamp(creationDate).shown],
            ["modified", Timestamp(modificationDate).shown],
        ]
        return (about + custom + conditions).filter { $0.last?.isEmpty == false }
    }
}
