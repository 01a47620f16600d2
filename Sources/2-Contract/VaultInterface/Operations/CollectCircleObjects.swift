import Access
import FoundationEssentials
import Frames

/// Sends what the other members of the circle are to get, in the order in which it was made. For carriers, which hold
/// the right to synchronize.
///
/// What was sent is sent again until a later call says that it is in its place.
package struct CollectCircleObjects: VaultOperation {
    /// Names the carrier, such as `folder`; it finds its own place in the reply.
    package var carrier: String
    /// The number up to which objects are in their place, from an earlier reply; 0 for none.
    package var settled: Int64
    /// The most objects to send, up to ``CircleObject/most``; 0 to be told the rest, and to have nothing made.
    package var limit: Int

    package init(for carrier: String, settled: Int64 = 0, limit: Int = CircleObject.most) {
        (self.carrier, self.settled, self.limit) = (carrier, settled, limit)
    }

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

    package func encode(to buffer: FrameBuffer) { buffer.write(carrier, settled, limit) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(for: try reader.read(), settled: try reader.read(), limit: try reader.read())
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

    package init(
        standing: CircleStanding, circle: Data? = nil, member: UInt32 = 0, through: Int64 = 0, hasMore: Bool = false,
        place: Data? = nil, location: String = ""
    ) {
        (self.standing, self.circle, self.member, self.through) = (standing, circle, member, through)
        (self.hasMore, self.place, self.location) = (hasMore, place, location)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(standing, circle, member, through, hasMore, place, location)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            standing: try reader.read(), circle: try reader.read(), member: try reader.read(),
            through: try reader.read(), hasMore: try reader.read(), place: try reader.read(),
            location: try reader.read())
    }
}
