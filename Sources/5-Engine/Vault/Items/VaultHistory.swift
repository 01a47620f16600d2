import Access
import FoundationEssentials
import Items
import KeychainModel
import Sealing
import VaultInterface

/// Tells what changed in the vault, and shows, brings back and removes former versions of items.
struct VaultHistory: HistoryKeeping {
    let vault: OpenedVault
    let gate: VaultGate
    let items: VaultItems
    let now: @Sendable () -> Date

    // MARK: Changes

    func changes(
        _ operation: ChangesSince, as client: Client, send: Sink<ChangedItem>
    ) throws(VaultError) -> KnownChanges {
        let number = operation.number
        let authorization = try gate.authorize(
            AccessRequest(.copy, namesItems: false), as: client, recordedAs: .listed)
        return try gate.run(authorization) {
            let known = try known(since: number, authorization)
            guard known.isComplete else { return known }
            var next: ChangePosition? = .start
            while let start = next {
                var found: [ChangedItem] = []
                next = try vault.reading(for: authorization) { reader, keybag in
                    found = []
                    return try reader.forEachChange(
                        since: number, through: known.next, in: keybag.groupDigests(in: authorization.scope),
                        after: start
                    ) {
                        found.append($0)
                        return found.count < min(Self.slice, CurrentCall.served?.rows ?? .max)
                    }
                }
                for item in found { try send(item) }
                if next != nil { try CurrentCall.served?.giveWay() }
            }
            // What changed meanwhile has a higher number. Only a deletion that was dropped meanwhile would be missed.
            let isComplete = try self.known(since: number, authorization).isComplete
            return KnownChanges(next: known.next, isComplete: isComplete)
        }
    }

    /// How many changes are read, or versions removed, at a time.
    private static let slice = 1_000

    private func known(since number: Int64, _ authorization: Authorization) throws -> KnownChanges {
        try vault.reading(for: authorization) { reader, keybag in
            try reader.knownChanges(since: number, in: keybag.groupDigests(in: authorization.scope))
        }
    }

    // MARK: Looking

    func versions(
        _ operation: CopyVersions, as client: Client, send sendVersion: (ItemVersion) throws(VaultError) -> Void
    ) throws(VaultError) {
        let query = operation.query
        let authorization = try gate.authorize(items.request(.copy, query), as: client, recordedAs: .listed)
        try checkClass(query)
        var digests: [UInt64] = []
        _ = try gate.run(
            authorization, asking: query.authentication, items: { $0 }, digests: { digests }
        ) { presence in
            var sent = 0
            func send(_ versions: [ItemVersion]) throws {
                items.note(versions.map(\.item), in: &digests)
                for version in versions { try sendVersion(version) }
                sent += versions.count
            }
            var (live, deleted) = (SearchPosition?.some(.start), DeletedPosition?.some(.start))
            while live != nil || deleted != nil {
                let (liveStart, deletedStart) = (live, deleted)
                // The rows of the items, and their present versions.
                let found: [(row: Int64, present: ItemVersion?)]
                var needed = 0
                (found, live, deleted) = try vault.reading(for: authorization) { reader, keybag in
                    let finder = ItemFinder(reader, keybag, authorization, presence, now: now())
                    if let start = liveStart {
                        let slice = try finder.slice(query, after: start, includingValues: false) {
                            FoundItem(row: $0, item: $1)
                        }
                        let found = slice.items.map { ($0.row.binding.rowID, Optional(Self.present($0))) }
                        needed = slice.needed
                        return (found, slice.next, deletedStart)
                    }
                    guard let start = deletedStart else { return ([], nil, nil) }
                    let (rows, next) = try finder.deletedRows(query, after: start)
                    return (rows.map { ($0.row.binding.rowID, nil) }, nil, next)
                }
                for item in found {
                    if let present = item.present { try send([present]) }
                    var next = Int64?.some(.max)
                    while let last = next {
                        let slice = try vault.reading(for: authorization) { reader, keybag in
                            try ItemFinder(reader, keybag, authorization, presence, now: now())
                                .versions(of: item.row, from: last, query)
                        }
                        try send(slice.versions)
                        next = slice.next
                        if next != nil { try CurrentCall.served?.giveWay() }
                    }
                }
                if live != nil || deleted != nil { try CurrentCall.served?.makeRoom(for: needed) }
            }
            guard sent > 0 else { throw VaultError.itemNotFound }
            return sent
        }
    }

