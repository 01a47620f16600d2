import Crypto
import Foundation
import KeychainServices
import TestSupport
import Testing

/// Certificates that were made to have many paths.
struct HostilePathTests {
    /// The processor time of an evaluation. It stands for a second of waiting, and does not depend on other programs.
    private static let most = Duration.seconds(1)

    private func key(_ number: UInt8) throws -> P256.Signing.PrivateKey {
        try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: number, count: 32))
    }

    /// Makes a certificate of a name, whose key is that of its number.
    private func make(
        _ name: String, _ number: UInt8, by issuer: String, _ issuerNumber: UInt8, serial: Int = 1,
        extensions: [MadeExtension] = PathTable.authority
    ) throws -> SecCertificate {
        var certificate = MadeCertificate(
            subject: DERValue.name(["CN=\(name)"]), issuer: DERValue.name(["CN=\(issuer)"]),
            from: PathTable.validity.from, to: PathTable.validity.to,
            publicKey: try key(number).publicKey.derRepresentation)
        (certificate.serial, certificate.extensions) = (serial, extensions)
        let der = try certificate.signed(with: key(issuerNumber))
        return try #require(SecCertificateCreateWithData(nil, der as NSData))
    }

    private func evaluate(_ given: [SecCertificate], anchor: SecCertificate) throws -> OSStatus {
        var created: SecTrust?
        let policy = SecPolicyCreateSSL(true, "example.com")
        #expect(SecTrustCreateWithCertificates(given as NSArray, policy, &created) == errSecSuccess)
        let trust = try #require(created)
        #expect(SecTrustSetAnchorCertificates(trust, [anchor] as NSArray) == errSecSuccess)
        #expect(SecTrustSetVerifyDate(trust, PathTable.date as CFDate) == errSecSuccess)
        let begin = ProcessMemory.threadTime
        let status = KeychainServicesTests.status(of: trust)
        let time = ProcessMemory.threadTime - begin
        #expect(time < Self.most)
        return status
    }

    /// 63 authorities of one name and key, none of which leads to the anchor but the last.
    @Test func theLastPathIsFoundInTime() throws {
        let root = try make("root", 1, by: "root", 1)
        let leaf = try make("leaf", 3, by: "authority", 2, extensions: PathTable.leaf)
        let bad = try (0..<62).map { try make("authority", 2, by: "nobody \($0)", 4, serial: 10 + $0) }
        let good = try make("authority", 2, by: "root", 1)
        #expect(try evaluate([leaf] + bad + [good], anchor: root) == errSecSuccess)
        #expect(try evaluate([leaf] + bad, anchor: root) == errSecCreateChainFailed)
    }

    /// Each of these leads to the anchor and is refused there, so that the whole path is checked each time.
    @Test func pathsThatAreRefusedAtTheirEnd() throws {
        let root = try make("root", 1, by: "root", 1)
        let leaf = try make("leaf", 3, by: "authority", 2, extensions: PathTable.leaf)
        let narrow = PathTable.authority + [.constraints(permitted: [.host("example.org")])]
        let bad = try (0..<70).map { serial in
            try make("authority", 2, by: "root", 1, serial: serial + 10, extensions: narrow)
        }
        #expect(try evaluate([leaf] + bad, anchor: root) == errSecInvalidName)
        let good = try make("authority", 2, by: "root", 1)
        #expect(try evaluate([leaf] + bad.prefix(62) + [good], anchor: root) == errSecSuccess)
    }

    /// Eight levels of eight authorities each, which signed one another: 8⁸ paths, none of which leads to the anchor.
    @Test func levelsOfAuthorities() throws {
        let root = try make("root", 1, by: "root", 1)
        let leaf = try make("leaf", 99, by: "level 0", 10, extensions: PathTable.leaf)
        var given = [leaf]
        for level in 0..<8 as Range<UInt8> {
            for serial in 0..<8 {
                given.append(
                    try make("level \(level)", 10 + level, by: "level \(level + 1)", 11 + level, serial: serial + 1))
            }
        }
        #expect(try evaluate(given, anchor: root) == errSecCreateChainFailed)
    }

    /// Authorities that signed each other in a circle.
    @Test func circles() throws {
        let root = try make("root", 1, by: "root", 1)
        let leaf = try make("leaf", 99, by: "a 0", 10, extensions: PathTable.leaf)
        var given = [leaf]
        for one in 0..<8 as Range<UInt8> {
            for other in 0..<8 as Range<UInt8> {
                given.append(
                    try make("a \(one)", 10 + one, by: "a \(other)", 10 + other, serial: Int(one) * 8 + Int(other)))
            }
        }
        #expect(try evaluate(given, anchor: root) != errSecSuccess)
        // One of them leads to the anchor.
        given.append(try make("a 7", 17, by: "root", 1, serial: 100))
        _ = try evaluate(given, anchor: root)
    }
}
