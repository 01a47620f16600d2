import Access
import Bytes
import Frames

/// Replaces the passcode by another. The vault is unlocked afterwards.
package struct ChangePasscode: UnaryOperation {
    /// The present one.
    package var passcode: SecretBytes
    package var next: SecretBytes
    package var options: PasscodeOptions

    package init(from passcode: SecretBytes, to next: SecretBytes, options: PasscodeOptions) {
        self.passcode = passcode
        self.next = next
        self.options = options
    }

    package typealias Reply = Done

    package static let number: UInt8 = 13
    package static let name = "change-passcode"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.passcode.change(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(passcode, next, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        passcode = try reader.read()
        next = try reader.read()
        options = try reader.read()
    }
}
