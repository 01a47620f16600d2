import Access
import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Finds, adds, changes and deletes items.
struct VaultItems: ItemKeeping {
    let vault: OpenedVault
    let gate: VaultGate
    let now: @Sendable () -> Date

    func copy(_ operation: CopyItems, as client: Client, send: Sink<CopyItems.Part>) throws(VaultError) {
        try copy(operation, as: client, recordedAs: operation.includingValues ? .read : .listed, send: send)
    }

    /// - Parameters:
    ///   - kind: What the client asked for, and is recorded.
    ///   - event: What the audit log says of it.
    func copy(
        _ operation: CopyItems, as client: Client, requesting kind: AccessRequest.Kind = .copy,
        recordedAs event: AuditEvent.Kind, send: Sink<CopyItems.Part>
    ) throws(VaultError) {
        let query = operation.query
        let authorization = try gate.authorize(request(kind, query), as: client, recordedAs: event)
        var (next, sent, unread) = (SearchPosition?.some(.start), 0, VaultError?.none)
        var digests: [UInt64] = []
        var expired: Date?
        // Identities are found at once, and not in slices.
        if query.itemClass == .identity { try CurrentCall.served?.giveWay() }
        // What was sent stays sent when a person was asked in between.
        _ = try gate.run(
            authorization, asking: query.authentication, items: { $0 }, digests: { digests }
        ) { presence in
            while let start = next {
                var reports: [CopyItems.Part] = []
                let slice = try vault.reading(for: authorization) { reader, keybag in
                    // A reading that is repeated reports everything again.
                    reports = []
                    let finder = ItemFinder(reader, keybag, authorization, presence, now: now()) {
                        reports.append($0)
                    } noteExpired: {
                        expired = $0
                    }
                    return try finder.slice(operation, after: start, sent: sent)
                }
                // The request names an item by as much as its digest is made of.
                if authorization.request.itemDigests.isEmpty { note(slice.items, in: &digests) }
                do throws(VaultError) {
                    for report in reports { try send(report) }
                    for item in slice.items { try send(.item(item)) }
                } catch {
                    // The vault opened these items, so the audit log counts them, even if the client did not get them.
                    unread = error
                    return sent + slice.items.count
                }
                sent += slice.items.count
                next = query.limit.map { sent < $0 } ?? true ? slice.next : nil
                guard next != nil, let call = CurrentCall.served else { continue }
                try call.makeRoom(for: max(slice.needed, ItemFinder.longSlice))
            }
            guard sent > 0 else { throw expired.map(VaultError.itemExpired) ?? .itemNotFound }
            return sent
        }
        if let unread { throw unread }
    }

    func add(_ operation: AddItem, as client: Client) throws(VaultError) -> StoredItem {
        let new = operation.item
        let authorization = try gate.authorize(request(.add, new), as: client, recordedAs: .written)
        return try gate.run(authorization, asking: new.authentication, items: { _ in 1 }) { presence in
            let item = try storedForm(of: new, for: client)
            try vault.writing(for: authorization) { writer, keybag in
                // Whether the class key is there is decided before uniqueness: adding an existing item to a
                // locked vault is refused for the lock.
                try keybag.keys.checkAvailable(item.accessControl.protection)
                try ItemTransaction(writer, keybag, presence, now).insert(item)
            }
            return item
        }
    }

    func put(_ operation: PutItem, as client: Client) throws(VaultError) -> StoredItem {
        let new = operation.item
        let authorization = try gate.authorize(request(.put, new), as: client, recordedAs: .written)
        return try gate.run(authorization, asking: new.authentication, items: { _ in 1 }) { presence in
            let item = try storedForm(of: new, for: client)
            return try vault.writing(for: authorization) { writer, keybag in
                try keybag.keys.checkAvailable(item.accessControl.protection)
                let transaction = ItemTransaction(writer, keybag, presence, now)
                switch try transaction.liveItem(withPrimaryKeyOf: item) {
                case .none:
                    try transaction.insert(item)
                    return item
                case .withheld: throw VaultError.itemNotFound
                case .found(let existing):
                    var updated = existing.item
                    updated.attributes.merge(item.attributes) { $1 }
                    if let custom = new.customAttributes { updated.customAttributes = custom }
                    updated.accessControl = item.accessControl
                    updated.renew(item.value, new.expiry, now: now())
                    if let kept = new.kept { updated.kept = kept }
                    updated.version = existing.row.binding.nextVersion
                    updated.modificationDate = modificationDate(after: existing.item)
                    try transaction.replace(existing, with: updated)
                    return updated
                }
            }
        }
    }

