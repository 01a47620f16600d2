import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing

/// Forgets what the circle needs no more, once a day.
struct CircleUpkeep {
    private let making: CircleMaking
    private let scan: CircleScan

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }

    init(_ making: CircleMaking) { (self.making, scan) = (making, CircleScan(making)) }

    /// In seconds.
    private static let interval: TimeInterval = 24 * 3_600
    /// How long changes that lost are listed, in seconds, once the item's history has them.
    static let conflictsKept: TimeInterval = 30 * 24 * 3_600
    /// The most rows of a kind in one transaction.
    private static let slice = 1_000

    /// Does nothing if it was done a day ago or less.
    func run() throws {
        let name = CircleSession.State.upkeep
        let last = try tables.reader.state(name).map {
            Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bigEndianBytes: $0)))
        }
        // A clock that was ahead does not keep it from being done.
        if let last, (0..<Self.interval).contains(making.now.timeIntervalSince(last)) { return }
        try CircleAdmission(making).forgetOld()
        let isDone = try [forgetTombstones(), forgetVersions()].allSatisfy { $0 }
        try forgetConflicts()
        guard isDone else { return }
        try tables.set(name, Data(making.now.timeIntervalSinceReferenceDate.bitPattern.bigEndianBytes))
    }

    /// Forgets items that were deleted long ago, but for the version that says so: an older one that somebody still
    /// has does not bring the item back.
    private func forgetTombstones() throws -> Bool {
        let limit = RecordVersion(time: HybridTime(making.now.addingTimeInterval(-ItemTombstone.kept)), member: 0)
        let found = try tables.reader.tombstones(before: limit.data)
        var left = Self.slice
        for item in found {
            let record = try CircleRecord(decoding: item.record)
            guard let place = try? session.place(of: item),
                case .tombstone(let tombstone) = try session.open(record, at: place).subject,
                tombstone.deadline < making.now
            else { continue }
            try tables.forget(item, keeping: record.version.data)
            left -= 1
            guard left > 0 else { return false }
        }
        return true
    }

    /// Forgets versions from which the present one of an item comes.
    private func forgetVersions() throws -> Bool {
        let limit = RecordVersion(time: HybridTime(making.now.addingTimeInterval(-ItemTombstone.kept)), member: 0)
        let items = try tables.reader.items(withVersionsBefore: limit.data, limit: Self.slice)
        for item in items {
            do {
                let record = try CircleRecord(decoding: item.record)
                let ancestors = try session.open(record, at: session.place(of: item)).ancestors
                for version in try tables.reader.versions(of: item, before: limit.data)
                where try ancestors.contains(RecordVersion(decoding: version)) {
                    try tables.remove(version: version, of: item)
                }
            } catch KeybagError.locked {
            }
        }
        return items.count < Self.slice
    }

    /// Forgets that changes lost, long ago, if the item's history has them.
    private func forgetConflicts() throws {
        let views = try session.heldViews()
        for (number, view, name, found, bytes) in try tables.reader.conflicts()
        where found.addingTimeInterval(Self.conflictsKept) < making.now {
            let record = try CircleRecord(decoding: bytes)
            guard record.content == .item else {
                try tables.removeConflict(number)
                continue
            }
            guard let view = Identifier16(view), let name = Identifier16(name), let held = views[view] else { continue }
            do {
                let body = try session.open(record, at: session.place(of: name, in: view))
                let present = try scan.entry(named: name, body.primaryKey, held)
                // Of an item that is deleted, this may be all that is left.
                guard try present.map({ try CircleRecord(decoding: $0.record).content }) == .item else { continue }
                try tables.removeConflict(number)
            } catch KeybagError.locked {
            }
        }
    }
}
