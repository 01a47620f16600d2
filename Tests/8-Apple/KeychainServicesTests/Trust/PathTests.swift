import Certificates
import Foundation
import KeychainServices
import TestSupport
import Testing

/// Paths as Apple's systems judge them, with certificates that OpenSSL's program makes.
@Suite struct PathTests {
    private let maker: CertificateAuthority
    private static let authority = ["basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign"]
    private static let server = CertificateAuthority.server

    init() throws {
        maker = try CertificateAuthority(hasRoot: false)
        for name in ["root", "other", "intermediate", "leaf"] { try maker.makeKey(name) }
    }

    /// Makes the certificate `name`.
    ///
    /// - Parameters:
    ///   - key: Whose key it has; nil for that of the name.
    ///   - issuer: Nil for itself.
    ///   - subject: Nil for the name of the key.
    @discardableResult
    private func make(
        _ name: String, key: String? = nil, by issuer: String? = nil, issuerKey: String? = nil, subject: String? = nil,
        _ extensions: [String], days: Int = 30
    ) throws -> SecCertificate {
        try maker.make(
            name, key: key, by: issuer, issuerKey: issuerKey, extensions: extensions, subject: subject, days: days)
        return try maker.certificate(name)
    }

    private func evaluate(
        _ chain: [SecCertificate], anchor: SecCertificate,
        _ policy: SecPolicy = SecPolicyCreateSSL(true, "example.com"), at time: Date? = nil
    ) throws -> OSStatus {
        var created: SecTrust?
        #expect(SecTrustCreateWithCertificates(chain as NSArray, policy, &created) == errSecSuccess)
        let trust = try #require(created)
        #expect(SecTrustSetAnchorCertificates(trust, [anchor] as NSArray) == errSecSuccess)
        if let time { #expect(SecTrustSetVerifyDate(trust, time as CFDate) == errSecSuccess) }
        var error: CFError?
        return SecTrustEvaluateWithError(trust, &error) ? errSecSuccess : OSStatus(error?.code ?? 0)
    }

    /// What a certificate of the path says, and what comes of it. Nil is what such certificates say otherwise.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var root: [String]?
        var intermediate: [String]?
        var leaf: [String]?
        var subject: String?
        var days = 30
        var status: OSStatus
        /// What the policy without a purpose says; nil for the same.
        var basic: OSStatus?

        var testDescription: String { name }
    }

    private static func unreadable(_ name: String, _ value: String) -> Case {
        Case(
            name: "\(name)=\(value)", intermediate: authority + ["\(name)=\(value)"], status: errSecUnknownCertExtension
        )
    }

