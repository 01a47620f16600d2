import Access
import Bytes
import Frames

/// Gives the vault a passcode. The vault must be unlocked and have none.
///
/// - Throws: ``VaultError/passcodeIsSet`` when there is one.
package struct SetPasscode: UnaryOperation {
    package var passcode: SecretBytes
    package var options: PasscodeOptions

    package init(_ passcode: SecretBytes, options: PasscodeOptions) {
        self.passcode = passcode
        self.options = options
    }

    package typealias Reply = Done

    package static let number: UInt8 = 12
    package static let name = "set-passcode"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.passcode.set(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(passcode, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        passcode = try reader.read()
        options = try reader.read()
    }
}