    func exchange(_ operation: ExchangeItem, as client: Client) throws(VaultError) -> Bool {
        let new = operation.item
        let authorization = try gate.authorize(
            request(.exchange, new), as: client, recordedAs: new.value == nil ? .deleted : .written)
        return try gate.run(authorization, asking: new.authentication, items: { $0 ? 1 : 0 }) { presence in
            let item = try storedForm(of: new, for: client)
            return try vault.writing(for: authorization) { writer, keybag in
                try keybag.keys.checkAvailable(item.accessControl.protection)
                return try exchange(
                    item, of: new, expecting: operation.expected,
                    in: ItemTransaction(writer, keybag, presence, now))
            }
        }
    }

    private func exchange(
        _ item: StoredItem, of new: NewItem, expecting expected: Data?, in transaction: ItemTransaction
    ) throws -> Bool {
        switch try transaction.liveItem(withPrimaryKeyOf: item) {
        case .none:
            guard expected == nil, item.value != nil else { return false }
            try transaction.insert(item)
        case .withheld: return false
        case .found(let existing):
            guard let expected, isEqualInConstantTime(existing.item.value ?? Data(), expected) else { return false }
            guard let value = item.value else {
                try transaction.remove(existing.row, opened: existing.item)
                return true
            }
            try transaction.replace(existing, with: exchanged(existing.item, for: item, value, of: new))
        }
        return true
    }

    /// An item with another value, and what the request says besides.
    ///
    /// - Parameter item: The request in the form in which a new item would be stored.
    func exchanged(_ existing: StoredItem, for item: StoredItem, _ value: Data, of new: NewItem) -> StoredItem {
        var updated = existing
        updated.attributes.merge(item.attributes) { $1 }
        if let custom = new.customAttributes { updated.customAttributes = custom }
        updated.renew(value, new.expiry, now: now())
        if let kept = new.kept { updated.kept = kept }
        updated.modificationDate = modificationDate(after: existing)
        return updated
    }

    func update(_ operation: UpdateItems, as client: Client) throws(VaultError) -> Int {
        let (query, changes) = (operation.query, operation.changes)
        let authorization = try gate.authorize(request(.update, query), as: client, recordedAs: .written)
        if let group = changes.accessGroup {
            _ = try gate.authorize(
                request(.update, query, toGroup: group), as: client, recordedAs: .written)
        }
        var digests: [UInt64] = []
        return try gate.run(
            authorization, asking: query.authentication, items: { $0 }, digests: { digests }
        ) { presence in
            guard query.itemClass != .identity else {
                throw VaultError.unsupported(reason: "an identity is changed through its certificate or its key")
            }
            try checkSize(changes.value)
            return try vault.writing(for: authorization) { writer, keybag in
                var query = query
                query.includesExpired = true
                let found = try ItemFinder(writer.reader, keybag, authorization, presence, now: now())
                    .items(query, includingValues: true)
                guard !found.isEmpty else { throw VaultError.itemNotFound }
                let transaction = ItemTransaction(writer, keybag, presence, now)
                digests = []
                note(found.map(\.item), in: &digests)
                for match in found {
                    let updated = try applied(changes, to: match.item)
                    try transaction.replace(match, with: updated)
                    // An item that gets another name is found under both.
                    note([updated], in: &digests)
                }
                return found.count
            }
        }
    }

