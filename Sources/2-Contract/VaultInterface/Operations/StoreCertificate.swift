import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Stores a certificate in the client's first access group.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for bytes that are no certificate, ``VaultError/duplicateItem`` for
///   one that is there.
package struct StoreCertificate: UnaryOperation {
    /// In DER.
    package var certificate: Data
    /// A name for people; nil for what the certificate says of its subject.
    package var label: String?

    package init(_ certificate: Data, label: String?) { (self.certificate, self.label) = (certificate, label) }

    package typealias Reply = Done

    package static let number: UInt8 = 48
    package static let name = "store-certificate"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.keys.store(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(certificate, label) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        certificate = try reader.read()
        label = try reader.read()
    }
}
