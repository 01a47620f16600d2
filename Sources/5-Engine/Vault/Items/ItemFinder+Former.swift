import Access
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Finds former versions of items, and deleted items.
extension ItemFinder {
    /// How many former versions a served call visits before it lets others go first.
    private static let mostFormerVisited = 1_000

    /// The digests of the groups of the request; nil for all.
    private var groups: [Int64]? { keybag.groupDigests(in: authorization.scope) }

    /// Returns a former version of an item.
    ///
    /// - Parameter version: Nil for the last.
    func formerRow(of rowID: Int64, version: Int64?, includingCiphertext: Bool = false) throws -> FormerRow? {
        if let version {
            return try reader.formerRow(
                of: rowID, version: version, in: groups, includingCiphertext: includingCiphertext)
        }
        var last: FormerRow?
        try reader.forEachFormer(of: rowID, in: groups) {
            last = $0
            return false
        }
        return last
    }

    /// Returns former versions of an item that the operation may see, the newest first: as many as one slice may have.
    ///
    /// - Parameter last: The stored version to begin with.
    /// - Returns: The versions, and the stored version with which to go on; nil after the last.
    func versions(
        of rowID: Int64, from last: Int64, _ query: ItemQuery
    ) throws -> (versions: [ItemVersion], next: Int64?) {
        var (versions, next, bytes, rows) = ([ItemVersion](), Int64?.none, 0, 0)
        try reader.forEachFormer(of: rowID, from: last, in: groups) { former in
            if CurrentCall.served != nil, bytes >= Self.longSlice || rows >= Self.mostFormerVisited {
                next = former.row.binding.version
                return false
            }
            (bytes, rows) = (bytes + former.row.metadata.count, rows + 1)
            if let version = try opened(former, query) { versions.append(version) }
            return true
        }
        return (versions, next)
    }

    /// Returns where former versions of an item are, at most `limit`.
    func formerPlaces(of rowID: Int64, limit: Int) throws -> [FormerPlace] {
        try reader.formerPlaces(of: rowID, in: groups, limit: limit)
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
        var (visited, bytes) = (0, 0)
        let next = try reader.forEachDeleted(plan.search, after: start) {
            visited += 1
            return CurrentCall.served == nil || visited < Self.mostFormerVisited
        } _: { former in
            if try !plan.needsOpenedAttributes || accepts(former.row, plan, filter) {
                found.append(former)
                bytes += former.row.metadata.count
            }
            return CurrentCall.served == nil || bytes < Self.longSlice
        }
        if next == nil { try plan.checkOverlookedDeleted(query, reader) }
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
            item: item, change: former.row.change, ended: former.ended, isDeleted: former.end == .deleted,
            isOverruled: former.end == .overruled)
    }
}
