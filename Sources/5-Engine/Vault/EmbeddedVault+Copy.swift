import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

extension EmbeddedVault {
    package func perform(
        _ operation: CopyItems, as client: Client, send: (CopyItems.Part) throws(VaultError) -> Void
    ) throws(VaultError) {
        let (query, includingValues) = (operation.query, operation.includingValues)
        let found = try gated(
            AccessRequest(.copy, query), as: client, asking: query.authentication,
            recordedAs: includingValues ? .read : .listed, items: \.count
        ) { authorization, presence in
            var reports: [CopyItems.Part] = []
            let found = try reading(for: authorization) { reader, keybag in
                // A reading that is repeated reports everything again.
                reports = []
                if query.itemClass == .identity {
                    return try identities(
                        query, authorization, presence, includingValues: includingValues, in: reader, keybag
                    ) { reports.append($0) }
                }
                return try items(
                    query, authorization, presence, includingValues: includingValues, in: reader, keybag
                ) { reports.append($0) }.map(\.item)
            }
            // Reports are sent even if the search finds no item.
            for report in reports { try send(report) }
            guard !found.isEmpty else { throw VaultError.itemNotFound }
            return found
        }
        for item in found { try send(.item(item)) }
    }

    /// A row and the item in it.
    struct Found {
        var row: ItemRow
        var item: StoredItem
    }

    /// Returns the items that `query` finds, opened. Asks for a person if an item needs one.
    func items(
        _ query: ItemQuery, _ authorization: Authorization, _ presence: PresenceCheck, includingValues: Bool,
        in reader: ItemStore.Reader, _ keybag: OpenedKeybag, report: @escaping (CopyItems.Part) -> Void = { _ in }
    ) throws -> [Found] {
        if query.limit == 0 { return [] }
        var plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        if query.reports.contains(.damage) {
            plan.search.reportMalformed = { report(.damage(reason: VaultError($0).description)) }
        }
        if query.reports.contains(.withheld) { plan.reportWithheld = { report(.withheld($0)) } }
        let filter = filterEvaluator(for: query, authorization, in: reader, keybag)
        var found: [Found] = []
        try reader.forEach(plan.search, includingCiphertext: includingValues || filter.needsValue) { row in
            do {
                if let match = try self.match(
                    row, plan, filter, presence, includingValues: includingValues, keybag)
                {
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
        _ row: ItemRow, _ plan: SearchPlan, _ filter: ItemFilterEvaluator, _ presence: PresenceCheck,
        includingValues: Bool, _ keybag: OpenedKeybag
    ) throws -> Found? {
        // The key of the class was destroyed with the passcode, and the items with it.
        guard keybag.keys.hasKey(for: row.binding.protection) else { return nil }
        var item = try keybag.openMetadata(of: row)
        guard plan.accepts(item) else { return nil }
        let control = item.accessControl
        // Only a client that may see a guarded value may have a condition on it.
        if control.isConstrained, filter.needsValue, try !permits(item, in: row, presence, plan, keybag) { return nil }
        let value = filter.needsValue ? try keybag.openValue(of: row, accessControl: control, presence) : nil
        guard try filter.accepts(item, value: value) else { return nil }
        guard control.isConstrained else {
            if includingValues { item.value = try keybag.openValue(of: row, accessControl: control, presence) }
            return Found(row: row, item: item)
        }
        guard try permits(item, in: row, presence, plan, keybag) else { return nil }
        if includingValues {
            item.value = try keybag.openValue(of: row, accessControl: control, presence)
        } else {
            try keybag.checkFactors(of: row, accessControl: control, presence)
        }
        return Found(row: row, item: item)
    }

    private func permits(
        _ item: StoredItem, in row: ItemRow, _ presence: PresenceCheck, _ plan: SearchPlan, _ keybag: OpenedKeybag
    ) throws -> Bool {
        if try keybag.permits(item, in: row, presence) { return true }
        plan.reportWithheld?(WithheldItem(item))
        return false
    }

    /// Returns the evaluator of the filters of `query`. It looks up issuers among the certificates that the client may
    /// see.
    func filterEvaluator(
        for query: ItemQuery, _ authorization: Authorization, in reader: ItemStore.Reader, _ keybag: OpenedKeybag
    ) -> ItemFilterEvaluator {
        ItemFilterEvaluator(
            query,
            issuers: IssuerChain { subject in
                let issuers = ItemQuery(
                    itemClass: .certificate, attributes: [.subject: .data(subject)], synchronizable: .any)
                return try self.items(
                    issuers, authorization, PresenceCheck.waived, includingValues: true, in: reader,
                    keybag
                )
                .compactMap(\.item.value)
            })
    }
}
