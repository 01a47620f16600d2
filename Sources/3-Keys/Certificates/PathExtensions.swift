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
            if field.isCritical, !Self.known.contains(field.identifier) { hasUnknownCritical = true }
            do {
                try read(field)
            } catch {
                isUnreadable = true
            }
        }
    }

    /// The extensions that an evaluation looks at, or that say nothing of what a certificate may be used for.
    private static let known: Set<ASN1ObjectIdentifier> = [
        .subjectKeyIdentifier, .keyUsage, .privateKeyUsagePeriod, .subjectAlternativeName, .issuerAlternativeName,
        .basicConstraints, .nameConstraints, .distributionPoints, .certificatePolicies, .policyMappings,
        .authorityKeyIdentifier, .policyConstraints, .extendedKeyUsage, .inhibitAnyPolicy, .authorityAccess,
        .subjectAccess, .netscapeKind, .unchecked, .qualifiedStatements,
    ]

    private mutating func read(_ field: CertificateExtension) throws(CertificateError) {
        let part = "certificate extension"
        func node() throws(CertificateError) -> ASN1Node { try ASN1Node.parse(field.value, as: part) }
        /// Returns the members of a SEQUENCE that has at least one.
        func members() throws(CertificateError) -> [ASN1Node] {
            let members = try node().members(of: .sequence, as: part)
            guard !members.isEmpty else { throw CertificateError(malformed: part) }
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
            for member in try members() { uses.append(try member.decoded(as: part)) }
            extendedKeyUsage = uses
        case .subjectKeyIdentifier: _ = try CertificateExtensions.keyIdentifier(der: field.value)
        case .subjectAlternativeName:
            _ = (try members(), try AlternativeNames(der: field.value))
            hasCriticalNames = field.isCritical
        case .nameConstraints: nameConstraints = try NameConstraints(members(), isCritical: field.isCritical, as: part)
        case .certificatePolicies: for member in try members() { try Self.checkPolicy(member, as: part) }
        case .policyMappings: for member in try members() { try Self.checkMapping(member, as: part) }
        case .distributionPoints: for member in try members() { try Self.checkPoint(member, as: part) }
        case .authorityAccess: for member in try members() { try Self.checkAccess(member, as: part) }
        case .authorityKeyIdentifier:
            let tags = try node().members(of: .sequence, as: part).map(\.identifier)
            guard tags.contains(.context(1)) == tags.contains(.context(2)) else {
                throw CertificateError(malformed: part)
            }
        case .policyConstraints: try Self.checkConstraints(node().members(of: .sequence, as: part), as: part)
        case .inhibitAnyPolicy:
            guard try node().decoded(Int.self, as: part) >= 0 else { throw CertificateError(malformed: part) }
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

/// RFC 5280, 4.2.1 and 4.2.2.
extension ASN1ObjectIdentifier {
    fileprivate static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    fileprivate static let privateKeyUsagePeriod: ASN1ObjectIdentifier = [2, 5, 29, 16]
    fileprivate static let issuerAlternativeName: ASN1ObjectIdentifier = [2, 5, 29, 18]
    fileprivate static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    fileprivate static let nameConstraints: ASN1ObjectIdentifier = [2, 5, 29, 30]
    fileprivate static let distributionPoints: ASN1ObjectIdentifier = [2, 5, 29, 31]
    fileprivate static let certificatePolicies: ASN1ObjectIdentifier = [2, 5, 29, 32]
    fileprivate static let policyMappings: ASN1ObjectIdentifier = [2, 5, 29, 33]
    fileprivate static let authorityKeyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 35]
    fileprivate static let policyConstraints: ASN1ObjectIdentifier = [2, 5, 29, 36]
    fileprivate static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]
    fileprivate static let inhibitAnyPolicy: ASN1ObjectIdentifier = [2, 5, 29, 54]
    fileprivate static let authorityAccess: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 1]
    fileprivate static let subjectAccess: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 11]
    /// netscape-cert-type, which Apple's systems know and pass over.
    fileprivate static let netscapeKind: ASN1ObjectIdentifier = [2, 16, 840, 1, 113_730, 1, 1]
    /// id-pkix-ocsp-nocheck (RFC 6960, 4.2.2.2.1).
    fileprivate static let unchecked: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]
    /// qcStatements (RFC 3739, 3.2.6).
    fileprivate static let qualifiedStatements: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 3]
}
