#if HTTPClientSupport
import Bytes
import Foundation
import VaultInterface

extension EtcdCarrier {
    /// How many objects are written in one transaction: each record has a second step, which finds older versions.
    private static let mostObjects = 60
    /// How many bytes are written in one transaction; etcd takes 1.5 MiB.
    private static let mostBytes = 512 << 10
    /// How many versions of an item etcd keeps in any case, for members that were away.
    static let versionsKept = 3
    /// How many of those that are younger than a week it keeps besides.
    private static let recentVersionsKept = 64
    private static let recently: UInt64 = 7 * 24 * 3_600 * 1_000
    /// How long a request to be admitted stays: 30 days.
    private static let requestLifetime: Int64 = 30 * 24 * 3_600

    /// Writes what the vault has for the others.
    ///
    /// - Parameter isCaughtUp: Whether all was read since the last entry of the log was.
    /// - Throws: ``EtcdError/beginAgain`` if the vault has to read more first.
    @discardableResult
    func push(isCaughtUp: Bool = false) async throws -> CollectedObjects {
        var decided: Set<CircleObject> = []
        while true {
            let statement = place.claims.statement
            let (all, state) = try await collect(isCaughtUp: isCaughtUp, statement: statement)
            report.standing = state.standing
            if state.waitsForReading { throw EtcdError.beginAgain }
            let objects = all.filter { $0.kind != .proposal }
            // One that the vault cannot take now comes again.
            let proposals = all.filter { $0.kind == .proposal && decided.insert($0).inserted }
                .compactMap(EtcdProposal.init)
            guard let circle = state.circle, !objects.isEmpty || !proposals.isEmpty else {
                if state.standing == .none { throw EtcdError.noCircle }
                try await compare(state)
                return state
            }
            let keys = EtcdKeys(circle: circle)
            var (rest, occupied): (ArraySlice<CircleObject>, Data?) = (objects[...], nil)
            while !rest.isEmpty {
                var (part, bytes): ([Keyed], Int) = ([], 0)
                while let object = rest.first, part.count < Self.mostObjects,
                    part.isEmpty || bytes + object.value.count <= Self.mostBytes
                {
                    rest = rest.dropFirst()
                    guard let key = keys.key(of: object), !part.contains(where: { $0.key == key }) else { continue }
                    part.append(Keyed(key: key, object: object))
                    bytes += object.value.count
                }
                if !part.isEmpty { occupied = try await write(part) ?? occupied }
            }
            if let occupied {
                // It stays in the vault, and is tried again.
                throw EtcdError.unavailable(
                    endpoint: await gateway.endpoint,
                    reason: "there is another entry of the circle's log than this machine's at "
                        + "\(String(decoding: occupied, as: UTF8.self)): somebody else writes to etcd, or the circle has "
                        + "come apart")
            }
            // Told with the next collecting. After a kill before it, the same objects are written again, to no effect.
            settled = state.through
            for proposal in proposals { try await decide(proposal, keys) }
            if objects.contains(where: { $0.kind == .entry }) { tellAnew() }
            if objects.contains(where: { $0.kind == .head }) { told = statement }
        }
    }

    private struct Keyed {
        var key: Data
        var object: CircleObject
    }

    /// - Returns: The key of an entry of the log that cannot be written, because another one is in its place.
    private func write(_ part: [Keyed]) async throws -> Data? {
        var (part, occupied): ([Keyed], Data?) = (part, nil)
        while !part.isEmpty {
            let present = try await put(part)
            guard !present.isEmpty else { break }
            for one in part {
                guard let value = present[one.key] else { continue }
                if try !isResolved(one, occupiedBy: value) { occupied = one.key }
            }
            part.removeAll { present[$0.key] != nil }
        }
        return occupied
    }

