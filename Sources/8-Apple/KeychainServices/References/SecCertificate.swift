import Certificates
import Foundation
import KeychainModel

/// An X.509 certificate. Two objects are equal when their DER encodings are.
public final class SecCertificate: Sendable {
    package let certificate: Certificate

    package init?(der: Data) {
        guard let certificate = try? Certificate(der: der) else { return nil }
        self.certificate = certificate
    }
}

extension SecCertificate: Hashable, CustomDebugStringConvertible {
    public static func == (left: SecCertificate, right: SecCertificate) -> Bool {
        left.certificate.encoded == right.certificate.encoded
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(certificate.encoded) }

    /// The name of the subject.
    public var debugDescription: String {
        "<SecCertificate \(certificate.subjectSummary ?? "without a name")>"
    }
}

extension SecCertificate: ItemReference {
    package var itemClass: ItemClass { .certificate }

    package var storedAttributes: ItemAttributes { certificate.storedAttributes }
    package var identifyingAttributes: ItemAttributes { certificate.identifyingAttributes }
    package var storedValue: Data { certificate.encoded }
}
