import Access
import FoundationEssentials
import Frames

/// Sends what the other members of the circle are to get, in the order in which it was made. For carriers, which hold
/// the right to synchronize.
///
/// What was sent is sent again until a later call says that it is in its place.
package struct CollectCircleObjects: VaultOperation {
    /// Names the carrier, such as ``folder``; it finds its own place in the reply.
    package var carrier: String
    /// The number up to which objects are in their place, from an earlier reply; 0 for none.
    package var settled: Int64
    /// The most objects to send, up to ``CircleObject/most``; 0 to be told the rest, and to have nothing made.
    package var limit: Int
    /// Whether the store lost what it had: all that the vault knows of the circle is then handed on once more.
    package var isAnew: Bool
    /// Whether the vault was given all that was in the store with the last entry of the log that it has. Only then does
    /// it give groups new keys after a member left or was removed. From then on, nothing more counts of what that
    /// member wrote under the former keys.
    package var isCaughtUp: Bool
    /// Where the carrier is after what is settled; nil leaves its place as it is.
    package var place: Data?
    /// What the carrier says of how far it has read and written, at most ``CircleHead/longestStatement`` bytes. The
    /// vault signs it for the others, if it is another one than last time; see ``CollectedObjects/heads``. Nil says
    /// nothing.
    package var statement: Data?

    package init(
        for carrier: String, settled: Int64 = 0, limit: Int = CircleObject.most, isAnew: Bool = false,
        isCaughtUp: Bool = false, place: Data? = nil, statement: Data? = nil
    ) {
        (self.carrier, self.settled, self.limit) = (carrier, settled, limit)
        (self.isAnew, self.isCaughtUp, self.place, self.statement) = (isAnew, isCaughtUp, place, statement)
    }

    /// The names of the carriers.
    package static let folder = "folder"
    package static let etcd = "etcd"

    package typealias Part = CircleObject

    package typealias Reply = CollectedObjects

    package static let number: UInt8 = 52
    package static let name = "collect-circle-objects"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<CircleObject>
    ) throws(VaultError) -> Reply {
        try engine.circle.collect(self, as: client, send: send)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(carrier, settled, limit, isAnew, isCaughtUp, place, statement)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            for: try reader.read(), settled: try reader.read(), limit: try reader.read(), isAnew: try reader.read(),
            isCaughtUp: try reader.read(),
            place: try reader.optional { (reader) throws(FrameError) in
                Data(try reader.counted(limit: TakeCircleObjects.longestPlace))
            },
            statement: try reader.optional { (reader) throws(FrameError) in
                Data(try reader.counted(limit: CircleHead.longestStatement))
            })
    }
}

/// What a carrier has to know besides the objects.
package struct CollectedObjects: WireValue, Equatable {
    package var standing: CircleStanding
    /// The 16 bytes that name the circle; nil without one.
    package var circle: Data?
    /// The number of this vault; 0 unless it is a member.
    package var member: UInt32
    /// The number of the last object that was sent, or of the last one before.
    package var through: Int64
    /// Whether there are more objects.
    package var hasMore: Bool
    /// What the carrier stored last with ``TakeCircleObjects``.
    package var place: Data?
    /// Where carriers meet.
    package var location: String
    /// The 16 bytes of each view whose records the vault reads, ascending.
    package var views: [Data] = []
    /// The highest number of a member that this vault knows; 0 unless it is a member.
    package var lastMember: UInt32
    /// The key of this vault's own request to join, once it was answered: the store needs it no more.
    package var answered: Data?
    /// What other members said last to this carrier; at most ``CircleHead/most``. Empty unless the carrier made a
    /// statement.
    package var heads: [CircleHead] = []
    /// The numbers of those that are members no more. Empty unless the carrier made a statement.
    package var gone: [UInt32] = []
    /// Whether this vault gives groups new keys once the carrier says ``CollectCircleObjects/isCaughtUp``.
    package var waitsForReading = false

    package init(
        standing: CircleStanding, circle: Data? = nil, member: UInt32 = 0, through: Int64 = 0, hasMore: Bool = false,
        place: Data? = nil, location: String = "", lastMember: UInt32 = 0, answered: Data? = nil
    ) {
        (self.standing, self.circle, self.member, self.through) = (standing, circle, member, through)
        (self.hasMore, self.place, self.location) = (hasMore, place, location)
        (self.lastMember, self.answered) = (lastMember, answered)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(standing, circle, member, through, hasMore, place, location, lastMember, answered)
        buffer.write(list: views)
        buffer.write(list: heads)
        buffer.write(list: gone)
        buffer.write(waitsForReading)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            standing: try reader.read(), circle: try reader.read(), member: try reader.read(),
            through: try reader.read(), hasMore: try reader.read(), place: try reader.read(),
            location: try reader.read(), lastMember: try reader.read(), answered: try reader.read())
        views = try reader.list(limit: .max)
        heads = try reader.list(limit: CircleHead.most)
        gone = try reader.list(limit: .max)
        waitsForReading = try reader.read()
    }
}
