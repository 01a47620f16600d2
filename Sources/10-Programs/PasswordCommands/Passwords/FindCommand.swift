import Access
import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Finds passwords by words.
struct FindCommand: DocumentedCommand {
    static let summary = "Find passwords by words in their names, labels, remarks and attributes."
    static let details = """
        A password is found if it has all of the words, each anywhere in its service, server, account, label, remark \
        or an attribute of your own, without regard to case. If none has them, a word may also leave out \
        letters: 'ghub' finds 'github'. The best fit comes first. Secrets are not looked at, and nobody is asked.
        """
    static let examples = [
        Example("By a part of the name", "keychain find mail"),
        Example("By two things you remember", "keychain find alice example"),
    ]
    static let configuration: CommandConfiguration = documented("find", aliases: ["search"])

    @Argument(help: "What you remember of it.")
    var words: [String]

    @OptionGroup var scope: ItemScope
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var items: [StoredItem] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            items += try session.described(
                ItemQuery(
                    itemClass: itemClass, accessGroup: scope.group, synchronizable: scope.synchronizableScope))
        }
        let found = PasswordRanking.order(items.map(PasswordRanking.Subject.init), words).map { items[$0] }
        guard !found.isEmpty else {
            if items.isEmpty, !OtherTool.mayList(scope.group) { try OtherTool.requireServed(.list, named: "list") }
            throw Failure(
                status: errSecItemNotFound,
                "no password has \(words.count == 1 ? "this word" : "these words"): `keychain list` shows all")
        }
        if json { return try StandardOutput.write(json: found.map(ItemSummary.init)) }
        let rows = found.map { item in
            let (name, account) = item.names
            let label = item.attribute(.label).map(AttributeText.init)
            return [
                name?.forTerminal ?? "", account?.forTerminal ?? "", item.accessGroup.escapedForTerminal,
                label.flatMap { $0.plain == name?.plain ? nil : $0.forTerminal } ?? "",
            ]
        }
        try StandardOutput.write(Table(rows, heads: ["service", "account", "group", "label"]))
    }
}