    private func applied(_ changes: ItemChanges, to item: StoredItem) throws(VaultError) -> StoredItem {
        var updated = item
        updated.attributes.merge(changes.attributes) { $1 }
        if let custom = changes.customAttributes {
            try check(custom)
            updated.customAttributes = custom
        }
        if let group = changes.accessGroup { updated.accessGroup = group }
        if let synchronizable = changes.isSynchronizable { updated.isSynchronizable = synchronizable }
        if let control = changes.accessControl { updated.accessControl = control }
        updated.renew(changes.value, changes.expiry, now: now())
        if let kept = changes.kept { updated.kept = kept }
        if case .date(let date) = updated.attributes.removeValue(forKey: .creationDate) { updated.creationDate = date }
        updated.modificationDate = modificationDate(after: item)
        try checkEnforceable(updated.accessControl, isSynchronizable: updated.isSynchronizable)
        return updated
    }

    func delete(_ operation: DeleteItems, as client: Client) throws(VaultError) -> Int {
        let query = operation.query
        let authorization = try gate.authorize(request(.delete, query), as: client, recordedAs: .deleted)
        var referrers: Authorization?
        if query.itemClass == .identity {
            referrers = try gate.authorize(
                AccessRequest(.copy, itemClass: .certificate, namesItems: query.namesItems), as: client,
                recordedAs: .listed)
        }
        var (next, deleted) = (SearchPosition?.some(.start), 0)
        var digests: [UInt64] = []
        return try gate.run(
            authorization, asking: query.authentication, items: { $0 }, digests: { digests }
        ) { presence in
            // A served call that deletes many items lets others write in between.
            while let start = next {
                let count = try vault.writing(for: authorization) { writer, keybag in
                    let finder = ItemFinder(writer.reader, keybag, authorization, .waived, now: now())
                    let transaction = ItemTransaction(writer, keybag, presence, now)
                    if let referrers {
                        next = nil
                        let certificates = ItemFinder(writer.reader, keybag, referrers, .waived, now: now())
                        return try deleteIdentities(query, finder, referrers: certificates, in: transaction)
                    }
                    let found = try finder.rows(query, after: start)
                    for row in found.rows {
                        let item = try? keybag.openMetadata(of: row)
                        try transaction.remove(row, opened: item)
                        if let item { note([item], in: &digests) }
                    }
                    next = found.next
                    return found.rows.count
                }
                deleted += count
                if next != nil { try CurrentCall.served?.giveWay() }
            }
            guard deleted > 0 else { throw VaultError.itemNotFound }
            return deleted
        }
    }

    /// Deletes the certificates of the identities, and each key that no other certificate refers to.
    ///
    /// - Parameter referrers: Finds certificates that the client may not delete, too.
    private func deleteIdentities(
        _ query: ItemQuery, _ finder: ItemFinder, referrers: ItemFinder, in transaction: ItemTransaction
    ) throws -> Int {
        let pairs = try finder.pairs(query)
        guard !pairs.isEmpty else { throw VaultError.itemNotFound }
        var removed: Set<Int64> = []
        for certificate in pairs.map(\.certificate) where removed.insert(certificate.row.binding.rowID).inserted {
            try transaction.remove(certificate.row, opened: certificate.item)
        }
        for key in pairs.map(\.key) where removed.insert(key.row.binding.rowID).inserted {
            guard let label = key.item.attributes[.applicationLabel],
                try referrers.certificates(withKeyHash: label).isEmpty
            else { continue }
            try transaction.remove(key.row, opened: key.item)
        }
        return pairs.count
    }

    func add(_ operation: AddIdentity, as client: Client) throws(VaultError) {
        let (certificate, key) = (operation.certificate, operation.key)
        _ = try gate.authorize(request(.add, certificate), as: client, recordedAs: .written)
        let authorization = try gate.authorize(request(.add, key), as: client, recordedAs: .written)
        _ = try gate.run(authorization, asking: key.authentication, items: { $0 }) { presence in
            let halves = [try storedForm(of: certificate, for: client), try storedForm(of: key, for: client)]
            return try vault.writing(for: authorization) { writer, keybag in
                let transaction = ItemTransaction(writer, keybag, presence, now)
                var added = 0
                for half in halves {
                    try keybag.keys.checkAvailable(half.accessControl.protection)
                    guard try transaction.liveRow(withPrimaryKeyOf: half) == nil else { continue }
                    try transaction.insert(half)
                    added += 1
                }
                guard added > 0 else { throw VaultError.duplicateItem }
                return added
            }
        }
    }

