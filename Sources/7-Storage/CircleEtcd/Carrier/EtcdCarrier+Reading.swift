#if HTTPClientSupport
import Bytes
import Foundation
import VaultInterface

extension EtcdCarrier {
    /// Reads what changed in all areas, and in a large circle, whose heads are not watched, these as well.
    func catchUpAll(_ areas: [EtcdKeys.Area]) async throws {
        for area in areas { try await catchUp(area) }
        caughtUp = areas.map { place.revisions[$0.begin] ?? 0 }.min() ?? 0
        guard report.standing == .member, let common = areas.first, let keys = keys(of: common),
            common.end == keys.heads.begin
        else { return }
        try await catchUp(keys.heads)
    }

    /// Reads what changed in an area since it was read last: only the changed keys, even after a compaction.
    func catchUp(_ area: EtcdKeys.Area) async throws {
        guard let keys = keys(of: area) else { return }
        while true {
            do {
                return try await readPages(area, keys)
            } catch EtcdError.compacted {
                // The pages are of one revision, and it was compacted meanwhile.
            }
        }
    }

    private func keys(of area: EtcdKeys.Area) -> EtcdKeys? { EtcdKeys.circle(in: area.begin).map(EtcdKeys.init) }

    private func readPages(_ area: EtcdKeys.Area, _ keys: EtcdKeys) async throws {
        let known = place.revisions[area.begin] ?? 0
        var range = EtcdRange(
            key: area.begin, range_end: area.end, min_mod_revision: known > 0 ? EtcdNumber(known + 1) : nil)
        var (page, limit) = try await readPage(range, limit: Self.page)
        let revision = page.header?.number ?? 0
        range.revision = EtcdNumber(revision)
        while page.more == true, let last = page.kvs?.last {
            hear()
            range.key = try await next(last, after: range.key)
            let (rest, most) = (range, limit)
            // The next page comes while the vault takes this one.
            async let following = readPage(rest, limit: most)
            try await apply(page.kvs ?? [], keys)
            (page, limit) = try await following
        }
        hear()
        let reached = [area.begin: max(known, revision)]
        let entries = page.kvs ?? []
        // Without anything new, the place is stored with what comes next.
        if entries.isEmpty, known > 0 { return place.reach(reached) }
        try await apply(entries, keys, reached: reached)
    }

    /// Reads a page of at most `limit` keys, and of fewer if the answer is too long: of items of half a mebibyte each,
    /// which the gateway writes in base64.
    func readPage(_ range: EtcdRange, limit: Int64) async throws -> (page: EtcdRange.Reply, limit: Int64) {
        var limited = range
        limited.limit = EtcdNumber(limit)
        let failure: any Error
        do { return (try await gateway.range(limited), limit) } catch { failure = error }
        guard case EtcdError.tooLong = failure, limit > Self.leastPage else { throw failure }
        return try await readPage(range, limit: max(Self.leastPage, limit / 8))
    }

    /// The first key of the next page.
    ///
    /// - Throws: ``EtcdError/malformed(endpoint:reason:)`` for a page that is not behind the one before: it would never
    ///   end.
    func next(_ last: EtcdEntry, after from: Data) async throws -> Data {
        guard !last.key.lexicographicallyPrecedes(from) else {
            throw EtcdError.malformed(endpoint: await gateway.endpoint, reason: "a page that was not asked for")
        }
        return last.key + [0]
    }

    /// Gives objects to the vault.
    ///
    /// While the vault takes them, ``push()`` may tell the vault of the place. So the place says only afterwards that
    /// they were read: a carrier that ends meanwhile reads them again.
    ///
    /// - Parameter reached: How far each area is read once they are taken; nil if more comes before that.
    func apply(_ entries: [EtcdEntry], _ keys: EtcdKeys, reached: [Data: Int64]? = nil) async throws {
        let objects = entries.compactMap { entry -> CircleObject? in
            written.remove(String(decoding: entry.key, as: UTF8.self)) == nil
                ? keys.object(entry.key, entry.value ?? Data()) : nil
        }
        guard !objects.isEmpty || reached != nil else { return }
        report.read += objects.count
        // The vault says more about a list of members that became another one.
        if objects.contains(where: { $0.kind == .entry }) { tellAnew() }
        let parts = objects.isEmpty ? [[]] : CircleObject.parts(of: objects)
        for (number, part) in parts.enumerated() {
            let last = number == parts.count - 1 ? reached : nil
            var next = place
            for object in part { next.claims.note(object) }
            if let last { next.reach(last) }
            let isTaken = try await take(Array(part), place: last == nil ? nil : next.encoded).refused == 0
            if let last { place.reach(last) }
            if isTaken {
                for object in part { place.claims.note(object) }
            } else if last != nil {
                // Others are told of what was taken, and of nothing that somebody made up.
                try await store()
            }
        }
    }

