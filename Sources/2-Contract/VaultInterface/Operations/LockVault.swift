import Access
import Bytes
import Frames

/// Wipes the keys of locked classes after a grace, at once if it is zero. An unlock in the meantime cancels that.
///
/// - Throws: ``VaultError/passcodeNotSet`` when there is no passcode: nothing could unlock.
package struct LockVault: UnaryOperation {
    package var grace: Duration

    package init(after grace: Duration) { self.grace = grace }

    package typealias Reply = Done

    package static let number: UInt8 = 16
    package static let name = "lock"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.lock.lock(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(UInt64(clamping: min(grace / .milliseconds(1), 1e15)))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        // 2⁵⁰ ms are 35,000 years; no number from outside may exceed what a Duration holds.
        grace = .milliseconds(Int64(clamping: min(try reader.read(UInt64.self), 1 << 50)))
    }
}
