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
        let wanted = words.map(Self.folded)
        var found = Self.ranked(items, wanted, Self.rankOfPart)
        if found.isEmpty { found = Self.ranked(items, wanted, Self.rankOfLetters) }
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

    private static func folded(_ text: String) -> [UInt8] { Array(text.lowercased().utf8) }

    private static func ranked(
        _ items: [StoredItem], _ words: [[UInt8]], _ rank: ([UInt8], [UInt8]) -> Int?
    ) -> [StoredItem] {
        let ranked = items.compactMap { item -> (rank: Int, item: StoredItem)? in
            let names = [AttributeName.service, .server, .account, .label, .comment]
            let texts =
                (names.compactMap { item.attribute($0).map { AttributeText($0).plain } }
                + item.customAttributes.flatMap { [$0.key, $0.value] }).map(folded)
            var sum = 0
            for word in words {
                // The place in the list counts too: a name says more than a remark.
                let best = texts.enumerated().compactMap { place, text in rank(word, text).map { $0 + place } }.min()
                guard let best else { return nil }
                sum += best
            }
            return (sum, item)
        }
        return ranked.sorted { first, second in
            let names = [first, second].map { [$0.item.names.name?.plain ?? "", $0.item.names.account?.plain ?? ""] }
            return first.rank != second.rank ? first.rank < second.rank : names[0].lexicographicallyPrecedes(names[1])
        }.map(\.item)
    }

    /// 0 for the whole text, more for a beginning, and most for a part inside of it; nil without it.
    private static func rankOfPart(_ word: [UInt8], _ text: [UInt8]) -> Int? {
        if word == text { return 0 }
        if text.starts(with: word) { return 10 }
        guard word.count <= text.count else { return nil }
        return text.indices.dropLast(max(0, word.count - 1)).contains { text[$0...].starts(with: word) } ? 20 : nil
    }

    /// By how many letters between its own a word is spread; nil if the text does not have all in this order.
    private static func rankOfLetters(_ word: [UInt8], _ text: [UInt8]) -> Int? {
        var (rest, first, last) = (word[...], Int?.none, 0)
        for (place, byte) in text.enumerated() where byte == rest.first {
            rest = rest.dropFirst()
            first = first ?? place
            last = place
        }
        guard rest.isEmpty, let first, last - first < 2 * word.count + 4 else { return nil }
        return 30 + last - first - word.count
    }
}
