import FoundationEssentials
import Frames

/// What a member said last of how far it has got, for one carrier: signed by it, and checked.
package struct CircleHead: WireValue, Equatable {
    /// How the member's log stands to that of this vault.
    package enum Log: UInt8, Sendable {
        /// This vault has all of it.
        case known
        /// The member has entries that did not come here.
        case longer
        /// It has another entry in the place of one that is here.
        case other
    }

    package var member: UInt32
    /// Rises by one with each head of the member.
    package var sequence: UInt64
    /// By the member's clock.
    package var time: Date
    package var log: Log
    /// What the member's carrier says: how far it has read and written.
    package var statement: Data

    package init(member: UInt32, sequence: UInt64, time: Date, log: Log, statement: Data) {
        (self.member, self.sequence, self.time) = (member, sequence, time)
        (self.log, self.statement) = (log, statement)
    }

    /// The longest statement of a carrier.
    package static let longestStatement = 4_096
    /// The most heads that a carrier is told at once.
    package static let most = 64

    package func encode(to buffer: FrameBuffer) { buffer.write(member, sequence, time, log.rawValue, statement) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            member: try reader.read(), sequence: try reader.read(), time: try reader.read(),
            log: try reader.coded("log", Log.init(rawValue:)),
            statement: Data(try reader.counted(limit: Self.longestStatement)))
    }
}
