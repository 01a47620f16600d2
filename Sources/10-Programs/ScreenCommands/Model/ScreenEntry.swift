import CommandKit
import FoundationEssentials
import KeychainModel
import PasswordCommands

/// A password in the list.
package struct ScreenEntry: Sendable, Equatable {
    package let item: StoredItem
    /// The service or server, as it is.
    package let name: String
    package let account: String

    package init(_ item: StoredItem) {
        self.item = item
        name = item.names.name?.plain ?? ""
        account = item.names.account?.plain ?? ""
    }

    package var identifier: UUID { item.identifier }
    package var group: String { item.accessGroup }
    /// Nil if it says the same as the name.
    package var label: String? {
        item.attribute(.label).map { AttributeText($0).plain }.flatMap { $0 == name ? nil : $0 }
    }

    /// The site whose one-time codes the item makes; nil if it makes none.
    package var codeSite: Substring? {
        item.itemClass == .genericPassword && name.hasPrefix(EntryService.codePrefix)
            ? name.dropFirst(EntryService.codePrefix.count) : nil
    }

    /// What a person has to know before reading it; nil for nothing.
    package var remark: String? {
        if item.isExpired(Date()) { return "expired" }
        return item.accessControl.isConstrained ? "needs a person" : nil
    }

    package static func isBefore(_ first: ScreenEntry, _ second: ScreenEntry) -> Bool {
        if first.name != second.name { return first.name < second.name }
        if first.account != second.account { return first.account < second.account }
        return first.group < second.group
    }
}

/// What was read of a vault at once.
package struct ScreenContents: Sendable, Equatable {
    package enum Lock: Sendable, Equatable { case none, unlocked, locked }

    /// Sorted.
    package var entries: [ScreenEntry] = []
    package var lock = Lock.none
    /// How many items cannot be seen because they are locked, and because they are damaged.
    package var lockedCount = 0
    package var damagedCount = 0
    /// Whether these are all items.
    package var isComplete = false

    package init() {}
}
