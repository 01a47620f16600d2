import Access
import Frames

/// Sets how many former versions the vault keeps of items that do not say it themselves, and replies the number. For
/// clients that may administer the vault.
///
/// A lower number takes effect for an item with its next change.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for more than ``KeptVersions/largest``.
package struct KeepVersions: UnaryOperation {
    /// Nil leaves the number as it is.
    package var count: Int?

    package init(_ count: Int?) { self.count = count }

    package typealias Reply = Int

    package static let number: UInt8 = 38
    package static let name = "keep-versions"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.history.keep(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(count) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        count = try reader.read()
    }
}
