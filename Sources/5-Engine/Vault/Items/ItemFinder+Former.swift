import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Finds former versions of items, and deleted items.
extension ItemFinder {
    /// How many deleted items a served call visits before it lets others go first.
    private static let mostDeletedVisited = 1_000

    /// The digests of the groups of the request; nil for all.
    private var groups: [Int64]? { keybag.groupDigests(in: authorization.scope) }

    /// Returns the rows of the former versions of an item, the oldest first.
    ///
    /// - Parameter version: The only version that is wanted; nil for all.
    func formerRows(
        of rowID: Int64, version: Int64? = nil, includingCiphertext: Bool = false
    ) throws -> [FormerRow] {
        try reader.formerRows(of: rowID, version: version, in: groups, includingCiphertext: includingCiphertext)
    }

    /// Returns the last version of each of the deleted items that `query` finds, as many as one transaction of a served
    /// call may hold, and where to go on.
    ///
    /// Opens no row if digests alone decide.
    func deletedRows(
        _ query: ItemQuery, after start: DeletedPosition = .start
    ) throws -> (rows: [FormerRow], next: DeletedPosition?) {
        let plan = try SearchPlan(query, authorization: authorization, keybag: keybag)
        let filter = filter(of: query)
        guard !filter.needsValue else {
            throw VaultError.unsupported(reason: "deleted items are not searched by what is in their values")
        }
        var found: [FormerRow] = []
        var visited = 0
        let next = try reader.forEachDeleted(plan.search, after: start) {
            visited += 1
            return CurrentCall.served == nil || visited < Self.mostDeletedVisited
        } _: { former in
            if try !plan.needsOpenedAttributes || accepts(former.row, plan, filter) { found.append(former) }
            return CurrentCall.served == nil || found.count < Self.mostDeletedVisited
        }
        return (found, next)
    }

    /// Returns the item in a row as it was, if the operation may see it.
    ///
    /// - Throws: What reading the present item throws: ``VaultError/interactionNotAllowed(reason:)`` if its class is
    ///   locked, and what the check of a person throws.
    func opened(_ row: ItemRow, _ query: ItemQuery, includingValue: Bool) throws -> StoredItem? {
        guard keybag.keys.hasKey(for: row.binding.protection) else { return nil }
        var item = try keybag.openMetadata(of: row)
        if includingValue, !query.includesExpired, let end = item.expiry.date, end <= now {
            noteExpired(end)
            return nil
        }
        let control = item.accessControl
        if control.isConstrained {
            guard try permits(item, in: row, query) else { return nil }
            if !includingValue { try keybag.checkFactors(of: row, accessControl: control, presence) }
        }
        if includingValue { item.value = try keybag.openValue(of: row, accessControl: control, presence) }
        return item
    }

    func opened(_ former: FormerRow, _ query: ItemQuery) throws -> ItemVersion? {
        guard let item = try opened(former.row, query, includingValue: false) else { return nil }
        return ItemVersion(
            item: item, change: former.row.change, ended: former.ended, isDeleted: former.isDeleted)
    }
}
