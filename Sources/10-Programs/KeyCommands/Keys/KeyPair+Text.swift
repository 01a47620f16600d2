import CommandKit
import KeychainModel
import VaultInterface
import VaultKeys

extension KeyPair {
    var typeName: String { described.map { KeyType.name($0.attributes) } ?? "unknown" }

    /// The name of the key for people.
    package var name: String {
        label.map { AttributeText($0).forTerminal } ?? tag.map { AttributeText($0).forTerminal }
            ?? String(hexadecimalHash.prefix(Self.shownHashLength))
    }
}

extension KeyInventory {
    /// The keys in the order in which people see them: by their names.
    package var sortedPairs: [KeyPair] {
        pairs.sorted { ($0.name, $0.group, $0.hexadecimalHash) < ($1.name, $1.group, $1.hexadecimalHash) }
    }
}

extension VaultSession {
    /// How many keys there are; each has one or two items. Nil if some are locked or damaged.
    package var keyPairCount: Int? {
        guard let inventory = try? KeyInventory(of: withoutUnlocking), !inventory.isLocked, inventory.damagedCount == 0
        else { return nil }
        return inventory.pairs.count
    }
}
