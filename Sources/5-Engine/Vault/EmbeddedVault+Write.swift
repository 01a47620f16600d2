import Access
import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import SecureMemory
import VaultInterface

extension EmbeddedVault {
    package func perform(_ operation: AddItem, as client: Client) throws(VaultError) -> StoredItem {
        let item = operation.item
        return try gated(
            AccessRequest(.add, item), as: client, asking: item.authentication, recordedAs: .written, items: { _ in 1 }
        ) { authorization, presence in
            let stored = try newItem(item, authorization)
            return try writing(for: authorization) { writer, keybag in
                // Whether the class key is there is decided before uniqueness: adding an existing item to a
                // locked vault is refused for the lock.
                try keybag.keys.checkAvailable(stored.accessControl.protection)
                try makeRoom(for: keybag.primaryKey(of: stored), of: stored.itemClass, in: writer, keybag)
                try insert(stored, presence, in: writer, keybag)
                return stored
            }
        }
    }

    /// Returns the new item in the form in which it will be stored.
    func newItem(_ item: NewItem, _ authorization: Authorization) throws(VaultError) -> StoredItem {
        try checkEnforceable(item.accessControl, isSynchronizable: item.isSynchronizable)
        return try storedForm(of: item, authorization)
    }

    package func perform(_ operation: PutItem, as client: Client) throws(VaultError) -> StoredItem {
        let item = operation.item
        return try gated(
            AccessRequest(.put, item), as: client, asking: item.authentication, recordedAs: .written, items: { _ in 1 }
        ) { authorization, presence in
            let stored = try newItem(item, authorization)
            return try writing(for: authorization) { writer, keybag in
                try keybag.keys.checkAvailable(stored.accessControl.protection)
                let existing: Found
                switch try liveItem(withPrimaryKeyOf: stored, presence, in: writer, keybag) {
                case .found(let found): existing = found
                case .withheld: throw VaultError.itemNotFound
                case .none:
                    try makeRoom(for: keybag.primaryKey(of: stored), of: stored.itemClass, in: writer, keybag)
                    try insert(stored, presence, in: writer, keybag)
                    return stored
                }
                var updated = existing.item
                updated.attributes.merge(stored.attributes) { $1 }
                updated.accessControl = stored.accessControl
                updated.value = stored.value ?? updated.value
                updated.modificationDate = modificationDate(after: existing.item)
                try replace(existing, with: updated, presence, in: writer, keybag)
                return updated
            }
        }
    }

    package func perform(_ operation: ExchangeItem, as client: Client) throws(VaultError) -> Bool {
        let item = operation.item
        return try gated(
            AccessRequest(.exchange, item), as: client, asking: item.authentication,
            recordedAs: item.value == nil ? .deleted : .written, items: { $0 ? 1 : 0 }
        ) { authorization, presence in
            let stored = try newItem(item, authorization)
            return try compareAndSwap(stored, expecting: operation.expected, authorization, presence)
        }
    }

    private func compareAndSwap(
        _ stored: StoredItem, expecting expected: Data?, _ authorization: Authorization, _ presence: PresenceCheck
    ) throws -> Bool {
        try writing(for: authorization) { writer, keybag in
            try keybag.keys.checkAvailable(stored.accessControl.protection)
            let existing: Found
            switch try self.liveItem(withPrimaryKeyOf: stored, presence, in: writer, keybag) {
            case .found(let found): existing = found
            case .withheld: return false
            case .none:
                guard expected == nil, stored.value != nil else { return false }
                try self.makeRoom(for: keybag.primaryKey(of: stored), of: stored.itemClass, in: writer, keybag)
                try self.insert(stored, presence, in: writer, keybag)
                return true
            }
            guard let expected, isEqualInConstantTime(existing.item.value ?? Data(), expected) else { return false }
            guard let value = stored.value else {
                try self.remove(existing.row, opened: existing.item, in: writer, keybag)
                return true
            }
            var updated = existing.item
            updated.attributes.merge(stored.attributes) { $1 }
            updated.value = value
            updated.modificationDate = self.modificationDate(after: existing.item)
            try self.replace(existing, with: updated, presence, in: writer, keybag)
            return true
        }
    }

    package func perform(_ operation: UpdateItems, as client: Client) throws(VaultError) -> Int {
        let (query, changes) = (operation.query, operation.changes)
        let authorization = try authorize(AccessRequest(.update, query), as: client, recordedAs: .written)
        if let group = changes.accessGroup {
            _ = try authorize(AccessRequest(.update, query, toGroup: group), as: client, recordedAs: .written)
        }
        return try performing(authorization, asking: query.authentication, items: { $0 }) { presence in
            guard query.itemClass != .identity else {
                throw VaultError.unsupported(reason: "an identity is changed through its certificate or its key")
            }
            try checkSize(changes.value)
            return try writing(for: authorization) { writer, keybag in
                let found = try items(
                    query, authorization, presence, includingValues: true, in: writer.reader, keybag)
                guard !found.isEmpty else { throw VaultError.itemNotFound }
                for match in found {
                    let updated = try applied(changes, to: match.item)
                    try replace(match, with: updated, presence, in: writer, keybag)
                }
                return found.count
            }
        }
    }

    private func applied(_ changes: ItemChanges, to item: StoredItem) throws(VaultError) -> StoredItem {
        var updated = item
        updated.attributes.merge(changes.attributes) { $1 }
        if let group = changes.accessGroup { updated.accessGroup = group }
        if let synchronizable = changes.isSynchronizable { updated.isSynchronizable = synchronizable }
        if let control = changes.accessControl { updated.accessControl = control }
        if let value = changes.value { updated.value = value }
        if case .date(let date) = updated.attributes.removeValue(forKey: .creationDate) { updated.creationDate = date }
        updated.modificationDate = modificationDate(after: item)
        try checkEnforceable(updated.accessControl, isSynchronizable: updated.isSynchronizable)
        return updated
    }

    /// Returns the present time, and at least a millisecond after the item's last change, so that changes have an
    /// order.
    private func modificationDate(after item: StoredItem) -> Date {
        max(now(), item.modificationDate.addingTimeInterval(0.001))
    }

    private func storedForm(of item: NewItem, _ authorization: Authorization) throws(VaultError) -> StoredItem {
        guard item.itemClass != .identity else {
            throw .unsupported(reason: "an identity is stored as its certificate and its key")
        }
        try checkSize(item.value)
        let group: String
        do {
            group = try AccessPolicy.groupForNewItem(item.accessGroup, client: authorization.client)
        } catch {
            throw .accessDenied(error)
        }
        let now = now()
        return StoredItem(
            itemClass: item.itemClass, identifier: UUID(), attributes: item.attributes, accessGroup: group,
            accessControl: item.accessControl, isSynchronizable: item.isSynchronizable, creationDate: now,
            modificationDate: now, value: item.value)
    }

    private func checkSize(_ value: Data?) throws(VaultError) {
        if let value, value.count > ItemLimits.value {
            throw .valueTooLarge(size: value.count, limit: ItemLimits.value)
        }
    }

    /// Constraints are enforced where an item is read; what this vault has no way to ask for, nobody reads. But a
    /// constraint that cannot leave the machine must not be synchronized.
    private func checkEnforceable(_ control: AccessControl, isSynchronizable: Bool) throws(VaultError) {
        if control.flags != nil, isSynchronizable {
            throw .invalidRequest(reason: "an access control cannot be synchronized; leave one of the two out")
        }
    }
}
