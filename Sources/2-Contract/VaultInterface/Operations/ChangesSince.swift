import Access
import Frames
import KeychainModel

/// Sends what happened to items after a change of the vault, in the groups that the client may list. Of each item that
/// is there, it sends the last change. Deletions come first.
///
/// The reply says from which number to ask the next time, and whether the vault still knew everything. If it did not,
/// the client reads all items again.
package struct ChangesSince: VaultOperation {
    /// The number of the last change that the client knows; 0 for a client that knows nothing.
    package var number: Int64

    package init(_ number: Int64) { self.number = number }

    package typealias Part = ChangedItem

    package typealias Reply = KnownChanges

    package static let number: UInt8 = 33
    package static let name = "changes-since"
    package static let traits: OperationTraits = [.repeatable, .sliced]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<ChangedItem>
    ) throws(VaultError) -> Reply {
        try engine.history.changes(self, as: client, send: send)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(number) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        number = try reader.read()
    }
}
