import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel

extension EmbeddedVault {
    package func delete(_ query: ItemQuery, as client: Client) throws(VaultError) -> Int {
        let authorization = try authorize(.delete, query, client)
        if query.itemClass == .identity {
            let referrers = try authorize(
                VaultOperation(.copy, itemClass: .certificate, namesItems: query.namesItems), client)
            return try recording(.deleted, of: authorization, items: { $0 }) { () throws(VaultError) in
                try performing(query.authentication, as: client) { _ in
                    try self.deleteIdentities(query, authorization, referrers: referrers)
                }
            }
        }
        return try recording(.deleted, of: authorization, items: { $0 }) { () throws(VaultError) in
            try performing(query.authentication, as: client) { _ in
                try self.deleteItems(query, authorization)
            }
        }
    }

    private func deleteItems(_ query: ItemQuery, _ authorization: Authorization) throws -> Int {
        try writing { writer, keybag in
            let rows = try self.rowsToDelete(query, authorization, in: writer.reader, keybag)
            guard !rows.isEmpty else { throw VaultError.itemNotFound }
            for row in rows {
                try self.remove(row, opened: try? keybag.openMetadata(of: row), in: writer, keybag)
            }
            return rows.count
        }
    }

    /// Deletion needs no key where digests decide what is meant, so that locked and damaged items can
    /// be deleted too.
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
