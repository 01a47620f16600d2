import FoundationEssentials
import Frames

/// The version of an item in a circle: when it was made, and by which member. No two changes have the same.
///
/// Of two versions of an item, the greater is in force, and the other is in the item's history.
package struct RecordVersion: Sendable, Hashable, Comparable {
    package static let size = 12

    package var time: HybridTime
    /// The number of the member that made it.
    package var member: UInt32

    package init(time: HybridTime, member: UInt32) {
        self.time = time
        self.member = member
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        time = HybridTime(rawValue: try reader.integer())
        member = try reader.integer()
    }

    /// - Parameter encoded: ``data``.
    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: "version") { try RecordVersion(from: &$0) }
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(time.rawValue)
        buffer.append(member)
    }

    /// The version as 12 bytes.
    package var data: Data {
        let buffer = FrameBuffer()
        encode(to: buffer)
        return buffer.data
    }

    package static func < (one: RecordVersion, other: RecordVersion) -> Bool {
        (one.time, one.member) < (other.time, other.member)
    }
}

/// What a version of an item was made from: of each member that changed the item, the time of its latest change that
/// is part of the version (a version vector; Parker and others, 1983).
///
/// A version that another one does not come from was made without knowledge of it.
package struct Ancestors: Sendable, Hashable {
    /// The most members that are named. Of more, those whose changes are the oldest are left out, and a change of one
    /// of these may later be told as a conflict that was none.
    package static let most = 32

    package private(set) var times: [UInt32: HybridTime]

    package init(_ times: [UInt32: HybridTime] = [:]) { self.times = times }

    /// Whether the version is one of these.
    package func contains(_ version: RecordVersion) -> Bool {
        times[version.member].map { version.time <= $0 } ?? false
    }

    package mutating func insert(_ version: RecordVersion) {
        times[version.member] = max(times[version.member] ?? .zero, version.time)
        while times.count > Self.most {
            guard let oldest = times.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { break }
            times[oldest.key] = nil
        }
    }

    /// The number (1), and for each member, ascending by number: the number (4), the time (8).
    func encode(to buffer: FrameBuffer) {
        buffer.append(UInt8(truncatingIfNeeded: times.count))
        for (member, time) in times.sorted(by: { $0.key < $1.key }) {
            buffer.append(member)
            buffer.append(time.rawValue)
        }
    }

    init(from reader: inout FrameReader) throws(FrameError) {
        times = [:]
        var last: UInt32?
        for _ in 0..<(try reader.integer(UInt8.self)) {
            let member: UInt32 = try reader.integer()
            guard last.map({ $0 < member }) ?? true, times.count < Self.most else {
                throw FrameError("ancestors out of order, or too many")
            }
            times[member] = HybridTime(rawValue: try reader.integer())
            last = member
        }
    }
}
