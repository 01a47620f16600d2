import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import SecureMemory

extension EmbeddedVault {
    package func add(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        let authorization = try authorize(.add, item, client)
        return try recording(.written, of: authorization, items: { _ in 1 }) { () throws(VaultError) in
            let stored = try newItem(item, authorization)
            return try performing(item.authentication, as: client) { try self.insertNew(stored, $0) }
        }
    }

    /// An item that the client may add, as it will be stored.
    func newItem(_ item: NewItem, _ authorization: Authorization) throws(VaultError) -> StoredItem {
        try checkEnforceable(item.accessControl, isSynchronizable: item.isSynchronizable)
        return try storedForm(of: item, authorization)
    }

    private func insertNew(_ stored: StoredItem, _ presence: PresenceCheck) throws -> StoredItem {
        try writing { writer, keybag in
            // Whether the class key is there is decided before uniqueness: adding an existing item to a
            // locked vault is refused for the lock.
            try keybag.keys.checkAvailable(stored.accessControl.protection)
            try self.makeRoom(for: keybag.primaryKey(of: stored), of: stored.itemClass, in: writer, keybag)
            try self.insert(stored, presence, in: writer, keybag)
            return stored
        }
    }

    package func put(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        let authorization = try authorize(.put, item, client)
        return try recording(.written, of: authorization, items: { _ in 1 }) { () throws(VaultError) in
            let stored = try newItem(item, authorization)
            return try performing(item.authentication, as: client) { try self.insertOrUpdate(stored, $0) }
        }
    }

    private func insertOrUpdate(_ stored: StoredItem, _ presence: PresenceCheck) throws -> StoredItem {
        try writing { writer, keybag in
            try keybag.keys.checkAvailable(stored.accessControl.protection)
            let existing: Found
            switch try self.liveItem(withPrimaryKeyOf: stored, presence, in: writer, keybag) {
            case .found(let found): existing = found
            case .withheld: throw VaultError.itemNotFound
            case .none:
                try self.makeRoom(for: keybag.primaryKey(of: stored), of: stored.itemClass, in: writer, keybag)
                try self.insert(stored, presence, in: writer, keybag)
                return stored
            }
            var updated = existing.item
            updated.attributes.merge(stored.attributes) { $1 }
            updated.accessControl = stored.accessControl
            updated.value = stored.value ?? updated.value
            updated.modificationDate = self.modificationDate(after: existing.item)
            try self.replace(existing, with: updated, presence, in: writer, keybag)
            return updated
        }
    }

    package func exchange(
        _ item: NewItem, expecting expected: Data?, as client: Client
    ) throws(VaultError) -> Bool {
        let authorization = try authorize(.exchange, item, client)
        let kind: AuditEvent.Kind = item.value == nil ? .deleted : .written
        return try recording(kind, of: authorization, items: { $0 ? 1 : 0 }) { () throws(VaultError) in
            let stored = try newItem(item, authorization)
            return try performing(item.authentication, as: client) {
                try self.compareAndSwap(stored, expecting: expected, $0)
            }
        }
    }

    private func compareAndSwap(
        _ stored: StoredItem, expecting expected: Data?, _ presence: PresenceCheck
    ) throws -> Bool {
        try writing { writer, keybag in
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

    package func update(
        _ query: ItemQuery, with changes: ItemChanges, as client: Client
    ) throws(VaultError) -> Int {
        let authorization = try authorize(.update, query, client)
        if let group = changes.accessGroup { _ = try authorize(.update, query, toGroup: group, client) }
        return try recording(.written, of: authorization, items: { $0 }) { () throws(VaultError) in
            guard query.itemClass != .identity else {
                throw .unsupported(reason: "an identity is changed through its certificate or its key")
            }
            try checkSize(changes.value)
            return try performing(query.authentication, as: client) { presence in
                try self.updateItems(query, with: changes, authorization, presence)
            }
        }
    }

    private func updateItems(
        _ query: ItemQuery, with changes: ItemChanges, _ authorization: Authorization, _ presence: PresenceCheck
    ) throws -> Int {
        try writing { writer, keybag in
            let found = try self.items(
                query, authorization, presence, includingValues: true, in: writer.reader, keybag)
            guard !found.isEmpty else { throw VaultError.itemNotFound }
            for match in found {
                let updated = try self.applied(changes, to: match.item)
                try self.replace(match, with: updated, presence, in: writer, keybag)
            }
            return found.count
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

    /// Now, but later than the item's last change by at least a millisecond, so that order can be told.
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
