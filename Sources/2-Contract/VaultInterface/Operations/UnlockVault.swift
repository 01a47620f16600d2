import Access
import Bytes
import Frames

/// Opens the class keys with the passcode.
package struct UnlockVault: UnaryOperation {
    package var passcode: SecretBytes

    package init(with passcode: SecretBytes) { self.passcode = passcode }

    package typealias Reply = Done

    package static let number: UInt8 = 15
    package static let name = "unlock"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.lock.unlock(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(passcode) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        passcode = try reader.read()
    }
}
