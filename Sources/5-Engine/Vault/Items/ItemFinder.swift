import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// A row and the item in it.
struct FoundItem {
    var row: ItemRow
    var item: StoredItem
}

/// Finds and opens items, during one read or one transaction.
struct ItemFinder {
    let reader: ItemStore.Reader
    let keybag: OpenedKeybag
    let authorization: Authorization
    let presence: PresenceCheck
    let now: Date
    let report: (CopyItems.Part) -> Void
    /// Takes when an item expired whose value is left out.
    let noteExpired: (Date) -> Void
    /// How many bytes of values this may collect, and how many items; nil in a program that has the vault to itself.
    private let limits = CurrentCall.served.map {
        (bytes: $0.room, most: $0.largestRoom, rows: $0.rows, items: Self.mostItems)
    }

    /// The most items that a served call collects at once, so that no transaction keeps others waiting for long.
    private static let mostItems = 1_000

    /// - Parameters:
    ///   - presence: What an item that needs more than its class key is opened with. Asks for a person if an item needs
    ///     one.
    ///   - report: Takes what a query asks to be told besides; see ``SearchReports``.
    init(
        _ reader: ItemStore.Reader, _ keybag: OpenedKeybag, _ authorization: Authorization, _ presence: PresenceCheck,
        now: Date, report: @escaping (CopyItems.Part) -> Void = { _ in },
        noteExpired: @escaping (Date) -> Void = { _ in }
    ) {
        self.reader = reader
        self.keybag = keybag
        self.authorization = authorization
        self.presence = presence
        self.now = now
        self.report = report
        self.noteExpired = noteExpired
    }

    /// How many bytes of values a served call sends at a time, once its answer turns out to be long.
    static let longSlice = 1 << 20

    /// Returns the next of the items that `operation` sends.
    ///
    /// - Parameter sent: How many it has sent.
    func slice(
        _ operation: CopyItems, after start: SearchPosition, sent: Int
    ) throws -> (items: [StoredItem], next: SearchPosition?, needed: Int) {
        var query = operation.query
        query.limit = query.limit.map { $0 - sent }
        if query.itemClass == .identity { return (try identities(query), nil, 0) }
        let slice = try slice(query, after: start, includingValues: operation.includingValues) { $1 }
        return (slice.items, slice.next, slice.needed)
    }

    /// After how many rows a served call breathes: some 100 µs.
    static let breath = 16

    /// Some of the items that a query finds.
    struct Slice<Found> {
        var items: [Found]
        /// Where the next slice begins; nil after the last item.
        var next: SearchPosition?
        /// How many bytes of values the next slice needs room for, at least.
        var needed = 0
    }

    /// Returns all items that `query` finds, opened.
    ///
    /// - Throws: ``PresenceCheck/Need/room(_:)``, and ``VaultError/invalidRequest(reason:)`` for more than a served
    ///   call may collect.
    func items(_ query: ItemQuery, includingValues: Bool) throws -> [FoundItem] {
        let slice = try slice(query, after: .start, includingValues: includingValues, isWhole: true) {
            FoundItem(row: $0, item: $1)
        }
        if slice.next == nil || query.limit.map({ slice.items.count >= $0 }) ?? false { return slice.items }
        // Only a served call has less than everything in a slice.
        guard let limits, slice.items.count <= limits.items, limits.bytes < limits.most, slice.needed <= limits.most
        else {
            throw VaultError.invalidRequest(
                reason: "this takes more than \(Self.mostItems) items, or more than "
                    + "\((limits?.most ?? 0) >> 20) MiB of values, at once; name fewer")
        }
        // More than it has, also where attributes alone filled the room.
        throw PresenceCheck.Need.room(limits.bytes + max(1, slice.needed))
    }

