import Access
import Frames
import KeychainModel

/// Removes the former versions of the items that a query finds, deleted items included, and replies how many versions
/// there were. The items themselves stay.
package struct PurgeVersions: UnaryOperation {
    /// Nil for everything that the client may delete.
    package var query: ItemQuery?

    package init(_ query: ItemQuery?) { self.query = query }

    package typealias Reply = Int

    package static let number: UInt8 = 37
    package static let name = "purge"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package var authentication: AuthenticationOptions? { query?.authentication }
    package func check() throws(VaultError) { if let query { try RequestCheck.check(query) } }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.history.purge(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
    }
}
