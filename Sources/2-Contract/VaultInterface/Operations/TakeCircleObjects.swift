import Access
import FoundationEssentials
import Frames

/// Takes in what other members of the circle made. For carriers, which hold the right to synchronize.
///
/// Each object is checked, and one that does not verify is refused: the reply says why. What cannot be taken yet waits
/// in the vault.
package struct TakeCircleObjects: UnaryOperation {
    package var objects: [CircleObject]
    /// Names the carrier.
    package var carrier: String
    /// Where the carrier goes on the next time; stored together with what the objects change, or not at all. Nil leaves
    /// the place as it is.
    package var place: Data?
    /// Whether the store takes one entry of the log for each number: the vault's own entry gives way to one that came
    /// first, and is made again behind it.
    package var isDecided: Bool

    package init(_ objects: [CircleObject], from carrier: String, place: Data? = nil, isDecided: Bool = false) {
        (self.objects, self.carrier, self.place, self.isDecided) = (objects, carrier, place, isDecided)
    }

    package typealias Reply = TakenObjects

    package static let number: UInt8 = 53
    package static let name = "take-circle-objects"
    package static let traits: OperationTraits = [.repeatable, .changesItems, .sliced]

    package func check() throws(VaultError) {
        guard objects.reduce(0, { $0 + $1.value.count }) <= 2 * CircleObject.largest, carrier.utf8.count <= 64 else {
            throw .invalidRequest(reason: "objects of at most \(2 * CircleObject.largest) bytes are taken at once")
        }
    }
    /// The longest place of a carrier.
    static let longestPlace = 1 << 20

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.circle.take(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(list: objects)
        buffer.write(carrier, place, isDecided)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        objects = try reader.list(limit: CircleObject.most)
        carrier = try reader.read()
        place = try reader.optional { (reader) throws(FrameError) in
            Data(try reader.counted(limit: Self.longestPlace))
        }
        isDecided = try reader.read()
    }
}

/// What became of the objects that a vault was given.
package struct TakenObjects: WireValue, Equatable {
    /// How many items changed.
    package var changed = 0
    /// How many versions lost against others that were made without knowledge of them.
    package var conflicts = 0
    /// How many objects wait in the vault.
    package var waiting = 0
    /// How many objects were refused.
    package var refused = 0
    /// Why, each reason once; at most 16.
    package var reasons: [String] = []
    /// What the vault is to the circle afterwards.
    package var standing = CircleStanding.none

    package init() {}

    /// Adds what became of further objects.
    package mutating func add(_ other: TakenObjects) {
        changed += other.changed
        conflicts += other.conflicts
        refused += other.refused
        for reason in other.reasons where reasons.count < 16 && !reasons.contains(reason) { reasons.append(reason) }
        (waiting, standing) = (other.waiting, other.standing)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(changed, conflicts, waiting, refused)
        buffer.write(list: reasons)
        buffer.write(standing)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        (changed, conflicts) = (try reader.read(), try reader.read())
        (waiting, refused) = (try reader.read(), try reader.read())
        reasons = try reader.list(limit: 16)
        standing = try reader.read()
    }
}
