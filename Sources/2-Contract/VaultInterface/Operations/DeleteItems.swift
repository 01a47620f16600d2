import Access
import Frames
import KeychainModel

/// Deletes every item that a query finds, and replies how many were deleted: at least one.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct DeleteItems: UnaryOperation {
    package var query: ItemQuery

    package init(_ query: ItemQuery) {
        self.query = query
    }

    package typealias Reply = Int

    package static let code = OperationCode.deleteItems
    package static let name = "delete"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package var authentication: AuthenticationOptions? { query.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(query) }

    package func perform(
        by engine: any VaultEngine, as client: Client, send: (Never) throws(VaultError) -> Void
    ) throws(VaultError) -> Reply {
        try engine.items.delete(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
    }
}