    /// Returns the request with the digest of the item that `query` names by the primary key of its class.
    func request(_ kind: AccessRequest.Kind, _ query: ItemQuery, toGroup group: String? = nil) -> AccessRequest {
        var request = AccessRequest(kind, query, toGroup: group)
        if gate.access.isRecording, query.itemClass.schema.ownPrimaryKey.allSatisfy({ query.attributes[$0] != nil }) {
            add(query.itemClass, query.attributes, to: &request.itemDigests)
        }
        return request
    }

    /// Returns the request with the digest of the item that is to be stored.
    func request(_ kind: AccessRequest.Kind, _ item: NewItem) -> AccessRequest {
        var request = AccessRequest(kind, item)
        add(item.itemClass, item.attributes, to: &request.itemDigests)
        return request
    }

    /// Adds the digests of `items` for the audit log.
    func note(_ items: [StoredItem], in digests: inout [UInt64]) {
        for item in items {
            guard digests.count < AccessRequest.mostItemDigests else { return }
            add(item.itemClass, item.attributes, to: &digests)
        }
    }

    func add(
        _ itemClass: ItemClass, _ attributes: ItemAttributes, to digests: inout [UInt64]
    ) {
        // An identity is two items, and has no primary key of its own.
        guard gate.access.isRecording, itemClass != .identity,
            let digest = vault.keybag.auditDigest(itemClass, attributes),
            !digests.contains(digest)
        else { return }
        digests.append(digest)
    }

    /// Returns the new item in the form in which it will be stored.
    func storedForm(of item: NewItem, for client: Client) throws(VaultError) -> StoredItem {
        try checkEnforceable(item.accessControl, isSynchronizable: item.isSynchronizable)
        if item.isSynchronizable, item.attributes[.tokenID].map({ !$0.isEmpty }) ?? false {
            throw .invalidRequest(reason: "a key of the enclave never leaves it, and cannot be synchronized")
        }
        guard item.itemClass != .identity else {
            throw .unsupported(reason: "an identity is stored as its certificate and its key")
        }
        try checkSize(item.value)
        try check(item.customAttributes ?? [:])
        let group: String
        do {
            group = try AccessPolicy.groupForNewItem(item.accessGroup, client: client)
        } catch {
            throw .accessDenied(error)
        }
        let now = now()
        var stored = StoredItem(
            itemClass: item.itemClass, identifier: UUID(), attributes: item.attributes,
            customAttributes: item.customAttributes ?? [:], accessGroup: group, accessControl: item.accessControl,
            isSynchronizable: item.isSynchronizable, creationDate: now, modificationDate: now, value: item.value)
        stored.expiry = item.expiry ?? .never
        stored.kept = item.kept ?? .vaultDefault
        return stored
    }

    /// Returns the present time, and at least a millisecond after the item's last change, so that changes have an
    /// order.
    private func modificationDate(after item: StoredItem) -> Date {
        max(now(), item.modificationDate.addingTimeInterval(0.001)).nearestStorable
    }

    func check(_ attributes: CustomAttributes) throws(VaultError) {
        if let problem = attributes.problem { throw .invalidRequest(reason: problem) }
    }

    func checkSize(_ value: Data?) throws(VaultError) {
        if let value, value.count > ItemLimits.value {
            throw .valueTooLarge(size: value.count, limit: ItemLimits.value)
        }
    }

    /// Constraints are enforced where an item is read; what this vault has no way to ask for, nobody reads. But a
    /// constraint that cannot leave the machine must not be synchronized.
    func checkEnforceable(_ control: AccessControl, isSynchronizable: Bool) throws(VaultError) {
        if control.flags != nil, isSynchronizable {
            throw .invalidRequest(reason: "an access control cannot be synchronized; leave one of the two out")
        }
    }
}
