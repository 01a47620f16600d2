import Access
import Frames
import KeychainModel

/// Sends the versions of the items that a query finds, without their values: of each item the newest first. Deleted
/// items, of which the vault keeps versions, come last.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct CopyVersions: VaultOperation {
    package var query: ItemQuery

    package init(_ query: ItemQuery) {
        self.query = query
    }

    package typealias Part = ItemVersion

    package typealias Reply = Done

    package static let code = OperationCode.copyVersions
    package static let name = "versions"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys, .sliced]

    package var authentication: AuthenticationOptions? { query.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(query) }

    package func perform(
        by engine: any VaultEngine, as client: Client, send: (ItemVersion) throws(VaultError) -> Void
    ) throws(VaultError) -> Reply {
        try engine.history.versions(self, as: client, send: send)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
    }
}
