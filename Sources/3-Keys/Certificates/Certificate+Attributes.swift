import KeychainModel

extension Certificate {
    /// What is stored when the certificate is added; attributes the caller gives take precedence.
    package var storedAttributes: [AttributeName: AttributeValue] {
        var attributes = identifyingAttributes
        // CSSM_CERT_ENCODING_DER, the only encoding there is.
        attributes["cenc"] = .number(3)
        attributes[.subject] = .data(subject.normalizedContent)
        attributes[.subjectKeyID] = subjectKeyIdentifier.map { .data($0) }
        attributes[.label] = subjectSummary.map { .string($0) }
        return attributes
    }

    /// What finds the certificate's item again, whatever other attributes were set when it was added.
    package var identifyingAttributes: [AttributeName: AttributeValue] {
        [
            "ctyp": .number(Int64(version)),
            .issuer: .data(issuer.normalizedContent),
            .serialNumber: .data(serialNumber),
            .publicKeyHash: .data(publicKeyHash),
        ]
    }
}
