import KeychainServices
import TestSupport
import Testing

/// Signatures that Apple's systems cannot check, and that are not weaker than those that they can.
@Suite struct SignatureKindTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority(hasRoot: false)
        try authority.makeKey("root", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
        try authority.make("root", extensions: CertificateAuthority.authority)
    }

    @Test func digestsOfTheThirdFamily() throws {
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server, digest: "sha3-256")
        #expect(try authority.openssl("x509", "-in", "leaf.pem", "-noout", "-text").contains("RSA-SHA3-256"))
        #expect(status(of: try authority.trust(["leaf"])) == errSecSuccess)
    }

    @Test func paddingWithASalt() throws {
        // Makes the key and the configuration.
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server)
        try authority.openssl([
            "req", "-x509", "-new", "-sha256", "-key", "leaf.key", "-subj", "/CN=salted", "-days", "30", "-config",
            "leaf.conf", "-extensions", "own", "-CA", "root.pem", "-CAkey", "root.key", "-sigopt",
            "rsa_padding_mode:pss", "-out", "salted.pem", "-set_serial", "77",
        ])
        try authority.openssl("x509", "-in", "salted.pem", "-outform", "DER", "-out", "salted.der")
        #expect(try authority.openssl("x509", "-in", "salted.pem", "-noout", "-text").contains("rsassaPss"))
        #expect(status(of: try authority.trust(["salted"])) == errSecSuccess)
    }
}
