#if HTTPClientSupport
import Bytes
import Foundation
import VaultInterface

/// A change about which etcd is to decide, as the vault hands it on. Documentation/Specify/Formats/Circle.md specifies
/// its form.
struct EtcdProposal {
    /// View (16) and name (16) of the item, and the version before (12).
    let key: Data
    let record: CircleObject
    /// The version that the change makes.
    let version: Data
    let generation: UInt32
    /// The names that the item had under former keys of the view, with the view before each.
    let formerItems: [Data]

    var item: Data { record.key }
    var view: Data { key.prefix(16) }
    /// Zeros if there is no version before.
    var base: Data { Data(key.dropFirst(32)) }
    var isNew: Bool { !base.contains { $0 != 0 } }

    init?(_ object: CircleObject) {
        guard object.kind == .proposal, object.key.count == 44, let count = object.value.first,
            object.value.count > 1 + Int(count) * 16
        else { return nil }
        let names = Data(object.value.dropFirst().prefix(Int(count) * 16))
        let record = Data(object.value.dropFirst(1 + names.count))
        guard let version = EtcdKeys.version(of: record), let generation = EtcdKeys.generation(of: record) else {
            return nil
        }
        key = object.key
        self.record = CircleObject(.record, key: Data(object.key.prefix(32)), value: record)
        (self.version, self.generation) = (version, generation)
        formerItems = stride(from: 0, to: names.count, by: 16).map {
            object.key.prefix(16) + names.dropFirst($0).prefix(16)
        }
    }
}

/// What kept a change from being accepted, and may count for nothing: entries of a view that say of later keys, and
/// versions under former names of items. The vault does not say what it makes of each. So once it was given everything
/// up to the revision at which they were found, and nothing waits in it, changes are made in spite of them.
struct EtcdObstacles {
    struct Found {
        /// The last key of those that were found.
        var key: Data
        var revision: Int64
        var found = ContinuousClock.now

        /// For how long something that waits in the vault delays a change: it may wait for ever.
        private static let patience: Duration = .seconds(60)

        func isPassed(_ caughtUp: Int64, waiting: Int) -> Bool {
            revision <= caughtUp && (waiting == 0 || .now - found > Self.patience)
        }
    }

    /// Entries of views, by their keys.
    private(set) var entries: [Data: Found] = [:]
    /// Versions, by the first possible key of the former name.
    private(set) var versions: [Data: Found] = [:]

    /// The most entries in whose spite a change is made: each is two comparisons of a transaction.
    static let mostEntries = 32
    private static let mostNames = 10_000

    /// - Returns: Whether it is new.
    mutating func note(entry key: Data, revision: Int64) -> Bool {
        guard entries[key] == nil, entries.count < Self.mostEntries else { return false }
        entries[key] = Found(key: key, revision: revision)
        return true
    }

    /// Forgets the entries of some keys.
    mutating func forgetEntries(in area: EtcdKeys.Area) { entries = entries.filter { !area.contains($0.key) } }

    /// - Returns: Whether it is new.
    mutating func note(version key: Data, underName name: Data, revision: Int64) -> Bool {
        guard versions[name]?.key != key else { return false }
        if versions.count >= Self.mostNames { versions = [:] }
        versions[name] = Found(key: key, revision: revision)
        return true
    }
}

/// Changes of items about which etcd decides.
///
/// A version of an item is a key of its own, and the keys of an item's versions are in the order of the versions. So a
/// proposal is accepted by a transaction which compares that the version before it is there, and that no later one is.
/// Of two proposals that come from one version, the second finds the first. Changes about which etcd does not decide
/// are written whatever is there: such a change is in conflict with what it did not know, as ever.
///
/// New keys of a view give its items other names. So a transaction compares that the view has no later keys, and that
/// the item's former names have no later version. Once the entry of the new keys is in etcd, nothing more is accepted
/// under the former ones, and under the new ones only what comes from all that counts.
extension EtcdCarrier {
    /// How many versions under a former name are given to the vault at once, the earliest first.
    private static let formerPage: Int64 = 4

