import Certificates
import Foundation
import KeychainModel

/// An X.509 certificate. Two objects are equal when their DER encodings are.
public final class SecCertificate: NSObject, Sendable {
    package let certificate: Certificate

    package init?(der: Data) {
        guard let certificate = try? Certificate(der: der) else { return nil }
        self.certificate = certificate
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.certificate.encoded == certificate.encoded
    }

    public override var hash: Int { certificate.encoded.hashValue }

    public override var description: String {
        "<SecCertificate \(certificate.subjectSummary ?? "without a name")>"
    }
}

extension SecCertificate: ItemReference {
    package var itemClass: ItemClass { .certificate }

    package var storedAttributes: [AttributeName: AttributeValue] { certificate.storedAttributes }
    package var identifyingAttributes: [AttributeName: AttributeValue] { certificate.identifyingAttributes }
    package var storedValue: Data { certificate.encoded }
}
