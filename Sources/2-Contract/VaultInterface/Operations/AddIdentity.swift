import Access
import Frames
import KeychainModel

/// Stores the two halves of an identity in one step. One of them may be there already, such as the key of a
/// certificate that was renewed.
///
/// - Throws: ``VaultError/duplicateItem`` when both are there.
package struct AddIdentity: UnaryOperation {
    package var certificate: NewItem
    package var key: NewItem

    package init(certificate: NewItem, key: NewItem) {
        self.certificate = certificate
        self.key = key
    }

    package typealias Reply = Done

    package static let number: UInt8 = 2
    package static let name = "add-identity"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package var authentication: AuthenticationOptions? { certificate.authentication }

    package func check() throws(VaultError) {
        try RequestCheck.check(certificate)
        try RequestCheck.check(key)
    }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.items.add(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(certificate, key) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        certificate = try reader.read()
        key = try reader.read()
    }
}