    /// Returns the next of the items that `query` finds, opened: as many as there is room for.
    ///
    /// In a program that has the vault to itself, these are all.
    ///
    /// - Parameters:
    ///   - isWhole: Whether the search goes on however many rows do not match.
    ///   - keep: Returns what is kept of a row and the item in it.
    func slice<Found>(
        _ query: ItemQuery, after start: SearchPosition, includingValues: Bool, isWhole: Bool = false,
        _ keep: (ItemRow, StoredItem) -> Found
    ) throws -> Slice<Found> {
        if query.limit == 0 { return Slice(items: []) }
        let plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        let filter = filter(of: query)
        var found: [Found] = []
        var (bytes, rows, needed) = (0, 0, 0)
        let served = CurrentCall.served
        let next = try reader.forEach(
            plan.search, after: start, includingCiphertext: includingValues || filter.needsValue,
            admits: { size in
                guard let limits else { return true }
                // A large value gets a slice of its own. What is too large for any room is damage.
                let fits =
                    bytes + size <= (isWhole ? limits.bytes : min(limits.bytes, Self.longSlice))
                    || bytes == 0 && size <= limits.bytes || size > limits.most
                needed = fits ? 0 : size
                return fits
            },
            malformed: { error in
                guard query.reports.contains(.damage) else { throw error }
                report(.damage(reason: VaultError(error).description))
            }
        ) { row in
            rows += 1
            if rows.isMultiple(of: Self.breath) { try served?.breathe() }
            do {
                if let item = try match(row, query, plan, filter, includingValues: includingValues) {
                    found.append(keep(row, item))
                    bytes += row.metadata.count + (row.value.ciphertext?.count ?? 0)
                }
            } catch let error as VaultError {
                guard case .corruptItem = error, query.reports.contains(.damage) else { throw error }
                report(.damage(reason: error.description))
            }
            if let limits {
                let isFull = isWhole ? found.count > limits.items : rows >= limits.rows
                if isFull || bytes >= limits.bytes { return false }
            }
            return query.limit.map { found.count < $0 } ?? true
        }
        if next == nil { try plan.checkOverlooked(query, found: found.count, reader) }
        return Slice(items: found, next: next, needed: needed)
    }

    /// Returns the item in `row` if the search looks for it.
    private func match(
        _ row: ItemRow, _ query: ItemQuery, _ plan: SearchPlan, _ filter: ItemFilterEvaluator, includingValues: Bool
    ) throws -> StoredItem? {
        // The key of the class was destroyed with the passcode, and the items with it.
        guard keybag.keys.hasKey(for: row.binding.protection) else { return nil }
        if query.reports.contains(.locked), (try? keybag.keys.checkAvailable(row.binding.protection)) == nil {
            report(.locked(row.binding.identifier))
            return nil
        }
        var item = try keybag.openMetadata(of: row)
        guard plan.accepts(item) else { return nil }
        if includingValues, !query.includesExpired, let end = item.expiry.date, end <= now {
            noteExpired(end)
            if query.reports.contains(.expired) { report(.expired(item)) }
            return nil
        }
        let control = item.accessControl
        // Only a client that may see a guarded value may have a condition on it.
        if control.isConstrained, filter.needsValue, try !permits(item, in: row, query) { return nil }
        let value = filter.needsValue ? try keybag.openValue(of: row, accessControl: control, presence) : nil
        guard try filter.accepts(item, value: value) else { return nil }
        guard control.isConstrained else {
            if includingValues { item.value = try keybag.openValue(of: row, accessControl: control, presence) }
            return item
        }
        guard try permits(item, in: row, query) else { return nil }
        if includingValues {
            item.value = try keybag.openValue(of: row, accessControl: control, presence)
        } else {
            try keybag.checkFactors(of: row, accessControl: control, presence)
        }
        return item
    }

    func permits(_ item: StoredItem, in row: ItemRow, _ query: ItemQuery) throws -> Bool {
        if try keybag.permits(item, in: row, presence) { return true }
        if query.reports.contains(.guarded), authorization.client.accessGroups.contains(Client.everyGroup) {
            report(.guarded(item))
        } else if !query.reports.isDisjoint(with: [.withheld, .guarded]) {
            report(.withheld(WithheldItem(item)))
        }
        return false
    }