    private static func present(_ found: FoundItem) -> ItemVersion {
        ItemVersion(item: found.item, change: found.row.change, ended: nil, isDeleted: false)
    }

    func version(_ operation: CopyVersion, as client: Client) throws(VaultError) -> StoredItem {
        let (query, version) = (operation.query, operation.version)
        let authorization = try gate.authorize(items.request(.copy, query), as: client, recordedAs: .read)
        try checkClass(query)
        var digests: [UInt64] = []
        return try gate.run(
            authorization, asking: query.authentication, items: { _ in 1 }, digests: { digests }
        ) { presence in
            let item = try vault.reading(for: authorization) { reader, keybag in
                var expired: Date?
                let finder = ItemFinder(
                    reader, keybag, authorization, presence, now: now(), noteExpired: { expired = $0 })
                var item: StoredItem?
                switch try place(of: version, query, finder) {
                case .present:
                    item = try finder.items(query, includingValues: true).first { $0.item.version == version }?.item
                case .former(let former, _):
                    try makeRoom(for: former)
                    let whole = try finder.formerRow(
                        of: former.row.binding.rowID, version: former.row.binding.itemVersion,
                        includingCiphertext: true)
                    item = try whole.flatMap { try finder.opened($0.row, query, includingValue: true) }
                case nil: break
                }
                guard let item else { throw expired.map(VaultError.itemExpired) ?? .itemNotFound }
                return item
            }
            items.note([item], in: &digests)
            return item
        }
    }

    /// Has a served call hold a value of any size.
    private func makeRoom(for former: FormerRow) throws {
        guard let call = CurrentCall.served, call.room < call.largestRoom else { return }
        throw PresenceCheck.Need.room(call.largestRoom)
    }

    private func checkClass(_ query: ItemQuery) throws(VaultError) {
        guard query.itemClass == .identity else { return }
        throw .unsupported(reason: "an identity has the versions of its certificate and of its key")
    }

    // MARK: Where a version is

    private enum Place {
        /// It is the present version of the item.
        case present(FoundItem)
        /// The version, without its value, and the live item that it belongs to.
        case former(FormerRow, of: FoundItem?)
    }

    /// Finds a version of the item that `query` finds, or of the item with those attributes that was deleted last.
    ///
    /// - Parameter version: Nil for the last former version, which of a deleted item is the last of all.
    /// - Throws: ``VaultError/invalidRequest(reason:)`` if the query finds several items.
    private func place(of version: Int64?, _ query: ItemQuery, _ finder: ItemFinder) throws -> Place? {
        guard version ?? 1 >= 1 else { return nil }
        var query = query
        query.limit = 2
        query.includesExpired = true
        let live = try finder.items(query, includingValues: false)
        guard live.count < 2 else {
            throw VaultError.invalidRequest(reason: "several items have these attributes; name one of them")
        }
        if let found = live.first {
            if found.item.version == version { return .present(found) }
            if let former = try finder.formerRow(of: found.row.binding.rowID, version: version) {
                return .former(former, of: found)
            }
        }
        var (next, last) = (DeletedPosition?.some(.start), FormerRow?.none)
        while let start = next {
            let (rows, end) = try finder.deletedRows(query, after: start)
            for row in rows where row.ended >= last?.ended ?? .min { last = row }
            next = end
        }
        guard let last else { return nil }
        return try finder.formerRow(of: last.row.binding.rowID, version: version).map { .former($0, of: nil) }
    }

    // MARK: Changing

    func restore(_ operation: RestoreVersion, as client: Client) throws(VaultError) -> StoredItem {
        var item = try restored(operation.query, operation.version, as: client)
        // The client did not ask to see it.
        item.value = nil
        return item
    }

