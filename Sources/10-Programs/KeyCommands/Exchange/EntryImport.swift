import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import VaultInterface

/// Stores the entries of another password manager's file.
///
/// An entry is stored whole or not at all. One that is there already stays, or is replaced if that is asked for; so an
/// import that was interrupted is completed by another one.
struct EntryImport {
    let session: VaultSession
    /// Where new items go.
    let group: String
    /// Whether an entry that differs takes the place of the one that is there.
    let replaces: Bool
    /// Whether nothing is stored.
    let isTrial: Bool
    private let now = Date()

    /// What became of an entry.
    struct Outcome: Encodable {
        enum Result: String, Encodable {
            /// It was not there.
            case new
            /// It took the place of one that differed.
            case changed
            /// It is there.
            case same
            /// Another secret or note is there, and stayed.
            case different
            case refused
            /// Nobody misses it, or it is kept in another form.
            case leftOut
        }

        var title: String
        var account: String?
        var result: Result
        /// Why it was refused or stayed.
        var reason: String?
    }

    init(_ session: VaultSession, group: String, replaces: Bool, isTrial: Bool) {
        (self.session, self.group, self.replaces, self.isTrial) = (session, group, replaces, isTrial)
    }

    /// - Returns: What became of each entry, in their order.
    func run(_ entries: [ExchangeEntry]) throws -> [Outcome] {
        defer { ItemProgress.end() }
        var outcomes: [Outcome] = []
        var names: Set<ItemName> = []
        var pending = Pending()
        for (number, entry) in entries.enumerated() {
            ItemProgress.show("importing", number, of: entries.count, from: 1_000)
            var items = EntryItems(entry, in: group, now: now)
            var outcome = Outcome(title: entry.title, account: entry.username, result: .new)
            if !names.insert(ItemName(items.main)).inserted {
                guard items.main.itemClass != .key else {
                    outcome.result = .same
                    outcomes.append(outcome)
                    continue
                }
                // A name is one item's: what a file has twice is told apart by its title, and then by a number.
                items.rename(avoiding: names)
                names.insert(ItemName(items.main))
            }
            do {
                try decide(&items, entry, &outcome, &names, &pending)
            } catch let error as VaultError where Self.concernsEntry(error) {
                (outcome.result, outcome.reason) = (.refused, "\(error)")
            }
            outcomes.append(outcome)
            if pending.isFull { try store(&pending) }
        }
        try store(&pending)
        return outcomes
    }

    /// What the vault refuses of one entry, and takes of another.
    private static func concernsEntry(_ error: VaultError) -> Bool {
        switch error {
        case .attributesTooLarge, .valueTooLarge, .invalidRequest, .corruptItem: true
        default: false
        }
    }

    private func decide(
        _ items: inout EntryItems, _ entry: ExchangeEntry, _ outcome: inout Outcome, _ names: inout Set<ItemName>,
        _ pending: inout Pending
    ) throws {
        for item in items.all {
            if let problem = item.customAttributes.problem { throw VaultError.invalidRequest(reason: problem) }
            if let value = item.value, value.count > ItemLimits.value {
                throw VaultError.valueTooLarge(size: value.count, limit: ItemLimits.value)
            }
            // A transaction that the vault refuses would take the entries beside it along.
            let size = Self.sizeOfAttributes(item)
            guard size <= Self.longestAttributes else {
                throw VaultError.attributesTooLarge(size: size, limit: Self.longestAttributes)
            }
        }
        guard let present = try present(items.main) else {
            if let code = items.code, try !isFree(code, &names) { items.code = try renamed(code, &names) }
            // A key is the same wherever it comes from.
            items.keys = try items.keys.filter { try isFree($0, &names) }
            if !isTrial { try pending.add(items, entry.history) }
            return
        }
        if present.value == nil, present.itemClass != .key, present.accessControl.isConstrained {
            (outcome.result, outcome.reason) = (.different, "the item that is there needs a person")
            return
        }
        if let number = present.customAttributes[EntryItems.link] { items.join(number) }
        let others: [(StoredItem, StoredItem?)] = try items.all.dropFirst().map { ($0, try self.present($0)) }
        let isSame =
            Self.isSame(items.main, present)
            && others.allSatisfy { item, present in present.map { Self.isSame(item, $0) } ?? false }
        guard !isSame else {
            outcome.result = .same
            return
        }
        guard replaces else {
            (outcome.result, outcome.reason) = (.different, "another one is here, and stayed: --replace takes this one")
            return
        }
        outcome.result = .changed
        guard !isTrial else { return }
        try replace(present, by: items.main)
        for (item, present) in others {
            if let present, present.itemClass != .key {
                try replace(present, by: item)
            } else if present == nil {
                _ = try session.perform(ReceiveItems([item], keepsIdentity: true))
            }
        }
    }

    /// Less than what a vault takes, which counts what it adds to them.
    private static let longestAttributes = ItemLimits.attributes / 2

