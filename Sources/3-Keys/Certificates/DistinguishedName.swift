import FoundationEssentials
import SwiftASN1

/// An X.501 name: the subject or the issuer of a certificate.
package struct DistinguishedName: Hashable, Sendable {
    /// One attribute of the name, such as a common name or a country.
    package struct Attribute: Hashable, Sendable {
        package let type: ASN1ObjectIdentifier
        /// Nil if the value is not of a string type, or if its bytes do not match that type.
        package let text: String?
    }

    /// The complete DER, including the outer SEQUENCE.
    package let encoded: Data
    /// The form for storage and comparison: the contents of the outer SEQUENCE, with every PrintableString in upper
    /// case, trimmed, and with single blanks.
    package let normalizedContent: Data
    /// All attributes in the order of the encoding.
    package let attributes: [Attribute]

    /// Reads the DER encoding of a name.
    package init(der: Data) throws(CertificateError) {
        try self.init(node: ASN1Node.parse(der, as: "name"), as: "name")
    }

    init(node: ASN1Node, as part: String) throws(CertificateError) {
        var attributes: [Attribute] = []
        var normalized = DER.Serializer()
        for relativeName in try node.members(of: .sequence, as: part) {
            let pairs = try relativeName.members(of: .set, as: part)
            guard !pairs.isEmpty else { throw CertificateError(malformed: part) }
            var members: [(type: ASN1Node, value: ASN1Node)] = []
            for pair in pairs {
                let parts = try pair.members(of: .sequence, as: part)
                guard parts.count == 2 else { throw CertificateError(malformed: part) }
                members.append((parts[0], parts[1]))
                attributes.append(
                    Attribute(type: try parts[0].decoded(as: part), text: DirectoryString.text(of: parts[1])))
            }
            normalized.appendConstructedNode(identifier: .set) { set in
                for (type, value) in members {
                    set.appendConstructedNode(identifier: .sequence) { sequence in
                        sequence.serialize(type)
                        DirectoryString.appendNormalized(value, to: &sequence)
                    }
                }
            }
        }
        self.encoded = Data(node.encodedBytes)
        self.normalizedContent = Data(normalized.serializedBytes)
        self.attributes = attributes
    }

    /// Returns the texts of all attributes of this type.
    package func texts(of type: ASN1ObjectIdentifier) -> [String] {
        attributes.filter { $0.type == type }.compactMap(\.text)
    }

    /// The normalized name as a complete SEQUENCE.
    package var normalizedSequence: Data {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { $0.serializeRawBytes(normalizedContent) }
        return Data(serializer.serializedBytes)
    }
}
