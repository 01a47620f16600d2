import Access
import Frames

/// Writes the device secret that the open vault still has into the vault's folder, if it is gone or another file is in
/// its place. That file is kept under another name.
///
/// - Throws: ``VaultError/unusableVault(reason:)`` if the keybag in the folder does not open with the secret either.
package struct PutBackDeviceSecret: UnaryOperation, EmptyWireValue {
    package init() {}

    package static let number: UInt8 = 42
    package static let name = "put-back-device-secret"
    package static let traits: OperationTraits = [.repeatable]

    package struct Reply: WireValue, Equatable {
        /// Whether the file was written; it was in its place otherwise.
        package var isWritten: Bool
        /// Where the file is that was in its place; nil if there was none.
        package var other: String?

        package init(isWritten: Bool, other: String? = nil) {
            self.isWritten = isWritten
            self.other = other
        }

        package func encode(to buffer: FrameBuffer) { buffer.write(isWritten, other) }

        package init(from reader: inout FrameReader) throws(FrameError) {
            self.init(isWritten: try reader.read(), other: try reader.read())
        }
    }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.recovery.putBack(self, as: client)
    }
}