    // MARK: Watching

    /// Takes in what the store tells, until the connection ends.
    func watch(_ areas: [EtcdKeys.Area], _ bell: Bell) async throws {
        begun = []
        // The gateway of etcd 3.4 sometimes loses the last requests of a body, of many more often than of few. So the
        // last one is for nothing, and `checkBegun` finds what is missing.
        let requests = (areas + areas.prefix(1)).enumerated().map { number, area in
            EtcdWatchRequest(
                create_request: .init(
                    key: area.begin, range_end: area.end,
                    start_revision: EtcdNumber((place.revisions[area.begin] ?? 0) + 1),
                    // 0 would let etcd choose a number, which may be that of another one.
                    watch_id: EtcdNumber(Int64(number) + 1)))
        }
        var lines = EtcdWatchLines(try await gateway.watch(requests))
        while true {
            // What has come already is taken together.
            var results = [try await lines.next()]
            while results.count < Self.mostResults, let more = try lines.nextBuffered() { results.append(more) }
            hear()
            var (changes, touched): ([String: EtcdEntry], EtcdKeys?) = ([:], nil)
            var reached: [Data: Int64] = [:]
            for result in results {
                let number = Int(truncatingIfNeeded: result.watch_id?.value ?? 0) - 1
                if result.canceled == true { throw await failure(result) }
                guard areas.indices.contains(number), let keys = keys(of: areas[number]) else { continue }
                try note(result, of: areas[number], number, &reached)
                for event in result.events ?? [] {
                    guard let entry = event.kv else { continue }
                    if event.isPut {
                        changes[String(decoding: entry.key, as: UTF8.self)] = entry
                    } else {
                        try await checkRemoval(of: entry.key, keys)
                    }
                    touched = keys
                }
            }
            guard let touched else {
                place.reach(reached)
                continue
            }
            let entries = changes.values.sorted {
                ($0.changed, $0.key.hexadecimal()) < ($1.changed, $1.key.hexadecimal())
            }
            try await apply(entries, touched, reached: reached)
            // What came may have made something for the others, or have opened new groups.
            await bell.ring()
        }
    }

    /// How much of what a watch tells is taken together at most.
    private static let mostResults = 256

    /// Takes note of how far a watch has come.
    private func note(
        _ result: EtcdWatchLine.Result, of area: EtcdKeys.Area, _ number: Int, _ reached: inout [Data: Int64]
    ) throws(EtcdError) {
        let known = max(place.revisions[area.begin] ?? 0, reached[area.begin] ?? 0)
        if result.created == true {
            begun.insert(number)
            // A watch that begins in the future stays silent for ever.
            if let revision = result.header?.revision?.value, revision < known { throw .beginAgain }
            return
        }
        let events = result.events ?? []
        // Without any, nothing happened up to this revision.
        let last = events.isEmpty ? result.header?.number ?? 0 : events.compactMap { $0.kv?.changed }.max() ?? 0
        let isWhole = events.isEmpty || result.fragment != true
        reached[area.begin] = max(known, isWhole ? last : last - 1)
    }

    private func failure(_ result: EtcdWatchLine.Result) async -> EtcdError {
        // What the watch missed is read as a range, and then watched from there.
        if result.compact_revision != nil { return .beginAgain }
        let reason = result.cancel_reason ?? "the node closed the watch"
        let endpoint = await gateway.endpoint
        return reason.contains("permission denied")
            ? .notPermitted(endpoint: endpoint, reason: reason) : .unavailable(endpoint: endpoint, reason: reason)
    }

    /// Members remove versions of items that newer ones replace, and requests end. If anything else is removed,
    /// somebody else did it, and this vault writes anew what it holds. Each member looks after its own versions.
    private func checkRemoval(of key: Data, _ keys: EtcdKeys) async throws {
        switch keys.removal(of: key) {
        case .usual: return
        case .version(let author):
            guard author == member, try await newerVersions(than: key) < Self.versionsKept else { return }
        case .loss: break
        }
        isEmptied = true
        throw EtcdError.beginAgain
    }
}
#endif
