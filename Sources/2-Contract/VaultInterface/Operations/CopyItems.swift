import Access
import Frames
import KeychainModel

/// Sends the items that a query finds, at most its limit.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct CopyItems: VaultOperation {
    package var query: ItemQuery
    /// Whether to open the values; a listing without them is cheaper.
    package var includingValues: Bool

    package init(_ query: ItemQuery, includingValues: Bool) {
        self.query = query
        self.includingValues = includingValues
    }

    /// What a search sends. Reports come first.
    package enum Part: Sendable, Equatable {
        case item(StoredItem)
        /// Why an item was left out that cannot be opened; only for a query with ``SearchReports/damage``.
        case damage(reason: String)
        /// An item that was left out because it needs a person; only for a query with ``SearchReports/withheld``.
        case withheld(WithheldItem)
    }

    package typealias Reply = Done

    package static let code = OperationCode.copyItems
    package static let name = "copy"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package var authentication: AuthenticationOptions? { query.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(query) }

    package func perform(
        by engine: any VaultEngine, as client: Client, send: (Part) throws(VaultError) -> Void
    ) throws(VaultError) -> Reply {
        try engine.perform(self, as: client, send: send)
        return Done()
    }

    package func encode(to buffer: WireBuffer) {
        buffer.append(query)
        buffer.append(includingValues)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        query = try reader.itemQuery()
        includingValues = try reader.bool()
    }
}

extension CopyItems.Part: WireValue {
    package func encode(to buffer: WireBuffer) {
        switch self {
        case .item(let item):
            buffer.append(UInt8(1))
            buffer.append(item)
        case .damage(let reason):
            buffer.append(UInt8(2))
            buffer.append(reason)
        case .withheld(let item):
            buffer.append(UInt8(3))
            buffer.append(item)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.integer(UInt8.self) {
        case 1: self = .item(try reader.storedItem())
        case 2: self = .damage(reason: try reader.string())
        case 3: self = .withheld(try reader.withheldItem())
        default: throw WireError("unknown part of a search's answer")
        }
    }
}
