import Access
import FoundationEssentials
import Frames

/// Forgets what an authentication context was granted, and takes back the prompt that is shown for it.
package struct EndContext: UnaryOperation {
    package var context: UUID

    package init(_ context: UUID) { self.context = context }

    package typealias Reply = Done

    package static let number: UInt8 = 19
    package static let name = "end-context"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.presence.end(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(context) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        context = try reader.read()
    }
}