    static let cases = [
        Case(name: "in order", status: errSecSuccess),
        Case(
            name: "an anchor that does not say what it is", root: ["keyUsage=critical,keyCertSign"],
            status: errSecNoBasicConstraints),
        Case(
            name: "an authority that does not say what it is", intermediate: ["keyUsage=critical,keyCertSign"],
            status: errSecNoBasicConstraints),
        Case(
            name: "an authority that is none", intermediate: ["basicConstraints=CA:false"],
            status: errSecNoBasicConstraintsCA),
        Case(
            name: "an authority that may not sign",
            intermediate: ["basicConstraints=CA:true", "keyUsage=digitalSignature"],
            status: errSecInvalidKeyUsageForPolicy),
        Case(
            name: "an anchor that may not sign", root: ["basicConstraints=CA:true", "keyUsage=cRLSign"],
            status: errSecInvalidKeyUsageForPolicy),
        Case(
            name: "an anchor that allows no authority", root: ["basicConstraints=critical,CA:true,pathlen:0"],
            status: errSecPathLengthConstraintExceeded),
        Case(
            name: "something critical in the anchor", root: authority + ["1.2.3.4=critical,ASN1:NULL"],
            status: errSecSuccess),
        Case(
            name: "something critical in the authority", intermediate: authority + ["1.2.3.4=critical,ASN1:NULL"],
            status: errSecUnknownCriticalExtensionFlag),
        Case(
            name: "something critical in the leaf", leaf: server + ["1.2.3.4=critical,ASN1:NULL"],
            status: errSecUnknownCriticalExtensionFlag),
        Case(name: "something unknown", leaf: server + ["1.2.3.4=ASN1:NULL"], status: errSecSuccess),
        Case(
            name: "a use that is empty", leaf: ["extendedKeyUsage=DER:30:00", "subjectAltName=DNS:example.com"],
            status: errSecUnknownCertExtension),
        Case(
            name: "true as 1", intermediate: ["basicConstraints=critical,DER:30:03:01:01:01"],
            status: errSecUnknownCertExtension),
        Case(
            name: "bytes after the end", intermediate: ["basicConstraints=critical,DER:30:03:01:01:FF:00"],
            status: errSecUnknownCertExtension),
        unreadable("crlDistributionPoints", "DER:30:00"), unreadable("crlDistributionPoints", "DER:04:00"),
        unreadable("authorityInfoAccess", "DER:04:00"), unreadable("certificatePolicies", "DER:30:00"),
        unreadable("certificatePolicies", "critical,DER:30:02:05:00"),
        unreadable("nameConstraints", "critical,DER:30:00"),
        unreadable("inhibitAnyPolicy", "critical,DER:30:00"), unreadable("policyMappings", "critical,DER:30:00"),
        Case(
            name: "no subject", leaf: server, subject: "/", status: errSecInvalidSubjectName),
        Case(
            name: "no subject, and a critical name",
            leaf: [
                "basicConstraints=CA:false", "extendedKeyUsage=serverAuth", "subjectAltName=critical,DNS:example.com",
            ],
            subject: "/", status: errSecSuccess),
        Case(
            name: "a policy that is asked for and not there",
            intermediate: authority + ["policyConstraints=critical,requireExplicitPolicy:0"],
            status: errSecInvalidPolicyIdentifiers),
        Case(
            name: "a policy that is asked for and there",
            intermediate: authority + [
                "policyConstraints=critical,requireExplicitPolicy:0", "certificatePolicies=1.2.3.4",
            ], leaf: server + ["certificatePolicies=1.2.3.4"], status: errSecSuccess),
        Case(
            name: "another policy than is asked for",
            intermediate: authority + [
                "policyConstraints=critical,requireExplicitPolicy:0", "certificatePolicies=1.2.3.4",
            ], leaf: server + ["certificatePolicies=1.2.3.5"], status: errSecInvalidPolicyIdentifiers),
        Case(
            name: "a name outside", intermediate: authority + ["nameConstraints=critical,permitted;DNS:example.org"],
            status: errSecInvalidName),
        Case(
            name: "a name inside", intermediate: authority + ["nameConstraints=critical,permitted;DNS:example.com"],
            status: errSecSuccess),
        Case(
            name: "a name that is excluded",
            intermediate: authority + ["nameConstraints=critical,excluded;DNS:example.com"], status: errSecInvalidName),
        Case(
            name: "no use", leaf: ["basicConstraints=CA:false", "subjectAltName=DNS:example.com"],
            status: errSecInvalidExtendedKeyUsage, basic: errSecSuccess),
        Case(
            name: "any use",
            leaf: ["extendedKeyUsage=anyExtendedKeyUsage", "subjectAltName=DNS:example.com"],
            status: errSecInvalidExtendedKeyUsage, basic: errSecSuccess),
        Case(name: "as long as allowed", days: 825, status: errSecSuccess),
        Case(name: "too long", days: 827, status: errSecCertificateValidityPeriodTooLong, basic: errSecSuccess),
    ]

    @Test(arguments: cases) func asApple(_ wanted: Case) throws {
        let root = try make("root", wanted.root ?? Self.authority, days: 900)
        let intermediate = try make(
            "intermediate", by: "root", wanted.intermediate ?? Self.authority, days: 900)
        let leaf = try make(
            "leaf", by: "intermediate", subject: wanted.subject, wanted.leaf ?? Self.server, days: wanted.days)
        let status = try evaluate([leaf, intermediate], anchor: root)
        #expect(status == wanted.status)
        let basic = try evaluate([leaf, intermediate], anchor: root, SecPolicyCreateBasicX509())
        #expect(basic == wanted.basic ?? wanted.status)
    }

