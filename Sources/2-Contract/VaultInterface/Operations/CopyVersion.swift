import Access
import Frames
import KeychainModel

/// Replies a version of the item that a query finds, with its value. If there is no such item, of the one that was
/// deleted last.
///
/// - Throws: ``VaultError/itemNotFound`` if there is no such version, and ``VaultError/invalidRequest(reason:)`` if the
///   query finds several items.
package struct CopyVersion: UnaryOperation, QueryOperation {
    package var query: ItemQuery
    package var version: Int64

    package init(_ query: ItemQuery, version: Int64) {
        self.query = query
        self.version = version
    }

    package typealias Reply = StoredItem

    package static let number: UInt8 = 35
    package static let name = "version"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.history.version(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query, version) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
        version = try reader.read()
    }
}