    /// Writes what is not there yet, if none of it is.
    ///
    /// - Returns: What is there already, if anything is: then nothing was written.
    private func put(_ part: [Keyed]) async throws -> [Data: Data] {
        var lease: EtcdNumber?
        if part.contains(where: { $0.object.kind == .request }) {
            lease = try await gateway.lease(seconds: Self.requestLifetime)
        }
        let steps = part.flatMap { one -> [EtcdTransaction.Step] in
            let put = EtcdPut(
                key: one.key, value: one.object.value, lease: one.object.kind == .request ? lease : nil)
            guard one.object.kind == .record, let versions = EtcdKeys.versions(ofItemAt: one.key) else {
                return [.init(request_put: put)]
            }
            let range = EtcdRange(key: versions.begin, range_end: versions.end, keys_only: true)
            return [.init(request_put: put), .init(request_range: range)]
        }
        let once = part.filter { $0.object.kind != .head }
        let reply = try await gateway.transaction(
            EtcdTransaction(
                compare: once.map { .absent($0.key) }, success: steps,
                failure: once.map { EtcdTransaction.Step(request_range: EtcdRange(key: $0.key)) }))
        hear()
        let found = (reply.responses ?? []).compactMap(\.response_range?.kvs)
        guard reply.succeeded == true else {
            let present = found.joined().reduce(into: [:]) { $0[$1.key] = $1.value ?? Data() }
            guard part.contains(where: { present[$0.key] != nil }) else {
                throw EtcdError.malformed(
                    endpoint: await gateway.endpoint, reason: "a transaction that was neither done nor refused")
            }
            return present
        }
        for one in part {
            if one.object.kind != .head, written.count < Self.mostRemembered {
                written.insert(String(decoding: one.key, as: UTF8.self))
            }
            if one.object.kind == .record { report.written += 1 }
            place.claims.note(one.object)
        }
        if let last = part.last(where: { $0.object.kind == .record || $0.object.kind == .entry }) {
            place.witness = EtcdPlace.Witness(
                key: last.key, revision: reply.header?.number ?? 0, value: last.object.value)
        }
        try await prune(found.map { $0.map(\.key) })
        return [:]
    }

    /// How many own keys are remembered, so that the watch's copies are skipped.
    private static let mostRemembered = 100_000

    /// What is there already is our own, whose answer was lost, or that of another member, which came first.
    ///
    /// - Returns: Whether the object need not be written any more.
    private func isResolved(_ one: Keyed, occupiedBy value: Data) throws -> Bool {
        guard value != one.object.value else { return true }
        // After a view got new keys, several members may seal one version anew. The vault compares what they say.
        if one.object.kind == .record, EtcdKeys.sealer(of: value) != EtcdKeys.sealer(of: one.object.value),
            EtcdKeys.generation(of: value) == EtcdKeys.generation(of: one.object.value)
        {
            return true
        }
        guard one.object.kind == .entry else {
            report.alarm(
                "etcd already has a different object under this machine's key: another machine uses a copy of this vault. Run "
                    + "`keychain circle leave --only-here` on one of the two, and join again there")
            return true
        }
        guard contested.count < Self.mostRemembered, contested.insert(one.object.value).inserted else { return false }
        // The vault takes the other one, and then makes its own again.
        throw EtcdError.beginAgain
    }

    /// Removes versions of items that nobody needs any more.
    func prune(_ lists: [[Data]]) async throws {
        var superfluous: [Data] = []
        for list in lists where list.count > Self.versionsKept {
            // A version's time is at the beginning of its digits, so the keys are in the order of versions.
            let newestFirst = list.sorted { $1.lexicographicallyPrecedes($0) }
            let newest = newestFirst.first.flatMap(Self.milliseconds) ?? 0
            for (number, key) in newestFirst.enumerated().dropFirst(Self.versionsKept) {
                let age = newest - min(newest, Self.milliseconds(key) ?? 0)
                if age > Self.recently || number >= Self.recentVersionsKept { superfluous.append(key) }
            }
        }
        var rest = superfluous[...]
        while !rest.isEmpty {
            let steps = rest.prefix(EtcdTransaction.mostSteps).map { key in
                EtcdTransaction.Step(request_delete_range: EtcdDelete(key: key))
            }
            rest = rest.dropFirst(steps.count)
            _ = try await gateway.transaction(EtcdTransaction(compare: [], success: steps, failure: []))
        }
    }

    /// When a version was made, in milliseconds since 1970, from the key of its record.
    private static func milliseconds(_ key: Data) -> UInt64? {
        guard let slash = key.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return UInt64(String(decoding: key[(slash + 1)...].prefix(12), as: UTF8.self), radix: 16)
    }
}
#endif
