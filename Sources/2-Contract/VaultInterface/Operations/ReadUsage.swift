import Access
import Frames

/// Sends how much each access group holds that the client may list, and how much it may hold.
package struct ReadUsage: VaultOperation, EmptyWireValue {
    package init() {}

    package typealias Part = GroupUsage

    package typealias Reply = Done

    package static let number: UInt8 = 43
    package static let name = "usage"
    package static let traits: OperationTraits = [.repeatable, .sliced]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<GroupUsage>
    ) throws(VaultError) -> Reply {
        try engine.maintenance.usage(self, as: client, send: send)
        return Done()
    }
}

/// How much an access group holds.
package struct GroupUsage: WireValue, Equatable {
    /// Nil if its name is in items of locked classes only.
    package var group: String?
    /// The number of items, without tombstones and former versions.
    package var items: Int
    /// The bytes of all that counts for a quota.
    package var bytes: Int
    /// The most bytes that the client, or for an administrator the most limited program, may bring the group to; nil
    /// for no limit.
    package var quota: Int?

    package init(group: String?, items: Int, bytes: Int, quota: Int? = nil) {
        (self.group, self.items, self.bytes, self.quota) = (group, items, bytes, quota)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(group, items, bytes, quota) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            group: try reader.read(), items: try reader.read(), bytes: try reader.read(), quota: try reader.read())
    }
}
