import Access
import Bytes
import Frames
import KeychainModel

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

    package static let code = OperationCode.changePasscode
    package static let name = "change-passcode"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client) throws(VaultError) -> Reply {
        try engine.perform(self, as: client)
        return Done()
    }

    package func encode(to buffer: WireBuffer) {
        buffer.append(passcode)
        buffer.append(next)
        buffer.append(options)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        passcode = try reader.secret()
        next = try reader.secret()
        options = try reader.passcodeOptions()
    }
}
