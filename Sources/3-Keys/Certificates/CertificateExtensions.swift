import FoundationEssentials
import SwiftASN1

/// The extensions of a certificate, and what this module reads in them.
struct CertificateExtensions {
    private(set) var subjectKeyIdentifier: Data?
    private(set) var alternativeNames = AlternativeNames()
    private(set) var all: [CertificateExtension] = []

    /// Reads the extensions field and removes it from `fields`, if it is the next one.
    init(from fields: inout ArraySlice<ASN1Node>) throws(CertificateError) {
        let part = "certificate extensions"
        guard let field = fields.first, field.identifier == .context(3) else { return }
        fields.removeFirst()
        let content = try field.members(of: .context(3), as: part)
        guard content.count == 1 else { throw CertificateError(malformed: part) }
        let nodes = try content[0].members(of: .sequence, as: part)
        // There is at least one (RFC 5280, 4.1). MAX_EXTENSIONS of SecCertificate.c (Apple, Security-61901).
        guard (1..<10_000).contains(nodes.count) else { throw CertificateError(malformed: part) }
        for node in nodes {
            var members = try node.members(of: .sequence, as: part)[...]
            guard let identifier = members.popFirst() else { throw CertificateError(malformed: part) }
            var isCritical = false
            if members.first?.identifier == .boolean {
                isCritical = try members.removeFirst().decoded(as: part)
            }
            guard members.count == 1, let last = members.first else { throw CertificateError(malformed: part) }
            let (name, value) = try (
                identifier.decoded(ASN1ObjectIdentifier.self, as: part), last.bytes(of: .octetString, as: part)
            )
            all.append(CertificateExtension(identifier: name, isCritical: isCritical, value: Data(value)))
            read(name, value: value)
        }
    }

    /// Reads what can be read. ``PathExtensions`` says what cannot.
    private mutating func read(_ identifier: ASN1ObjectIdentifier, value: ArraySlice<UInt8>) {
        switch identifier {
        case .subjectKeyIdentifier where subjectKeyIdentifier == nil:
            subjectKeyIdentifier = try? Self.keyIdentifier(der: value)
        case .subjectAlternativeName:
            if let names = try? AlternativeNames(der: value) { alternativeNames.append(names) }
        default:
            break
        }
    }

    /// Reads the value of a SubjectKeyIdentifier extension (RFC 5280, 4.2.1.2).
    static func keyIdentifier(der: some Collection<UInt8>) throws(CertificateError) -> Data {
        let part = "certificate subject key identifier"
        return Data(try ASN1Node.parse(der, as: part).bytes(of: .octetString, as: part))
    }
}

/// The names of a SubjectAlternativeName extension (RFC 5280, 4.2.1.6) that a keychain uses.
package struct AlternativeNames: Hashable, Sendable {
    package private(set) var emailAddresses: [String] = []
    package private(set) var hostNames: [String] = []

    init() {}

    init(der: some Collection<UInt8>) throws(CertificateError) {
        let part = "certificate alternative names"
        for name in try ASN1Node.parse(der, as: part).members(of: .sequence, as: part) {
            switch name.identifier {
            case .context(1): emailAddresses.append(try Self.text(of: name, as: part))
            case .context(2): hostNames.append(try Self.text(of: name, as: part))
            default: try name.checkGeneralName(as: part)
            }
        }
    }

    mutating func append(_ other: AlternativeNames) {
        emailAddresses += other.emailAddresses
        hostNames += other.hostNames
    }

    /// Returns the text of an IA5String, whose tag is the name's tag.
    private static func text(of name: ASN1Node, as part: String) throws(CertificateError) -> String {
        let bytes = try name.bytes(of: name.identifier, as: part)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw CertificateError(malformed: part) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
