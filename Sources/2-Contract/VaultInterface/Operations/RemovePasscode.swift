import Access
import Bytes
import Frames

/// Removes the passcode, and for good every item that exists only while a passcode is set.
package struct RemovePasscode: UnaryOperation {
    package var passcode: SecretBytes

    package init(_ passcode: SecretBytes) { self.passcode = passcode }

    package typealias Reply = Done

    package static let number: UInt8 = 14
    package static let name = "remove-passcode"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.passcode.remove(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(passcode) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        passcode = try reader.read()
    }
}
