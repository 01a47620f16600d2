import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Stores items that another vault had, in one transaction: all of them or none. Replies them as they are stored,
/// without their values.
///
/// A client may say which identifier and which dates an item has where it may store items: in its own groups.
///
/// - Throws: ``VaultError/duplicateItem`` when an item with the same primary key or identifier exists.
package struct ReceiveItems: UnaryOperation {
    package var items: [StoredItem]
    /// The group that all items go to; nil for the group that each of them has.
    package var accessGroup: String?
    /// Whether the items keep their identifiers and dates. Otherwise they are new items.
    package var keepsIdentity: Bool
    /// What items are sealed under that have a further password.
    package var options: AuthenticationOptions
    /// Former values of items, which become their versions, in the order in which they were used.
    package var former: [FormerValue] = []

    /// A value that an item had, in a program without versions of its own.
    package struct FormerValue: WireValue, Equatable {
        /// The number of the item in the list.
        package var item: UInt32
        package var value: Data
        /// When the next one took its place.
        package var ended: Date

        package init(item: UInt32, value: Data, ended: Date) {
            (self.item, self.value, self.ended) = (item, value, ended)
        }

        package func encode(to buffer: FrameBuffer) { buffer.write(item, value, ended) }

        package init(from reader: inout FrameReader) throws(FrameError) {
            item = try reader.read()
            value = try reader.read()
            ended = try reader.read()
        }
    }

    /// The most items and former values together of one operation, as many as one transaction of a served call may
    /// change.
    package static let most = 1_000

    package init(
        _ items: [StoredItem], accessGroup: String? = nil, keepsIdentity: Bool, options: AuthenticationOptions = .init()
    ) {
        self.items = items
        self.accessGroup = accessGroup
        self.keepsIdentity = keepsIdentity
        self.options = options
    }

    package typealias Reply = ReceivedItems

    package static let number: UInt8 = 39
    package static let name = "receive"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package var authentication: AuthenticationOptions? { options }

    package func check() throws(VaultError) {
        for item in items { try RequestCheck.check(item) }
    }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        var stored = try engine.items.receive(self, as: client)
        for index in stored.indices { stored[index].value = nil }
        return ReceivedItems(items: stored)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(list: items)
        buffer.write(accessGroup, keepsIdentity, options)
        buffer.write(list: former)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        items = try reader.list(limit: Self.most)
        accessGroup = try reader.read()
        keepsIdentity = try reader.read()
        options = try reader.read()
        former = try reader.list(limit: Self.most)
    }
}

/// Items as they were stored, without their values.
package struct ReceivedItems: WireValue, Equatable {
    package var items: [StoredItem]

    package init(items: [StoredItem]) { self.items = items }

    package func encode(to buffer: FrameBuffer) { buffer.write(list: items) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        items = try reader.list(limit: ReceiveItems.most)
    }
}