    private func restored(_ query: ItemQuery, _ version: Int64?, as client: Client) throws(VaultError) -> StoredItem {
        let authorization = try gate.authorize(items.request(.update, query), as: client, recordedAs: .written)
        try checkClass(query)
        var digests: [UInt64] = []
        return try gate.run(
            authorization, asking: query.authentication, items: { _ in 1 }, digests: { digests }
        ) { presence in
            let item = try vault.writing(for: authorization) { writer, keybag in
                let finder = ItemFinder(writer.reader, keybag, authorization, presence, now: now())
                let place = try place(of: version, query, finder)
                if case .present = place {
                    throw VaultError.invalidRequest(reason: "this is the present version of the item")
                }
                guard case .former(let former, let live) = place else { throw VaultError.itemNotFound }
                try makeRoom(for: former)
                var query = query
                query.includesExpired = true
                let rowID = former.row.binding.rowID
                guard
                    let whole = try finder.formerRow(
                        of: rowID, version: former.row.binding.itemVersion, includingCiphertext: true),
                    let item = try finder.opened(whole.row, query, includingValue: true)
                else { throw VaultError.itemNotFound }
                let transaction = ItemTransaction(writer, keybag, presence, now)
                guard let live else {
                    let last = try finder.formerRow(of: rowID, version: nil) ?? whole
                    return try transaction.bringBack(item, last: last.row.binding)
                }
                var byIdentifier = query
                byIdentifier.identifier = live.item.identifier
                byIdentifier.limit = 1
                guard let found = try finder.items(byIdentifier, includingValues: true).first else {
                    throw VaultError.itemNotFound
                }
                // A version of a deleted item with the same name is not one of this item.
                guard found.row.binding.rowID == rowID else { throw VaultError.duplicateItem }
                return try transaction.restore(item, insteadOf: found)
            }
            items.note([item], in: &digests)
            return item
        }
    }

    func purge(_ operation: PurgeVersions, as client: Client) throws(VaultError) -> Int {
        let query = operation.query
        let request = query.map { items.request(.purge, $0) } ?? AccessRequest(.purge, namesItems: false)
        let authorization = try gate.authorize(request, as: client, recordedAs: .purged)
        if let query { try checkClass(query) }
        return try gate.run(authorization, asking: query?.authentication ?? .init(), items: { $0 }) { _ in
            var count = 0
            for query in query.map({ [$0] }) ?? ItemClass.stored.map({ ItemQuery(itemClass: $0) }) {
                var query = query
                query.limit = nil
                query.synchronizable = .any
                count += try purgeLive(query, authorization) + purgeDeleted(query, authorization)
            }
            return count
        }
    }

    private func purgeLive(_ query: ItemQuery, _ authorization: Authorization) throws -> Int {
        var (next, count) = (SearchPosition?.some(.start), 0)
        while let start = next {
            let found = try vault.reading(for: authorization) { reader, keybag in
                try ItemFinder(reader, keybag, authorization, .waived, now: now()).rows(query, after: start)
            }
            next = found.next
            count += try purge(found.rows.map(\.binding.rowID), authorization)
        }
        return count
    }

    private func purgeDeleted(_ query: ItemQuery, _ authorization: Authorization) throws -> Int {
        var (next, count) = (DeletedPosition?.some(.start), 0)
        while let start = next {
            let found = try vault.reading(for: authorization) { reader, keybag in
                try ItemFinder(reader, keybag, authorization, .waived, now: now()).deletedRows(query, after: start)
            }
            next = found.next
            count += try purge(found.rows.map(\.row.binding.rowID), authorization)
        }
        return count
    }

    /// Removes the former versions of rows, in transactions that keep others waiting for a short time only.
    private func purge(_ rows: [Int64], _ authorization: Authorization) throws -> Int {
        var (rest, count) = (rows[...], 0)
        while !rest.isEmpty {
            let removed = try vault.writing(for: authorization) { writer, keybag in
                let finder = ItemFinder(writer.reader, keybag, authorization, .waived, now: now())
                var (left, removed) = (rest, 0)
                while let row = left.first, removed < Self.slice {
                    let places = try finder.formerPlaces(of: row, limit: Self.slice - removed)
                    for place in places { try writer.deleteFormer(place) }
                    removed += places.count
                    if removed < Self.slice { left.removeFirst() }
                }
                return (left: left, count: removed)
            }
            rest = removed.left
            count += removed.count
            try CurrentCall.served?.giveWay()
        }
        return count
    }

    func keep(_ operation: KeepVersions, as client: Client) throws(VaultError) -> Int {
        let count = operation.count
        let request = AccessRequest(count == nil ? .status : .update, isAboutWholeVault: true)
        let authorization = try gate.authorize(
            request, as: client, recordedAs: count == nil ? .inspected : .written)
        guard KeptVersions(count).isValid else {
            throw .invalidRequest(reason: "a vault keeps 0 to \(KeptVersions.largest) versions of an item")
        }
        return try gate.run(authorization) {
            guard let count else {
                return try vault.reading(for: authorization) { reader, _ in try reader.defaultKept() }
            }
            try vault.writing(for: authorization) { writer, _ in try writer.setDefaultKept(count) }
            return count
        }
    }
}