    /// Returns the rows that `query` finds.
    ///
    /// Opens no row if digests alone decide which items are meant. So locked and damaged items can be deleted too.
    ///
    /// - Returns: As many as one transaction of a served call may visit, and where to go on.
    func rows(_ query: ItemQuery, after start: SearchPosition) throws -> (rows: [ItemRow], next: SearchPosition?) {
        let plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        let filter = filter(of: query)
        var found: [ItemRow] = []
        var visited = 0
        let next = try reader.forEach(plan.search, after: start, includingCiphertext: filter.needsValue) { row in
            visited += 1
            if try !plan.needsOpenedAttributes || accepts(row, plan, filter) {
                // Nobody needs the value any more.
                let value = SealedValue(seal: row.value.seal, ciphertext: nil)
                found.append(ItemRow(binding: row.binding, metadata: row.metadata, value: value))
            }
            return visited < limits?.items ?? .max
        }
        if next == nil { try plan.checkOverlooked(query, found: found.count, reader) }
        return (found, next)
    }

    func accepts(_ row: ItemRow, _ plan: SearchPlan, _ filter: ItemFilterEvaluator) throws -> Bool {
        let item = try keybag.openMetadata(of: row)
        guard plan.accepts(item) else { return false }
        let value =
            filter.needsValue ? try keybag.openValue(of: row, accessControl: item.accessControl, presence) : nil
        return try filter.accepts(item, value: value)
    }

    /// Returns the evaluator of the filters of `query`. It looks up issuers among the certificates that the client may
    /// see.
    func filter(of query: ItemQuery) -> ItemFilterEvaluator {
        ItemFilterEvaluator(
            query,
            issuers: IssuerChain { subject in
                let issuers = ItemQuery(
                    itemClass: .certificate, attributes: [.subject: .data(subject)], synchronizable: .any)
                return try ItemFinder(reader, keybag, authorization, .waived, now: now)
                    .items(issuers, includingValues: true).compactMap(\.item.value)
            })
    }

    // MARK: Identities

    /// An identity: a certificate, and a private key with the same public key.
    struct Pair {
        var certificate: FoundItem
        var key: FoundItem
    }

    /// Returns the identities that `query` finds.
    func identities(_ query: ItemQuery) throws -> [StoredItem] {
        if query.limit == 0 { return [] }
        let pairs = try pairs(query)
        return pairs.prefix(query.limit ?? pairs.count).map { pair in
            var identity = pair.certificate.item
            identity.itemClass = .identity
            identity.attributes = pair.key.item.attributes.merging(pair.certificate.item.attributes) { $1 }
            identity.identityKey = .init(
                identifier: pair.key.item.identifier, attributes: pair.key.item.attributes,
                value: pair.key.item.value)
            return identity
        }
    }

    /// Returns the halves of the identities that `query` finds, with their values.
    func pairs(_ query: ItemQuery) throws -> [Pair] {
        // If certificate and key both have an attribute, the identity has the certificate's value.
        let certificateSchema = ItemClass.certificate.schema
        var certificateQuery = query
        certificateQuery.itemClass = .certificate
        certificateQuery.limit = nil
        certificateQuery.attributes = query.attributes.filter { certificateSchema[$0.key] != nil }
        let keyAttributes = query.attributes.filter { certificateSchema[$0.key] == nil }

        var pairs: [Pair] = []
        for certificate in try items(certificateQuery, includingValues: true) {
            guard let hash = certificate.item.attributes[.publicKeyHash] else { continue }
            var keyQuery = ItemQuery(itemClass: .key, attributes: keyAttributes, authentication: query.authentication)
            keyQuery.attributes[.applicationLabel] = hash
            keyQuery.attributes[.isPrivate] = .number(1)
            keyQuery.accessGroup = query.accessGroup
            keyQuery.synchronizable = query.synchronizable
            for key in try items(keyQuery, includingValues: true) {
                pairs.append(Pair(certificate: certificate, key: key))
            }
        }
        return pairs
    }

    /// Returns the certificates for the public key with this hash.
    func certificates(withKeyHash hash: AttributeValue) throws -> [FoundItem] {
        try items(
            ItemQuery(itemClass: .certificate, attributes: [.publicKeyHash: hash], synchronizable: .any),
            includingValues: false)
    }
}