    /// The name in the certificate, the host, what the authority says, and what comes of it.
    @Test(
        arguments: [
            ("*.example.com", "www.example.com", nil, errSecSuccess),
            ("*.example.com", "WWW.Example.COM.", nil, errSecSuccess),
            ("*.Example.com", "www.example.com", nil, errSecSuccess),
            ("*.example.com", "a.b.example.com", nil, errSecHostNameMismatch),
            ("*.example.com", "example.com", nil, errSecHostNameMismatch),
            // Anybody can have a name below these.
            ("*.co.uk", "example.co.uk", nil, errSecHostNameMismatch),
            ("*.com", "example.com", nil, errSecHostNameMismatch),
            ("example.co.uk", "example.co.uk", nil, errSecSuccess),
            ("*.example.co.uk", "www.example.co.uk", nil, errSecSuccess),
            ("*.co.uk,DNS:example.co.uk", "example.co.uk", nil, errSecSuccess),
            ("*.github.io", "example.github.io", nil, errSecSuccess),
            // A wildcard must not hide what is excluded.
            ("*.example.com", "secret.example.com", "excluded;DNS:secret.example.com", errSecInvalidName),
            ("*.example.com", "SECRET.example.com", "excluded;DNS:Secret.example.com", errSecInvalidName),
            ("*.secret.example.com", "www.secret.example.com", "excluded;DNS:secret.example.com", errSecInvalidName),
            ("*.example.com", "www.example.com", "excluded;DNS:secret.example.com", errSecSuccess),
            ("*.example.com", "notsecret.example.com", "excluded;DNS:secret.example.com", errSecSuccess),
            ("*.example.com", "www.example.com", "permitted;DNS:example.com", errSecSuccess),
            ("*.example.com", "www.example.com", "permitted;DNS:www.example.com", errSecInvalidName),
        ] as [(String, String, String?, OSStatus)])
    func hosts(_ name: String, _ host: String, _ constraint: String?, _ status: OSStatus) throws {
        let root = try make("root", Self.authority)
        let constraints = constraint.map { ["nameConstraints=critical,\($0)"] } ?? []
        let intermediate = try make("intermediate", by: "root", Self.authority + constraints)
        let leaf = try make(
            "leaf", by: "intermediate",
            ["basicConstraints=CA:false", "extendedKeyUsage=serverAuth", "subjectAltName=DNS:\(name)"])
        #expect(
            try evaluate([leaf, intermediate], anchor: root, SecPolicyCreateSSL(true, host as CFString)) == status)
    }

    /// The first and the last second of a certificate belong to it.
    @Test func theFirstAndTheLastSecond() throws {
        let root = try make("root", Self.authority, days: 40)
        let leaf = try make("leaf", by: "root", Self.server, days: 20)
        let der = SecCertificateCopyData(leaf) as Data
        let (start, end) = try { ($0.notBefore, $0.notAfter) }(Certificate(der: der))
        for (time, status) in [
            (start - 1, errSecCertificateNotValidYet), (start, errSecSuccess), (start + 0.5, errSecSuccess),
            (end - 0.5, errSecSuccess), (end, errSecSuccess), (end + 0.5, errSecCertificateExpired),
            (end + 1, errSecCertificateExpired),
        ] {
            #expect(try evaluate([leaf], anchor: root, at: time) == status, "\(time.timeIntervalSince(end))")
        }
    }

    private func old(_ name: String, by issuer: String? = nil) throws -> SecCertificate {
        try maker.makeOld(name, by: issuer)
        return try maker.certificate(name)
    }

    @Test func authoritiesOfVersion1() throws {
        let root = try old("root")
        let leaf = try make("leaf", by: "root", Self.server)
        #expect(try evaluate([leaf], anchor: root) == errSecSuccess)
        // Below an anchor that says what it is, others have to say it, too.
        let newer = try make("root", Self.authority)
        let intermediate = try old("intermediate", by: "root")
        let below = try make("leaf", by: "intermediate", Self.server)
        #expect(try evaluate([below, intermediate], anchor: newer) == errSecNoBasicConstraints)
    }

    @Test(
        arguments: [
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], errSecUnsupportedKeySize),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"], errSecUnsupportedKeySize),
            (["-algorithm", "ED25519"], errSecSuccess),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"], 0),
        ] as [([String], OSStatus)])
    func kindsOfKeys(of algorithm: [String], status: OSStatus) throws {
        let root = try make("root", Self.authority)
        try maker.makeKey("leaf", algorithm)
        let leaf = try make("leaf", by: "root", Self.server)
        #expect(try evaluate([leaf], anchor: root) == status)
    }

    /// Of two certificates of one authority, one leads to the anchor. Their order does not matter.
    @Test func theOtherPathIsTried() throws {
        let root = try make("root", Self.authority)
        try make("other", Self.authority)
        let good = try make("good", key: "intermediate", by: "root", Self.authority)
        let bad = try make("bad", key: "intermediate", by: "other", Self.authority)
        let own = try make("own", key: "intermediate", Self.authority)
        let leaf = try make("leaf", by: "good", issuerKey: "intermediate", Self.server)
        for others in [[good, bad, own], [bad, good, own], [own, bad, good], [bad, own, good], [own, good, bad]] {
            #expect(try evaluate([leaf] + others, anchor: root) == errSecSuccess)
        }
        #expect(try evaluate([leaf, bad, own], anchor: root) == errSecCreateChainFailed)
    }

    @Test func sixtyPathsAreTried() throws {
        let root = try make("root", Self.authority)
        try make("other", Self.authority)
        let good = try make("good", key: "intermediate", by: "root", Self.authority)
        let leaf = try make("leaf", by: "good", issuerKey: "intermediate", Self.server)
        let bad = try (0..<60).map { try make("bad\($0)", key: "intermediate", by: "other", Self.authority) }
        #expect(try evaluate([leaf] + bad + [good], anchor: root) == errSecSuccess)
        #expect(try evaluate([leaf] + bad, anchor: root) == errSecCreateChainFailed)
    }

    /// Every anchor of the system can be read, so that none is refused for its form.
    @Test func anchorsOfTheSystem() throws {
        let file = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        let parts = file.split(separator: "-----BEGIN CERTIFICATE-----").compactMap { part in
            part.split(separator: "-----END").first.map { String($0.filter { !$0.isWhitespace }) }
        }.compactMap { Data(base64Encoded: $0) }
        #expect(parts.count > 100)
        for der in parts where !der.isEmpty {
            let anchor = try #require(SecCertificateCreateWithData(nil, der as NSData))
            let status = try evaluate([anchor], anchor: anchor, SecPolicyCreateBasicX509())
            #expect(status == errSecSuccess || status == errSecCertificateExpired)
        }
    }
}
