import Access
import Bytes
import Frames

/// Makes a recovery key for the vault, and replies how it is written. The vault keeps no copy of it.
///
/// An earlier key then opens only older copies of the vault's folder.
///
/// - Throws: ``VaultError/interactionNotAllowed(reason:)`` unless the vault is unlocked.
package struct MakeRecoveryKey: UnaryOperation, EmptyWireValue {
    package init() {}

    package static let number: UInt8 = 30
    package static let name = "make-recovery-key"
    package static let traits: OperationTraits = [.usesClassKeys]

    /// A recovery key as a person writes it down.
    package struct Reply: WireValue {
        package var text: SecretBytes

        package init(text: SecretBytes) { self.text = text }

        package func encode(to buffer: FrameBuffer) { buffer.write(text) }

        package init(from reader: inout FrameReader) throws(FrameError) { text = try reader.read() }
    }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        Reply(text: try engine.recovery.makeKey(self, as: client))
    }
}
