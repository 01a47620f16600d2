import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Replies the value of a generic password that ``CopyKeyObjects`` sent as an object. Asks a person if the item wants
/// one.
package struct CopyPassword: UnaryOperation {
    package var accessGroup: String
    package var identifier: UUID
    package var options: AuthenticationOptions

    package init(_ identifier: UUID, in accessGroup: String, options: AuthenticationOptions = .init()) {
        (self.accessGroup, self.identifier, self.options) = (accessGroup, identifier, options)
    }

    package typealias Reply = Data

    package static let number: UInt8 = 49
    package static let name = "copy-password"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package var authentication: AuthenticationOptions? { options }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.keys.copy(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(accessGroup, identifier, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        accessGroup = try reader.read()
        identifier = try reader.read()
        options = try reader.read()
    }
}
