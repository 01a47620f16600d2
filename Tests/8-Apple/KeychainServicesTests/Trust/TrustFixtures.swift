import Foundation
import KeychainServices
import OnlineChecks
import TestSupport
import Testing

extension CertificateAuthority {
    /// Certificates that several tests read, made once.
    static let shared = Result { try makeShared() }

    private static func makeShared() throws -> CertificateAuthority {
        let made = try CertificateAuthority(hasRoot: false)
        let authority = ["basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign"]
        let use = ["basicConstraints=CA:false", "extendedKeyUsage=serverAuth"]
        func make(_ name: String, by issuer: String?, _ extensions: [String], digest: String = "sha256", days: Int = 30)
            throws
        {
            try made.make(
                name, by: issuer, extensions: extensions, subject: "/CN=\(name).example.com", digest: digest, days: days
            )
        }
        try make("root", by: nil, authority, days: 300)
        try make("other-root", by: nil, authority)
        try make("intermediate", by: "root", authority, days: 200)
        let names = "subjectAltName=DNS:example.com,DNS:*.wild.example.com,IP:192.0.2.7,IP:2001:db8::7"
        try make("server", by: "intermediate", use + [names])
        try make("named-only", by: "intermediate", use)
        try make("client", by: "intermediate", ["basicConstraints=CA:false", "extendedKeyUsage=clientAuth"])
        try make("by-a-leaf", by: "server", server)
        try made.makeKey("short-key", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
        try make("short-key", by: "root", server)
        try make("old-digest", by: "root", server, digest: "sha1")
        try make("critical", by: "root", server + ["1.2.3.4=critical,ASN1:NULL"])
        return made
    }

    func certificate(_ name: String) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, try der(name) as NSData))
    }

    /// A question whether certificates are trusted, below the root.
    func trust(
        _ names: [String], _ policies: [SecPolicy] = [SecPolicyCreateSSL(true, "example.com")],
        _ settings: OnlineSettings = .patient
    ) throws -> SecTrust {
        var created: SecTrust?
        let certificates = try names.map(certificate)
        #expect(SecTrustCreateWithCertificates(certificates as NSArray, policies as NSArray, &created) == errSecSuccess)
        let trust = try #require(created)
        #expect(SecTrustSetAnchorCertificates(trust, [try certificate("root")] as NSArray) == errSecSuccess)
        trust.setOnline(settings)
        return trust
    }
}

/// The status of an evaluation: that of its error.
func status(of trust: SecTrust) -> OSStatus {
    var error: CFError?
    let isTrusted = SecTrustEvaluateWithError(trust, &error)
    #expect(isTrusted == (error == nil))
    return OSStatus(error?.code ?? 0)
}
