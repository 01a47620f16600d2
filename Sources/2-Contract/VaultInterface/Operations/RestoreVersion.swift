import Access
import Frames
import KeychainModel

/// Gives the item that a query finds the value and attributes of a former version, as a new version; or brings it back
/// if it was deleted. Replies the item without its value.
///
/// - Throws: ``VaultError/itemNotFound`` if there is no such version, ``VaultError/duplicateItem`` if the item was
///   deleted and there is another one with its primary key, and ``VaultError/invalidRequest(reason:)`` if the version
///   is the present one or the query finds several items.
package struct RestoreVersion: UnaryOperation, QueryOperation {
    package var query: ItemQuery
    /// Nil for the last former version.
    package var version: Int64?

    package init(_ query: ItemQuery, version: Int64?) {
        self.query = query
        self.version = version
    }

    package typealias Reply = StoredItem

    package static let number: UInt8 = 36
    package static let name = "restore-version"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.history.restore(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query, version) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
        version = try reader.read()
    }
}