    private static func sizeOfAttributes(_ item: StoredItem) -> Int {
        let sizes = item.attributes.map { _, value in
            switch value {
            case .string(let text): text.utf8.count
            case .data(let bytes): bytes.count
            case .number, .real, .date: 8
            }
        }
        return sizes.reduce(0, +) + item.customAttributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// Returns the item with the name of this one; without its value, if that needs a person.
    private func present(_ item: StoredItem) throws -> StoredItem? {
        var query = ItemQuery(
            itemClass: item.itemClass, accessGroup: item.accessGroup, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: .skip))
        for name in ItemName.attributes(of: item.itemClass) { query.attributes[name] = item.attribute(name) }
        query.includesExpired = true
        query.reports = .guarded
        var guarded: StoredItem?
        do {
            let found = try session.perform(CopyItems(query, includingValues: true)) { part in
                if case .guarded(let item) = part { guarded = item }
            }
            return found.first ?? guarded
        } catch {
            guard error == .itemNotFound else { throw error }
            return guarded
        }
    }

    private func isFree(_ item: StoredItem, _ names: inout Set<ItemName>) throws -> Bool {
        guard names.insert(ItemName(item)).inserted else { return false }
        return try present(item) == nil
    }

    private func renamed(_ item: StoredItem, _ names: inout Set<ItemName>) throws -> StoredItem {
        var item = item
        let service = EntryItems.text(item, .service) ?? ""
        for number in 2...1_000 {
            item.attributes[.service] = .string("\(service) \(number)")
            if try isFree(item, &names) { break }
        }
        return item
    }

    private static func isSame(_ item: StoredItem, _ present: StoredItem) -> Bool {
        // The name of a key is its hash.
        item.itemClass == .key
            || item.value == present.value && item.attributes[.label] == present.attributes[.label]
                && item.attributes[.comment] == present.attributes[.comment]
                && item.customAttributes.allSatisfy {
                    $0.key == EntryItems.link || present.customAttributes[$0.key] == $0.value
                }
    }

    private func replace(_ present: StoredItem, by item: StoredItem) throws {
        var changes = ItemChanges(value: present.value == item.value ? nil : item.value)
        for name in [AttributeName.label, .comment] { changes.attributes[name] = item.attributes[name] }
        changes.customAttributes = present.customAttributes.merging(item.customAttributes) { $1 }
        var query = ItemQuery(item: present)
        query.includesExpired = true
        try session.perform(UpdateItems(query, with: changes))
    }

    // MARK: Storing

    /// New entries that are stored in one transaction.
    private struct Pending {
        var items: [StoredItem] = []
        var former: [ReceiveItems.FormerValue] = []
        private var bytes = 0

        /// Whether it is time to store them: enough to be fast, and few enough to keep nobody waiting and to fit into
        /// a request.
        var isFull: Bool {
            items.count >= 200 || bytes >= 4 << 20 || items.count + former.count >= ReceiveItems.most / 2
        }

        /// As many former secrets of one entry are kept.
        private static let mostFormer = 100

        mutating func add(_ entry: EntryItems, _ history: [ExchangeEntry.Former]) throws {
            var main = entry.main
            let history = history.suffix(Self.mostFormer)
            bytes += entry.all.reduce(0) { $0 + ($1.value?.count ?? 0) + EntryImport.sizeOfAttributes($1) }
            bytes += history.reduce(0) { $0 + $1.password.utf8.count }
            if !history.isEmpty, main.value?.isEmpty == false {
                main.kept = .atMost(history.count)
                var last = main.creationDate
                for version in history {
                    last = max(last, version.ended ?? last)
                    former.append(
                        .init(
                            item: UInt32(clamping: items.count), value: Data(version.password.utf8),
                            ended: last.nearestStorable))
                }
                main.modificationDate = max(main.modificationDate, last)
            }
            items.append(main)
            items += entry.all.dropFirst()
        }
    }

    private func store(_ pending: inout Pending) throws {
        guard !pending.items.isEmpty else { return }
        var operation = ReceiveItems(pending.items, keepsIdentity: true)
        operation.former = pending.former
        _ = try session.perform(operation)
        pending = Pending()
    }
}

/// The primary key of an item in its group.
struct ItemName: Hashable {
    private let itemClass: ItemClass
    private let key: [AttributeValue?]

    init(_ item: StoredItem) {
        itemClass = item.itemClass
        key = Self.attributes(of: itemClass).map { item.attribute($0) }
    }

    /// A key with a tag, or with another label, is the same key.
    static func attributes(of itemClass: ItemClass) -> [AttributeName] {
        itemClass == .key ? [.keyClass, .applicationLabel] : itemClass.schema.ownPrimaryKey
    }
}

extension EntryItems {
    /// Gives the main item a name of its own.
    fileprivate mutating func rename(avoiding names: Set<ItemName>) {
        if main.itemClass == .internetPassword {
            main.attributes[.path] = main.attributes[.label]
        }
        let name: AttributeName = main.itemClass == .internetPassword ? .path : .service
        let text = Self.text(main, name) ?? ""
        var number = 2
        while names.contains(ItemName(main)), number < 100_000 {
            main.attributes[name] = .string("\(text) \(number)")
            number += 1
        }
    }
}
