import Bytes
import FoundationEssentials
import SwiftASN1

/// One extension of a certificate (RFC 5280, 4.2).
package struct CertificateExtension: Hashable, Sendable {
    package let identifier: ASN1ObjectIdentifier
    package let isCritical: Bool
    /// The DER in the OCTET STRING.
    package let value: Data
}

/// What a certificate says of the paths that it may be part of.
package struct PathExtensions: Hashable, Sendable {
    package struct BasicConstraints: Hashable, Sendable {
        package var isAuthority = false
        package var pathLength: Int?
    }

    /// Bits of the keyUsage extension (RFC 5280, 4.2.1.3). The first bit of the BIT STRING is the lowest here.
    package struct KeyUsage: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let certificateSigning = KeyUsage(rawValue: 1 << 5)
    }

    /// Nil without the extension.
    package private(set) var basicConstraints: BasicConstraints?
    /// Empty without the extension.
    package private(set) var keyUsage: KeyUsage = []
    /// Nil without the extension.
    package private(set) var extendedKeyUsage: [ASN1ObjectIdentifier]?
    /// The key of the issuer, as authorityKeyIdentifier names it; nil if it does not.
    package private(set) var issuerKeyIdentifier: Data?
    /// The names that an authority may certify, and those that it may not.
    package private(set) var nameConstraints = NameConstraints()
    /// Whether there are alternative names, and the extension is critical.
    package private(set) var hasCriticalNames = false
    /// Whether an extension is there twice.
    package private(set) var isRepeated = false
    /// Whether an extension of a known kind cannot be read.
    package private(set) var isUnreadable = false
    /// Whether an extension of an unknown kind is critical.
    package private(set) var hasUnknownCritical = false

    init(_ extensions: [CertificateExtension]) {
        var seen: Set<ASN1ObjectIdentifier> = []
        for field in extensions {
            if !seen.insert(field.identifier).inserted { isRepeated = true }
            if field.isCritical, !field.identifier.isKnown { hasUnknownCritical = true }
            do {
                try read(field)
            } catch {
                isUnreadable = true
            }
        }
    }

    private mutating func read(_ field: CertificateExtension) throws(CertificateError) {
        let part = "certificate extension"
        func node() throws(CertificateError) -> ASN1Node { try ASN1Node.parse(field.value, as: part) }
        /// Returns the members of a SEQUENCE that has at least one, and fewer than Apple's systems read
        /// (MAX_CERTIFICATE_POLICIES and others of SecCertificate.c; Apple, Security-61901).
        func members(fewerThan most: Int = 1_024) throws(CertificateError) -> [ASN1Node] {
            let members = try node().members(of: .sequence, as: part)
            guard (1..<most).contains(members.count) else { throw CertificateError(malformed: part) }
            return members
        }
        switch field.identifier {
        case .basicConstraints: basicConstraints = try Self.basicConstraints(node(), as: part)
        case .keyUsage:
            let bits = try node().bits(as: part)
            // There are nine bits.
            guard (1...2).contains(bits.bytes.count) else { throw CertificateError(malformed: part) }
            for (place, byte) in bits.bytes.enumerated() {
                for bit in 0..<8 where byte & (0x80 >> UInt8(truncatingIfNeeded: bit)) != 0 {
                    let index = place * 8 + bit
                    guard index < bits.bytes.count * 8 - Int(bits.unused) else { break }
                    keyUsage.insert(KeyUsage(rawValue: 1 << UInt16(truncatingIfNeeded: index)))
                }
            }
        case .extendedKeyUsage:
            var uses: [ASN1ObjectIdentifier] = []
            for member in try members(fewerThan: 8_192) { uses.append(try member.decoded(as: part)) }
            extendedKeyUsage = uses
        case .subjectKeyIdentifier: _ = try CertificateExtensions.keyIdentifier(der: field.value)
        case .subjectAlternativeName:
            _ = (try members(fewerThan: .max), try AlternativeNames(der: field.value))
            hasCriticalNames = field.isCritical
        case .nameConstraints: nameConstraints = try NameConstraints(members(), isCritical: field.isCritical, as: part)
        case .certificatePolicies: for member in try members() { try Self.checkPolicy(member, as: part) }
        case .policyMappings: for member in try members() { try Self.checkMapping(member, as: part) }
        case .distributionPoints: for member in try members() { try Self.checkPoint(member, as: part) }
        case .authorityAccess: for member in try members() { try Self.checkAccess(member, as: part) }
        case .authorityKeyIdentifier:
            let members = try node().members(of: .sequence, as: part)
            let tags = members.map(\.identifier)
            guard tags.contains(.context(1)) == tags.contains(.context(2)) else {
                throw CertificateError(malformed: part)
            }
            if let first = members.first, first.identifier == .context(0) {
                issuerKeyIdentifier = Data(try first.bytes(of: .context(0), as: part))
            }
        case .policyConstraints: try Self.checkConstraints(node().members(of: .sequence, as: part), as: part)
        case .inhibitAnyPolicy:
            guard try node().decoded(Int.self, as: part) >= 0 else { throw CertificateError(malformed: part) }
        case .qualifiedStatements: for member in try members() { try Self.checkStatement(member, as: part) }
        default: break
        }
    }

    private static func basicConstraints(_ node: ASN1Node, as part: String) throws(CertificateError) -> BasicConstraints
    {
        var members = try node.members(of: .sequence, as: part)[...]
        var constraints = BasicConstraints()
        if let first = members.first, first.identifier == .boolean {
            constraints.isAuthority = try first.decoded(as: part)
            members.removeFirst()
        }
        if let first = members.first, first.identifier == .integer {
            let length = try first.decoded(Int.self, as: part)
            guard length >= 0 else { throw CertificateError(malformed: part) }
            constraints.pathLength = length
            members.removeFirst()
        }
        guard members.isEmpty else { throw CertificateError(malformed: part) }
        return constraints
    }
}