    /// Has etcd decide, and tells the vault.
    ///
    /// A refusal is told only for a reason that stays: a transaction whose answer was lost may still be carried out.
    /// Otherwise the proposal waits for the next time.
    ///
    /// - Parameter isLost: Whether etcd was seen to have no version of the item, though the proposal comes from one.
    /// - Throws: ``EtcdError/beginAgain`` if the vault has to read more first.
    func decide(_ proposal: EtcdProposal, _ keys: EtcdKeys, isLost: Bool = false) async throws {
        guard let key = keys.key(of: proposal.record) else { return }
        let versions = keys.versions(of: proposal.item)
        let before = versions.begin + Data(proposal.base.hexadecimal().utf8)
        let isNew = isLost || proposal.isNew
        let later = laterEntries(proposal, keys)
        let former = proposal.formerItems.map { unseenVersions(of: $0, after: proposal.base, keys) }
        let compare: [EtcdTransaction.Comparison] =
            (isNew
                ? [.absent(from: versions.begin, to: versions.end)]
                : [.present(before), .absent(from: before + [0], to: versions.end)])
            + (later + former).map { .absent(from: $0.begin, to: $0.end) }
        let reply = try await gateway.transaction(
            EtcdTransaction(
                compare: compare,
                success: [
                    .init(request_put: EtcdPut(key: key, value: proposal.record.value)),
                    .init(
                        request_range: EtcdRange(key: versions.begin, range_end: versions.end, keys_only: true)),
                ],
                failure: [
                    .init(request_range: EtcdRange(key: key)),
                    .init(
                        request_range: EtcdRange(
                            key: versions.begin, range_end: versions.end, limit: EtcdNumber(1), sort_order: "DESCEND",
                            sort_target: "KEY")),
                    .init(request_range: EtcdRange(key: before, keys_only: true)),
                ]
                    + later.map {
                        .init(
                            request_range: EtcdRange(
                                key: $0.begin, range_end: $0.end,
                                limit: EtcdNumber(Int64(EtcdObstacles.mostEntries)), keys_only: true))
                    }
                    + former.map {
                        .init(
                            request_range: EtcdRange(
                                key: $0.begin, range_end: $0.end, limit: EtcdNumber(Self.formerPage)))
                    }))
        hear()
        let found = (reply.responses ?? []).compactMap(\.response_range?.kvs)
        var verdict = CircleObject(.proposal, key: proposal.key, value: proposal.version)
        if reply.succeeded == true {
            place.witness = EtcdPlace.Witness(
                key: key, revision: reply.header?.number ?? 0, value: proposal.record.value)
            try await accept(proposal.record, verdict)
            return try await prune(found.map { $0.map(\.key) })
        }
        let entries = found.joined()
        // A deletion long ago, of which a store that was filled anew knows nothing.
        if !isNew, entries.isEmpty { return try await decide(proposal, keys, isLost: true) }
        // An answer that was lost: it is there.
        if entries.contains(where: { $0.key == key && $0.value == proposal.record.value }) {
            return try await accept(proposal.record, verdict)
        }
        // The vault gets what came first at once, so that the program can go on from there.
        let newest = entries.compactMap { entry in
            entry.key == key || entry.value == nil ? nil : keys.object(entry.key, entry.value ?? Data())
        }
        // Members remove the earliest versions first. If the one before is gone, a lost one may be gone, too.
        if !entries.contains(where: { $0.key == before }) { verdict.value += [1] }
        let isFinal = entries.contains { entry in
            (versions.contains(entry.key) && before.lexicographicallyPrecedes(entry.key))
                || later.contains { $0.contains(entry.key) }
        }
        try await take(newest + (isFinal ? [verdict] : []), place: nil)
        for object in newest { place.claims.note(object) }
        guard note(entries.map(\.key), later, former, proposal, keys, reply.header?.number ?? 0) else { return }
        throw EtcdError.beginAgain
    }

    /// Where etcd must have no entry that says of later keys of the view.
    private func laterEntries(_ proposal: EtcdProposal, _ keys: EtcdKeys) -> [EtcdKeys.Area] {
        let all = keys.entries(ofView: proposal.view)
        let area = keys.entries(ofView: proposal.view, after: proposal.generation)
        obstacles.forgetEntries(in: EtcdKeys.Area(all.begin, to: area.begin))
        let passed = obstacles.entries.values.filter {
            area.contains($0.key) && $0.isPassed(caughtUp, waiting: report.waiting)
        }.map(\.key)
        for key in passed {
            report.alarm(
                "etcd has an entry of a group's keys that this machine cannot use, at \(String(decoding: key, as: UTF8.self)): "
                    + "somebody else writes to etcd, or this machine lacks a key")
        }
        return area.without(passed)
    }

    /// Where etcd must have no version under a former name of the item.
    private func unseenVersions(of item: Data, after base: Data, _ keys: EtcdKeys) -> EtcdKeys.Area {
        let area = keys.versions(of: item)
        let before = area.begin + Data(base.hexadecimal().utf8)
        guard let found = obstacles.versions[area.begin], found.isPassed(caughtUp, waiting: report.waiting),
            before.lexicographicallyPrecedes(found.key)
        else { return EtcdKeys.Area(before + [0], to: area.end) }
        return EtcdKeys.Area(found.key + [0], to: area.end)
    }

    /// Takes note of what kept a change from being accepted.
    ///
    /// - Returns: Whether any of it is new.
    private func note(
        _ found: [Data], _ later: [EtcdKeys.Area], _ former: [EtcdKeys.Area], _ proposal: EtcdProposal,
        _ keys: EtcdKeys, _ revision: Int64
    ) -> Bool {
        var isNew = false
        for key in found where later.contains(where: { $0.contains(key) }) {
            if obstacles.note(entry: key, revision: revision) { isNew = true }
        }
        for (item, area) in zip(proposal.formerItems, former) {
            guard let last = found.filter(area.contains).max(by: { $0.lexicographicallyPrecedes($1) }) else { continue }
            if obstacles.note(version: last, underName: keys.versions(of: item).begin, revision: revision) {
                isNew = true
            }
        }
        return isNew
    }

    private func accept(_ record: CircleObject, _ verdict: CircleObject) async throws {
        report.written += 1
        var next = place
        next.claims.note(record)
        // Until the vault has it, it stays a proposal, and is found in etcd the next time. The place tells another
        // carrier what has to be in etcd.
        let accepted = CircleObject(.proposal, key: verdict.key, value: verdict.value + [2])
        try await take([record, accepted], place: next.encoded)
        place.claims.note(record)
    }
}
#endif
