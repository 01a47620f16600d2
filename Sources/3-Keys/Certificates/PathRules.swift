import FoundationEssentials
import SwiftASN1

/// What Apple's systems ask of the certificates of a path besides what RFC 5280 asks.
///
/// The rules are those of `SecPolicyServer.c`, `SecPolicy.c` and `SecPolicyLeafCallbacks.c` (Apple, Security-61901),
/// and of Apple's support articles 103769 and 102028 for the certificates of TLS servers.
package struct PathRules {
    /// The rule that a path breaks, in the order in which they are checked.
    package enum Violation: Equatable, Sendable {
        case unreadableExtension
        case repeatedExtension
        case unknownCriticalExtension
        case noSubject
        case noBasicConstraints
        case notAuthority
        /// An authority that may not sign certificates.
        case wrongKeyUsage
        /// A key of a kind that is not known, or that cannot be read.
        case unknownKind
        /// An anchor that another certificate signed, by a digest that is no longer secure.
        case weakSignature
        /// A key that is too small for a TLS server.
        case shortKey
        /// A certificate that is for other uses.
        case wrongUse
        /// A TLS server's certificate that does not say that it is for one.
        case noServerUse
        /// A TLS server's certificate that is valid for too long.
        case longValidity
        /// The certificate is for all hosts below a name under which anybody can register one.
        case publicWildcard
        /// The certificate's name for the host is not the name of a host.
        case malformedHost
        /// An authority may not certify the host. The certificate's name does not show it, because it is a wildcard.
        case excludedHost
        /// A mail address is outside of what an authority may certify.
        case constrainedMail
        /// What authorities may certify is constrained by too many names.
        case manyConstraints
        /// What an authority may certify is constrained in a way that nobody can check.
        case unknownConstraint
    }

    /// The side of a TLS connection that a certificate is for.
    package enum Side: Sendable {
        case server, client
    }

    /// From the certificate in question to the anchor.
    package var chain: [Certificate]
    /// Nil for a certificate that is for no TLS connection.
    package var side: Side?
    /// The name that a TLS server has to have, without a dot at the end; nil for any name, or an address.
    package var host: String?
    /// Whether anybody can register names below a name.
    package var isPublicSuffix: (String) -> Bool = { _ in false }
    /// Whether the anchor is one of the system's, and not one that the program names.
    package var isSystemAnchored = false

    package init(chain: [Certificate]) { self.chain = chain }

    package func violation() -> Violation? {
        for certificate in chain {
            let path = certificate.path
            if path.isUnreadable { return .unreadableExtension }
            if path.isRepeated { return .repeatedExtension }
            if certificate.subject.attributes.isEmpty,
                path.basicConstraints?.isAuthority == true || !path.hasCriticalNames
            {
                return .noSubject
            }
        }
        // An anchor is trusted whatever it says.
        for (place, certificate) in chain.enumerated()
        where certificate.path.hasUnknownCritical && (place == 0 || place < chain.count - 1) {
            return .unknownCriticalExtension
        }
        for place in chain.indices.dropFirst() {
            if let violation = violationOfAuthority(at: place) { return violation }
        }
        for certificate in chain where !Self.knows(certificate.publicKey) { return .unknownKind }
        if let anchor = chain.last, hasWeakSignature(anchor) { return .weakSignature }
        if let violation = violationOfConstraints() { return violation }
        guard let side, let leaf = chain.first else { return nil }
        if let violation = violationOfUse(leaf, side) { return violation }
        guard side == .server else { return nil }
        if chain.contains(where: { Self.isShort($0.publicKey) }) { return .shortKey }
        return violationOfServer(leaf) ?? host.flatMap { violation(of: leaf, for: $0.lowercased()) }
    }

    /// SecPolicyCheckBasicCertificateProcessing: constraints of names that libcrypto judges in another way.
    private func violationOfConstraints() -> Violation? {
        // An anchor may say what it wants, as long as it is obeyed.
        if chain.dropFirst().dropLast().contains(where: \.path.nameConstraints.hasUnknownKind) {
            return .unknownConstraint
        }
        let constraints = chain.dropFirst().map(\.path.nameConstraints)
        guard constraints.reduce(0, { $0 + $1.permittedCount }) < Self.mostConstraints,
            constraints.reduce(0, { $0 + $1.excludedCount }) < Self.mostConstraints
        else { return .manyConstraints }
        for (place, authority) in chain.enumerated().dropFirst() {
            let constraints = authority.path.nameConstraints
            for (below, certificate) in chain.prefix(place).enumerated() {
                // A certificate that an authority makes for itself may have any name, but not at the end of the path.
                let isSelfIssued = certificate.subject.normalizedContent == certificate.issuer.normalizedContent
                if below > 0 && isSelfIssued { continue }
                guard certificate.emailAddresses.allSatisfy(constraints.permits) else { return .constrainedMail }
            }
        }
        return nil
    }

    /// SecPolicyCheckExtendedKeyUsage: what says nothing is for every use, and nobody asks an anchor.
    private func violationOfUse(_ leaf: Certificate, _ side: Side) -> Violation? {
        let allowed: Set<ASN1ObjectIdentifier> =
            switch side {
            case .server: [Self.anyUse, Self.serverUse, Self.microsoftServerUse, Self.netscapeServerUse]
            case .client: [Self.anyUse, Self.clientUse]
            }
        for certificate in [leaf] + chain.dropFirst().dropLast() {
            guard let uses = certificate.path.extendedKeyUsage, allowed.isDisjoint(with: uses) else { continue }
            return .wrongUse
        }
        return nil
    }

    /// SecDNSMatch, and what CVE-2025-61727 is about.
    private func violation(of leaf: Certificate, for host: String) -> Violation? {
        let base = host.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        let names = leaf.alternativeNames.hostNames.filter { name in
            let name = name.lowercased()
            return name == host || base.map { name == "*.\($0)" && !isPublicSuffix(String($0)) } ?? false
        }
        guard !names.isEmpty else { return .publicWildcard }
        guard names.contains(where: Self.isHost) else { return .malformedHost }
        return chain.dropFirst().contains { $0.path.nameConstraints.excludes(host: host) } ? .excludedHost : nil
    }

    /// SecPVCParentCertificateChecks. It looks at every certificate but the first, anchors included.
    private func violationOfAuthority(at place: Int) -> Violation? {
        let certificate = chain[place]
        if certificate.version >= 3 {
            guard let constraints = certificate.path.basicConstraints else { return .noBasicConstraints }
            guard constraints.isAuthority else { return .notAuthority }
        } else if place < chain.count - 1, chain[chain.count - 1].version >= 3 {
            // An older certificate says nothing of what it may be used for. Only an anchor needs not say it.
            return .noBasicConstraints
        }
        let usage = certificate.path.keyUsage
        return usage.isEmpty || usage.contains(.certificateSigning) ? nil : .wrongKeyUsage
    }

    /// SecFrameworkIsDNSName. Which labels may have a `*` is decided elsewhere.
    private static func isHost(_ name: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "*")
        }
        func isWithin(_ byte: UInt8) -> Bool {
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            guard (1...63).contains(label.count), let first = label.first, let last = label.last else { return false }
            return isWithin(first) && isWithin(last)
                && label.allSatisfy { isWithin($0) || $0 == UInt8(ascii: "-") }
        }
        // The last label of a name has a letter, so that no name is an address.
        return areLabels && name.utf8.count <= 255 && labels.last.map { $0.contains(where: isLetter) } ?? false
    }

    /// SecPolicyCheckSignatureHashAlgorithms and SecPolicyCheckCertWeakSignature, for anchors alone: libcrypto judges
    /// what leads to one, and does not look at the signature of an anchor. Only a certificate that signed itself may
    /// have any.
    private func hasWeakSignature(_ anchor: Certificate) -> Bool {
        if Self.isSelfSigned(anchor) { return false }
        let algorithm = anchor.signatureAlgorithm
        return Self.brokenDigests.contains(algorithm) || side == .server && Self.weakDigests.contains(algorithm)
    }

    /// SecCertificateIsSelfSigned. Whether the signature is valid is not asked: it is an anchor's.
    private static func isSelfSigned(_ certificate: Certificate) -> Bool {
        guard certificate.subject.normalizedContent == certificate.issuer.normalizedContent else { return false }
        guard let key = certificate.path.issuerKeyIdentifier else { return true }
        return key == certificate.subjectKeyIdentifier
    }

    /// SecCertificateIsWeakKey. It takes keys of a kind that it does not know, and keys that it cannot read, for weak
    /// ones. MIN_RSA_KEY_SIZE, in bytes, and kMaximumRSAKeyBits of SecRSAKey.c.
    private static func knows(_ key: PublicKeyInfo) -> Bool {
        guard key.hasWholeBytes else { return false }
        return switch key.algorithm {
        case .rsa: key.key.map { $0.blockSize >= 128 && $0.sizeInBits <= 8_192 } ?? false
        case .ellipticCurve: key.key != nil
        case .ed25519: true
        // id-Ed448 (RFC 8410, 3).
        case .unsupported: key.identifier == [1, 3, 101, 113]
        }
    }

    /// SecPolicyAddStrongKeySizeOptions and SecCertificateIsAtLeastMinKeySize, which counts whole bytes.
    private static func isShort(_ key: PublicKeyInfo) -> Bool {
        switch key.algorithm {
        case .rsa: key.key.map { $0.blockSize < 256 } ?? true
        case .ellipticCurve(let curve): curve.sizeInBits < 256
        case .ed25519, .unsupported: false
        }
    }

    /// SecPolicyCheckServerAuthEKU, SecPolicyCheckSystemTrustValidityPeriod and SecPolicyCheckOtherTrustValidityPeriod.
    private func violationOfServer(_ leaf: Certificate) -> Violation? {
        let days = leaf.notAfter.timeIntervalSince(leaf.notBefore) / 86_400
        // 825 days and an hour.
        let former = 825 + 1 / 24.0
        if isSystemAnchored, leaf.notBefore >= Self.september2020, days > 398 { return .longValidity }
        if leaf.notBefore >= (isSystemAnchored ? Self.march2018 : Self.july2019), days > former { return .longValidity }
        // Below an anchor of the program's, only newer certificates have to say it.
        guard isSystemAnchored || leaf.notBefore > Self.july2019 else { return nil }
        guard leaf.path.extendedKeyUsage?.contains(Self.serverUse) == true else { return .noServerUse }
        guard isSystemAnchored else { return nil }
        for authority in chain.dropFirst().dropLast() {
            guard let uses = authority.path.extendedKeyUsage else { continue }
            guard uses.contains(Self.serverUse) || uses.contains(Self.anyUse) else { return .noServerUse }
        }
        return nil
    }

    /// POLICY_SUBTREES_MAX.
    private static let mostConstraints = 1_024
    /// Signatures with MD2, MD4 and MD5 by RSA (RFC 8017, appendix C), and the digest that stands for one of them.
    private static let brokenDigests: Set<ASN1ObjectIdentifier> = [
        [1, 2, 840, 113_549, 1, 1, 2], [1, 2, 840, 113_549, 1, 1, 3], [1, 2, 840, 113_549, 1, 1, 4],
        [1, 2, 840, 113_549, 2, 5],
    ]
    /// Signatures with SHA-1: by RSA (RFC 8017, appendix C), by elliptic curves and DSA (RFC 3279, 2.2), and by the
    /// Open Systems Environment Implementors' Workshop.
    private static let weakDigests: Set<ASN1ObjectIdentifier> = [
        [1, 2, 840, 113_549, 1, 1, 5], [1, 2, 840, 10_045, 4, 1], [1, 2, 840, 10_040, 4, 3], [1, 3, 14, 3, 2, 26],
        [1, 3, 14, 3, 2, 27], [1, 3, 14, 3, 2, 29],
    ]
    private static let september2020 = Date(timeIntervalSinceReferenceDate: 620_611_200)
    private static let march2018 = Date(timeIntervalSinceReferenceDate: 541_555_200)
    private static let july2019 = Date(timeIntervalSinceReferenceDate: 583_628_400)
    /// id-kp-serverAuth, id-kp-clientAuth and anyExtendedKeyUsage (RFC 5280, 4.2.1.12).
    private static let serverUse: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 1]
    private static let clientUse: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 2]
    private static let anyUse: ASN1ObjectIdentifier = [2, 5, 29, 37, 0]
    /// The uses for servers from the time when strong ciphers were not for everybody (szOID_SERVER_GATED_CRYPTO of
    /// Microsoft's wincrypt.h, and Netscape's).
    private static let microsoftServerUse: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 311, 10, 3, 3]
    private static let netscapeServerUse: ASN1ObjectIdentifier = [2, 16, 840, 1, 113_730, 4, 1]
}
