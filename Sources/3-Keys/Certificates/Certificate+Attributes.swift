import Bytes
import KeychainModel

extension Certificate {
    /// The attributes that are stored with the certificate. The caller's attributes override them.
    package var storedAttributes: ItemAttributes {
        var attributes = identifyingAttributes
        // CSSM_CERT_ENCODING_DER, the only encoding in use.
        attributes["cenc"] = .number(3)
        attributes[.subject] = .data(subject.normalizedContent)
        attributes[.subjectKeyID] = subjectKeyIdentifier.map { .data($0) }
        attributes[.label] = subjectSummary.map { .string($0) }
        return attributes
    }

    /// The attributes that find the certificate's item again. Other attributes of the item do not matter.
    package var identifyingAttributes: ItemAttributes {
        [
            "ctyp": .number(Int64(version)),
            .issuer: .data(issuer.normalizedContent),
            .serialNumber: .data(serialNumber),
            .publicKeyHash: .data(publicKeyHash),
        ]
    }
}
