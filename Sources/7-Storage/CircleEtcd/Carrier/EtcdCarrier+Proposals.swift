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

/// Versions under a former name of an item that the vault was given.
struct FormerVersions {
    /// The key of the last one.
    var last: Data
    /// When it was found, and whether nothing waits in the vault since.
    var found = ContinuousClock.now
    var isTaken: Bool

    /// For how long one that waits for something, such as a certificate, delays a change: it may wait for ever.
    private static let patience: Duration = .seconds(10)

    /// Whether the vault has seen them. It does not count all of them.
    var isSeen: Bool { isTaken || .now - found > Self.patience }
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
/// under the former ones, and under the new ones only what comes from all that was.
extension EtcdCarrier {
    /// How many versions under a former name are given to the vault at once, the earliest first.
    private static let formerPage: Int64 = 4
    private static let mostFormer = 10_000

    /// Has etcd decide, and tells the vault.
    ///
    /// - Parameter isLost: Whether etcd was seen to have no version of the item, though the proposal comes from one.
    func decide(_ proposal: EtcdProposal, _ keys: EtcdKeys, isLost: Bool = false) async throws {
        guard let key = keys.key(of: proposal.record) else { return }
        var verdict = CircleObject(.proposal, key: proposal.key, value: proposal.version)
        let versions = keys.versions(of: proposal.item)
        let before = versions.begin + Data(proposal.base.hexadecimal().utf8)
        let isNew = isLost || proposal.isNew
        let later = keys.entries(ofView: proposal.view, after: proposal.generation)
        let unseen = proposal.formerItems.map { item in
            let area = keys.versions(of: item)
            let base = area.begin + Data(proposal.base.hexadecimal().utf8)
            let seen = former[area.begin].flatMap { $0.isSeen ? $0.last : nil } ?? base
            return EtcdKeys.Area((base.lexicographicallyPrecedes(seen) ? seen : base) + [0], to: area.end)
        }
        let compare: [EtcdTransaction.Comparison] =
            (isNew
                ? [.absent(from: versions.begin, to: versions.end)]
                : [.present(before), .absent(from: before + [0], to: versions.end)])
            + [.absent(from: later.begin, to: later.end)]
            + unseen.map { .absent(from: $0.begin, to: $0.end) }
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
                    + unseen.map {
                        .init(
                            request_range: EtcdRange(
                                key: $0.begin, range_end: $0.end, limit: EtcdNumber(Self.formerPage)))
                    }))
        hear()
        let found = (reply.responses ?? []).compactMap(\.response_range?.kvs)
        if reply.succeeded == true {
            place.witness = EtcdPlace.Witness(
                key: key, revision: reply.header?.number ?? 0, value: proposal.record.value)
            try await accept(proposal.record, verdict)
            return try await prune(found.map { $0.map(\.key) })
        }
        // A deletion long ago, of which a store that was filled anew knows nothing.
        if !isNew, found.joined().isEmpty { return try await decide(proposal, keys, isLost: true) }
        // An answer that was lost: it is there.
        if found.joined().contains(where: { $0.key == key && $0.value == proposal.record.value }) {
            return try await accept(proposal.record, verdict)
        }
        // The vault gets what came first at once, so that the program can go on from there.
        let newest = found.joined().compactMap { entry in
            entry.key == key || entry.value == nil ? nil : keys.object(entry.key, entry.value ?? Data())
        }
        // Members remove the earliest versions first. If the one before is gone, a lost one may be gone, too.
        if !found.joined().contains(where: { $0.key == before }) { verdict.value += [1] }
        let taken = try await take(newest + [verdict], place: nil)
        for object in newest { place.claims.note(object) }
        note(found.joined().map(\.key), underNames: proposal.formerItems.map { keys.versions(of: $0).begin }, taken)
    }

    /// Takes note of what was found under former names.
    private func note(_ found: [Data], underNames names: [Data], _ taken: TakenObjects) {
        for name in names {
            let last = found.filter { $0.starts(with: name) }.max { $0.lexicographicallyPrecedes($1) }
            guard let last else { continue }
            if former.count >= Self.mostFormer { former = [:] }
            if former[name]?.last != last { former[name] = FormerVersions(last: last, isTaken: false) }
            if taken.waiting == 0 { former[name]?.isTaken = true }
        }
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
