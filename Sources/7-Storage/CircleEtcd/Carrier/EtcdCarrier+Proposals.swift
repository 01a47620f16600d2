#if HTTPClientSupport
import Bytes
import Foundation
import VaultInterface

/// Changes of items about which etcd decides.
///
/// A version of an item is a key of its own, and the keys of an item's versions are in the order of the versions. So a
/// proposal is accepted by a transaction which compares that the version before it is there, and that no later one is.
/// Of two proposals that come from one version, the second finds the first. Changes about which etcd does not decide
/// are written whatever is there: such a change is in conflict with what it did not know, as ever.
extension EtcdCarrier {
    /// Has etcd decide, and tells the vault.
    ///
    /// - Parameter isLost: Whether etcd was seen to have no version of the item, though the proposal comes from one.
    func decide(_ proposal: CircleObject, _ keys: EtcdKeys, isLost: Bool = false) async throws {
        let item = Data(proposal.key.prefix(32))
        let base = Data(proposal.key.dropFirst(32))
        let record = CircleObject(.record, key: item, value: proposal.value)
        guard base.count == 12, let version = EtcdKeys.version(of: proposal.value), let key = keys.key(of: record)
        else { return }
        var verdict = CircleObject(.proposal, key: proposal.key, value: version)
        let versions = keys.versions(of: item)
        var compare: [EtcdTransaction.Comparison] = []
        let before = versions.begin + Data(base.hexadecimal().utf8)
        let isNew = isLost || !base.contains { $0 != 0 }
        if !isNew {
            compare = [.present(before), .absent(from: before + [0], to: versions.end)]
        } else {
            compare = [.absent(from: versions.begin, to: versions.end)]
        }
        let reply = try await gateway.transaction(
            EtcdTransaction(
                compare: compare,
                success: [
                    .init(request_put: EtcdPut(key: key, value: proposal.value)),
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
                ]))
        hear()
        let found = (reply.responses ?? []).compactMap(\.response_range?.kvs)
        if reply.succeeded == true {
            place.witness = EtcdPlace.Witness(
                key: key, revision: reply.header?.number ?? 0, value: proposal.value)
            try await accept(record, verdict)
            return try await prune(found.map { $0.map(\.key) })
        }
        // A deletion long ago, of which a store that was filled anew knows nothing.
        if !isNew, found.joined().isEmpty { return try await decide(proposal, keys, isLost: true) }
        // An answer that was lost: it is there.
        if found.joined().contains(where: { $0.key == key && $0.value == proposal.value }) {
            return try await accept(record, verdict)
        }
        // The vault gets what came first at once, so that the program can go on from there.
        let newest = found.joined().compactMap { entry in
            entry.key == key || entry.value == nil ? nil : keys.object(entry.key, entry.value ?? Data())
        }
        // Members remove the earliest versions first. If the one before is gone, a lost one may be gone, too.
        if !found.joined().contains(where: { $0.key == before }) { verdict.value += [1] }
        try await take(newest + [verdict], place: nil)
        for object in newest { place.claims.note(object) }
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
