import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Sends the versions of items that lost against later ones which were made without knowledge of them, the last found
/// first. For clients that may administer the vault.
package struct ReadCircleConflicts: VaultOperation {
    /// Whether the vault forgets them afterwards. The items' histories keep what they have.
    package var isForgetting: Bool

    package init(isForgetting: Bool = false) { self.isForgetting = isForgetting }

    package typealias Part = CircleConflict

    package typealias Reply = Done

    package static let number: UInt8 = 54
    package static let name = "circle-conflicts"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<CircleConflict>
    ) throws(VaultError) -> Reply {
        try engine.circle.conflicts(self, as: client, send: send)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(isForgetting) }

    package init(from reader: inout FrameReader) throws(FrameError) { isForgetting = try reader.read() }
}

/// A version of an item that lost.
package struct CircleConflict: WireValue, Equatable {
    /// The access group of the item.
    package var group: String
    /// When this vault found it.
    package var found: Date
    /// The number of the member that made it.
    package var member: UInt32
    /// The version, without its value; nil if the vault is locked for it, and for a deletion.
    package var item: StoredItem?
    /// Whether it was a deletion.
    package var isDeletion: Bool
    /// What is another in the version in force: `value`, `label` and the like, and `deleted`.
    package var differences: [String]

    package init(
        group: String, found: Date, member: UInt32, item: StoredItem?, isDeletion: Bool, differences: [String]
    ) {
        (self.group, self.found, self.member, self.item) = (group, found, member, item)
        (self.isDeletion, self.differences) = (isDeletion, differences)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(group, found, member, item, isDeletion)
        buffer.write(list: differences)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            group: try reader.read(), found: try reader.read(), member: try reader.read(), item: try reader.read(),
            isDeletion: try reader.read(), differences: try reader.list(limit: WireLimits.attributes * 4))
    }
}
