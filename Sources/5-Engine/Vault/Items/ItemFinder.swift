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
    private let reader: ItemStore.Reader
    private let keybag: OpenedKeybag
    private let authorization: Authorization
    private let presence: PresenceCheck
    private let report: (CopyItems.Part) -> Void

    /// - Parameters:
    ///   - presence: What an item that needs more than its class key is opened with. Asks for a person if an item needs
    ///     one.
    ///   - report: Takes what a query asks to be told besides; see ``SearchReports``.
    init(
        _ reader: ItemStore.Reader, _ keybag: OpenedKeybag, _ authorization: Authorization, _ presence: PresenceCheck,
        report: @escaping (CopyItems.Part) -> Void = { _ in }
    ) {
        self.reader = reader
        self.keybag = keybag
        self.authorization = authorization
        self.presence = presence
        self.report = report
    }

    /// Returns the items that `query` finds, opened.
    func items(_ query: ItemQuery, includingValues: Bool) throws -> [FoundItem] {
        if query.limit == 0 { return [] }
        let plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        let filter = filter(of: query)
        var found: [FoundItem] = []
        try reader.forEach(
            plan.search, includingCiphertext: includingValues || filter.needsValue,
            malformed: { error in
                guard query.reports.contains(.damage) else { throw error }
                report(.damage(reason: VaultError(error).description))
            }
        ) { row in
            do {
                if let match = try match(row, query, plan, filter, includingValues: includingValues) {
                    found.append(match)
                }
            } catch let error as VaultError {
                guard case .corruptItem = error, query.reports.contains(.damage) else { throw error }
                report(.damage(reason: error.description))
            }
            return query.limit.map { found.count < $0 } ?? true
        }
        return found
    }

    /// Returns the item in `row` if the search looks for it.
    private func match(
        _ row: ItemRow, _ query: ItemQuery, _ plan: SearchPlan, _ filter: ItemFilterEvaluator, includingValues: Bool
    ) throws -> FoundItem? {
        // The key of the class was destroyed with the passcode, and the items with it.
        guard keybag.keys.hasKey(for: row.binding.protection) else { return nil }
        var item = try keybag.openMetadata(of: row)
        guard plan.accepts(item) else { return nil }
        let control = item.accessControl
        // Only a client that may see a guarded value may have a condition on it.
        if control.isConstrained, filter.needsValue, try !permits(item, in: row, query) { return nil }
        let value = filter.needsValue ? try keybag.openValue(of: row, accessControl: control, presence) : nil
        guard try filter.accepts(item, value: value) else { return nil }
        guard control.isConstrained else {
            if includingValues { item.value = try keybag.openValue(of: row, accessControl: control, presence) }
            return FoundItem(row: row, item: item)
        }
        guard try permits(item, in: row, query) else { return nil }
        if includingValues {
            item.value = try keybag.openValue(of: row, accessControl: control, presence)
        } else {
            try keybag.checkFactors(of: row, accessControl: control, presence)
        }
        return FoundItem(row: row, item: item)
    }

    private func permits(_ item: StoredItem, in row: ItemRow, _ query: ItemQuery) throws -> Bool {
        if try keybag.permits(item, in: row, presence) { return true }
        if query.reports.contains(.withheld) { report(.withheld(WithheldItem(item))) }
        return false
    }

    /// Returns the rows that `query` finds.
    ///
    /// Opens no row if digests alone decide which items are meant. So locked and damaged items can be deleted too.
    func rows(_ query: ItemQuery) throws -> [ItemRow] {
        let plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        let rows = try reader.rows(plan.search, includingCiphertext: plan.needsOpenedAttributes)
        guard plan.needsOpenedAttributes else { return rows }
        let filter = filter(of: query)
        return try rows.filter { row in
            let item = try keybag.openMetadata(of: row)
            guard plan.accepts(item) else { return false }
            let value =
                filter.needsValue ? try keybag.openValue(of: row, accessControl: item.accessControl, presence) : nil
            return try filter.accepts(item, value: value)
        }
    }

    /// Returns the evaluator of the filters of `query`. It looks up issuers among the certificates that the client may
    /// see.
    private func filter(of query: ItemQuery) -> ItemFilterEvaluator {
        ItemFilterEvaluator(
            query,
            issuers: IssuerChain { subject in
                let issuers = ItemQuery(
                    itemClass: .certificate, attributes: [.subject: .data(subject)], synchronizable: .any)
                return try ItemFinder(reader, keybag, authorization, .waived)
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
