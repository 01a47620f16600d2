import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Asks a person to satisfy access control flags, and remembers the outcome under an authentication context.
///
/// The vault keeps what a person has shown, and not the program: an operation that names the context needs no further
/// asking for what was granted.
///
/// - Throws: ``VaultError/presence(_:)`` when no person was shown to be there.
package struct Authenticate: UnaryOperation {
    package var flags: AccessControl.Flags
    package var context: UUID
    package var options: AuthenticationOptions

    package init(_ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions) {
        self.flags = flags
        self.context = context
        self.options = options
    }

    package typealias Reply = PresenceProofs

    package static let number: UInt8 = 18
    package static let name = "authenticate"
    package static let traits: OperationTraits = []

    package var authentication: AuthenticationOptions? { options }
    package func check() throws(VaultError) { try RequestCheck.check(flags) }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.presence.authenticate(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(flags.rawValue, context, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        flags = AccessControl.Flags(rawValue: try reader.read())
        context = try reader.read()
        options = try reader.read()
    }
}
