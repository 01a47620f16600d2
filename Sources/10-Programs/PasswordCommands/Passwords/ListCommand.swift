import Access
import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import SecretService
import StatusCodes
import VaultInterface

/// Lists the generic passwords, without their secrets.
struct ListCommand: DocumentedCommand {
    static let summary = "List the passwords in the keychain, without the secrets."
    static let details = """
        One line for each password: service, account and access group, and the label of those that programs stored \
        through the Secret Service. Passwords of servers are in `keychain internet list`, and `keychain find` looks \
        through all of them. On a terminal they are in columns, otherwise they are separated by tabs. Backslashes and control characters are written as escapes. A vault without \
        passwords gives an empty list. If no password has the given service and attributes, the command fails with \
        44. Items that need a person are shown with that mark: their names need nobody. Expired items are shown like \
        the others: `keychain info` and --json tell when they expired.

        With --deleted, the deleted passwords are listed of which the vault keeps versions: `keychain restore` brings \
        one back, and `keychain purge` removes it for good. A name that was deleted several times is listed as often; \
        when the last secret was stored and the beginning of the item's identifier tell them apart (--id). \
        Items that need a person are left out.
        """
    static let examples = [
        Example("Everything", "keychain list"),
        Example("The accounts of one service", "keychain list mail.example.com | cut -f2"),
        Example("Those with an attribute of your own", "keychain list --attribute stage=production"),
        Example("What has to be renewed this week", "keychain list --expiring 7d"),
        Example("With labels and dates", "keychain list --json"),
        Example("What can be brought back", "keychain list --deleted"),
    ]
    static let configuration: CommandConfiguration = documented("list", aliases: ["ls"])

    @Argument(help: "List only the passwords for this service.", completion: .services)
    var service: String?

    @Option(
        help: ArgumentHelp(
            "List only the passwords with this attribute. If repeated, only those with all of them.",
            valueName: "name=value"))
    var attribute: [CustomAttribute] = []

    @Option(
        help: ArgumentHelp(
            "List only the passwords that are expired, or expire within 12h or 7d, or before 2027-01-31.",
            valueName: "when"))
    var expiring: String?

    @Flag(help: "List the deleted passwords that can be brought back.")
    var deleted = false

    @OptionGroup var scope: ItemScope

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    /// How many items a listing leaves out.
    private struct LeftOut {
        var damaged = 0
        var withheld = 0
    }

    func validate() throws {
        _ = try attribute.dictionary()
        if expiring != nil, end == nil { throw ValidationError("--expiring takes \(Moment.forms)") }
    }

    func run() throws {
        var leftOut = LeftOut()
        let items = try items(&leftOut)
        if items.isEmpty, leftOut.withheld + leftOut.damaged == 0, !OtherTool.mayList(scope.group) {
            try OtherTool.requireServed(.list, named: "list")
        }
        if json {
            try StandardOutput.write(json: items.map(summary))
        } else {
            let notes =
                deleted || !items.contains(where: \.isSynchronizable)
                ? nil : try TravelNotes(.ofOwnerInPresentVault(passcode))
            let rows = items.map { row($0, notes) }.sorted { $0.lexicographicallyPrecedes($1) }
            if !rows.isEmpty {
                try StandardOutput.write(
                    Table(rows, heads: ["service", "account", "group"] + (deleted ? ["deleted", "item"] : [])))
            }
        }
        let withheld = leftOut.withheld
        if withheld > 0 {
            let (items, pronoun) = withheld == 1 ? ("item needs", "it") : ("items need", "them")
            CommandNote.show(
                "\(withheld) \(items) a person and cannot be listed: `keychain get` asks for \(pronoun)")
        }
        if !items.isEmpty, let tool = OtherTool.served, !tool.caller.rights.contains(.list) {
            CommandNote.show(tool.note)
        }
        let count = leftOut.damaged
        guard count == 0 else {
            throw Failure(
                status: errSecDecode,
                "\(count) damaged \(count == 1 ? "item was" : "items were") left out: "
                    + "`keychain status --verify` names them")
        }
    }

    /// The end of the time in which passwords expire that are listed.
    private var end: Date? { expiring.flatMap { Moment.date($0, direction: 1) } }

    private func isListed(_ item: StoredItem) -> Bool { end.map { item.isExpired($0) } ?? true }

    private func items(_ leftOut: inout LeftOut) throws -> [StoredItem] {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var query = ItemQuery(
            itemClass: .genericPassword, accessGroup: scope.group, synchronizable: scope.synchronizableScope)
        query.reports = [.damage, .guarded]
        // A listing asks nobody: the owner's tool is told the names of items that need a person, others their number.
        query.authentication = AuthenticationOptions(interaction: .skip)
        if let service { query.attributes[.service] = .string(service) }
        query.customAttributes = try attribute.dictionary()
        var guarded: [StoredItem] = []
        do {
            if deleted {
                // Of each item the newest version comes first.
                var seen: Set<UUID> = []
                return try session.perform(CopyVersions(query))
                    .filter { seen.insert($0.item.identifier).inserted && $0.ended != nil }
                    .map(\.item).filter(isListed)
            }
            let found = try session.perform(CopyItems(query, includingValues: false)) { part in
                switch part {
                case .damage: leftOut.damaged += 1
                case .withheld: leftOut.withheld += 1
                case .guarded(let item): guarded.append(item)
                case .item, .expired, .locked: break
                }
            }
            return (found + guarded).filter(isListed)
        } catch {
            if error == .itemNotFound, !guarded.isEmpty { return guarded.filter(isListed) }
            let isAnswer = leftOut.withheld > 0 || service == nil && attribute.isEmpty
            guard error == .itemNotFound, isAnswer else { throw error }
            return []
        }
    }

    private func summary(_ item: StoredItem) -> ItemSummary {
        var summary = ItemSummary(item)
        if deleted { summary.identifier = item.identifier.uuidString }
        return summary
    }

    private func row(_ item: StoredItem, _ notes: TravelNotes?) -> [String] {
        let names = [AttributeName.service, .account].map {
            item.attribute($0).map(AttributeText.init)?.forTerminal ?? ""
        }
        // What a program stored through the Secret Service has a name that says nothing.
        let isBare = SecretStore.isName(ofService: names[0]) || names[0] == EntryService.details
        let label = isBare ? item.attribute(.label).map(AttributeText.init) : nil
        let other = deleted ? [Timestamp(item.modificationDate).shown, item.identifier.beginning] : []
        return names + [item.accessGroup.escapedForTerminal] + other + (label.map { [$0.forTerminal] } ?? [])
            + (item.accessControl.isConstrained ? ["needs a person"] : [])
            + (notes?.note(item).map { ["synchronizable, \($0)"] } ?? [])
    }
}
