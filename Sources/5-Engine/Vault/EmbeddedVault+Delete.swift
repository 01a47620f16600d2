import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

extension EmbeddedVault {
    package func perform(_ operation: DeleteItems, as client: Client) throws(VaultError) -> Int {
        let query = operation.query
        let authorization = try authorize(AccessRequest(.delete, query), as: client, recordedAs: .deleted)
        var referrers: Authorization?
        if query.itemClass == .identity {
            referrers = try authorize(
                AccessRequest(.copy, itemClass: .certificate, namesItems: query.namesItems), as: client,
                recordedAs: .listed)
        }
        return try performing(authorization, asking: query.authentication, items: { $0 }) { _ in
            if let referrers { return try deleteIdentities(query, authorization, referrers: referrers) }
            return try writing(for: authorization) { writer, keybag in
                let rows = try rowsToDelete(query, authorization, in: writer.reader, keybag)
                guard !rows.isEmpty else { throw VaultError.itemNotFound }
                for row in rows {
                    try remove(row, opened: try? keybag.openMetadata(of: row), in: writer, keybag)
                }
                return rows.count
            }
        }
    }

    /// Deletion needs no key if digests alone decide which items are meant. So locked and damaged items can be deleted
    /// too.
    func rowsToDelete(
        _ query: ItemQuery, _ authorization: Authorization, in reader: ItemStore.Reader,
        _ keybag: OpenedKeybag
    ) throws -> [ItemRow] {
        let plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        let rows = try reader.rows(plan.search, includingCiphertext: plan.needsOpenedAttributes)
        guard plan.needsOpenedAttributes else { return rows }
        let filter = filterEvaluator(for: query, authorization, in: reader, keybag)
        return try rows.filter { row in
            let item = try keybag.openMetadata(of: row)
            guard plan.accepts(item) else { return false }
            let value =
                filter.needsValue ? try keybag.openValue(of: row, accessControl: item.accessControl, .waived) : nil
            return try filter.accepts(item, value: value)
        }
    }
}
