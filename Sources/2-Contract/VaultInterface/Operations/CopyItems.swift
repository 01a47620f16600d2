import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Sends the items that a query finds, at most its limit.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct CopyItems: QueryOperation {
    package var query: ItemQuery
    /// Whether to open the values; a listing without them is cheaper.
    package var includingValues: Bool

    package init(_ query: ItemQuery, includingValues: Bool) {
        self.query = query
        self.includingValues = includingValues
    }

    /// What a search sends. In each slice of the answer, reports come first.
    package enum Part: Sendable, Equatable {
        case item(StoredItem)
        /// Why an item was left out that cannot be opened; only for a query with ``SearchReports/damage``.
        case damage(reason: String)
        /// An item that was left out because it needs a person; only for a query with ``SearchReports/withheld``.
        case withheld(WithheldItem)
        /// An item, without its value, that was left out because it is expired; only for a query with
        /// ``SearchReports/expired``.
        case expired(StoredItem)
        /// An item, by its identifier, that was left out because its class is locked; only for a query with
        /// ``SearchReports/locked``.
        case locked(UUID)
        /// An item, without its value, that was left out because it needs a person; only for a query with
        /// ``SearchReports/guarded`` of a client that holds every group.
        case guarded(StoredItem)
    }

    package typealias Reply = Done

    package static let number: UInt8 = 3
    package static let name = "copy"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys, .sliced]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Part>) throws(VaultError) -> Reply {
        try engine.items.copy(self, as: client, send: send)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query, includingValues) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
        includingValues = try reader.read()
    }
}

extension CopyItems.Part: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .item(let item): buffer.write(code: 1, item)
        case .damage(let reason): buffer.write(code: 2, reason)
        case .withheld(let item): buffer.write(code: 3, item)
        case .expired(let item): buffer.write(code: 4, item)
        case .locked(let identifier): buffer.write(code: 5, identifier)
        case .guarded(let item): buffer.write(code: 6, item)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .item(try reader.read())
        case 2: self = .damage(reason: try reader.read())
        case 3: self = .withheld(try reader.read())
        case 4: self = .expired(try reader.read())
        case 5: self = .locked(try reader.read())
        case 6: self = .guarded(try reader.read())
        default: throw FrameError("unknown part of a search's answer")
        }
    }
}
