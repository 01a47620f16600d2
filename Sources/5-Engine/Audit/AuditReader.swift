import Access
import KeychainModel
import PrivateFiles
import VaultInterface

/// Reads both logs of a vault without verifying them.
package struct AuditReader {
    private let folder: String
    private let limits: AuditLimits

    package init(folder: String, limits: AuditLimits = AuditLimits()) {
        self.folder = folder
        self.limits = limits
    }

    /// The name of the file that anchors both logs.
    package static let anchorName = AuditAnchor.fileName

    /// Returns whether the vault in `folder` has a log.
    package static func hasLog(in folder: String) -> Bool {
        guard let folder = try? PrivateFolder(existing: folder) else { return false }
        return AuditPart.allCases.contains { folder.contains($0.headName) }
    }

    /// Returns the records for `query` that tell of the item with one of these digests, or all without digests, and the
    /// number of those left out that may tell of it; nil if there is no log.
    ///
    /// A record may tell of the item if it is about its class and has no digest for each of its items: records of
    /// earlier versions, of many items, and of programs that have used up their share.
    package func records(
        _ query: AuditQuery, of digests: [UInt64]?, class itemClass: ItemClass
    ) throws(FileError) -> (records: [AuditRecord], unclear: Int)? {
        guard let digests else { return try records(query).map { ($0, 0) } }
        guard let all = try records(AuditQuery(since: query.since)) else { return nil }
        let names = Set(digests.map { AuditRecord.digest($0) })
        var found: [AuditRecord] = []
        var unclear = 0
        for record in all {
            if record.itemDigests?.contains(where: names.contains) == true {
                found.append(record)
            } else if record.mayTellOfOtherItems(of: itemClass) {
                unclear += 1
            }
        }
        return (query.limit.map(found.suffix) ?? found, unclear)
    }

    /// Returns the records for `query`, in the order in which what they tell of began; nil if there is no log. Skips
    /// lines that are not records.
    package func records(_ query: AuditQuery) throws(FileError) -> [AuditRecord]? {
        guard let snapshots = try AuditSnapshot.both(of: folder, limits: limits)?.logs else { return nil }
        var found: [AuditPart: [AuditRecord]] = [:]
        for snapshot in snapshots { found[snapshot.part] = try records(of: snapshot, query) }
        let merged = Self.byBeginning(Self.merge(changes: found[.changes] ?? [], looks: found[.looks] ?? []))
        return query.limit.map(merged.suffix) ?? merged
    }

    private func records(of snapshot: AuditSnapshot, _ query: AuditQuery) throws(FileError) -> [AuditRecord] {
        var found: [AuditRecord] = []
        // Those of single events. A record of several is written after the last of them and belongs before others.
        var single = 0
        // From the end, because most callers want only the last records.
        for file in snapshot.files.reversed() {
            for line in try AuditSnapshot.lines(of: file).whole.reversed() {
                if let limit = query.limit, single >= limit { return found.reversed() }
                guard var record = AuditLine(line)?.contents, record.lastTime >= query.since ?? .min else { continue }
                if snapshot.part == .looks { record.log = AuditRecord.looks }
                found.append(record)
                if record.until == nil { single += 1 }
            }
        }
        return found.reversed()
    }

    /// Moves each record of several events to where the first of them belongs. All others keep their order, also if the
    /// clock was set meanwhile.
    private static func byBeginning(_ records: [AuditRecord]) -> [AuditRecord] {
        var ordered: [AuditRecord] = []
        ordered.reserveCapacity(records.count)
        for record in records {
            var place = ordered.endIndex
            if let until = record.until {
                // Records of events that came after the first one, and not those from before the clock was set back.
                let end = until.addingReportingOverflow(longestFold)
                let last = end.overflow ? .max : end.partialValue
                while place > 0, case let other = ordered[place - 1].time, other > record.time, other <= last {
                    place -= 1
                }
            }
            ordered.insert(record, at: place)
        }
        return ordered
    }

    /// The longest time in milliseconds after which the number of repeats is written, and as much again for a machine
    /// that is busy.
    private static let longestFold: Int64 = 120_000

    /// Returns both lists as one. The order of each stays.
    private static func merge(changes: [AuditRecord], looks: [AuditRecord]) -> [AuditRecord] {
        var merged: [AuditRecord] = []
        merged.reserveCapacity(changes.count + looks.count)
        var (changes, looks) = (changes[...], looks[...])
        while let change = changes.first, let look = looks.first {
            let lookIsFirst =
                if change.other ?? 0 >= look.sequence {
                    true
                } else {
                    look.other ?? 0 < change.sequence && look.lastTime < change.lastTime
                }
            merged.append(lookIsFirst ? looks.removeFirst() : changes.removeFirst())
        }
        return merged + changes + looks
    }
}

extension AuditRecord {
    /// The time of the last event that the record tells of.
    fileprivate var lastTime: Int64 { until ?? time }

    /// Whether the record tells of items of a class and does not name all of them.
    fileprivate func mayTellOfOtherItems(of itemClass: ItemClass) -> Bool {
        guard let kind = AuditEvent.Kind(rawValue: event),
            [.read, .listed, .written, .deleted, .purged, .refused].contains(kind),
            kind == .purged && self.itemClass == nil || operation == nil || self.itemClass == itemClass.rawValue
        else { return false }
        // Its number is that of versions.
        if kind == .purged { return itemDigests == nil }
        // Without an operation, events of several kinds were counted together.
        guard operation != nil, failure == nil, let items else { return itemDigests == nil }
        // The items of repeats are the same ones again.
        return items > (itemDigests?.count ?? 0) * (count ?? 1)
    }
}
