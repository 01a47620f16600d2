import Crypto
import Foundation
import KeychainServices
import TestSupport
import Testing

/// Which certificates can be read at all (SecCertificateParse of SecCertificate.c; Apple, Security-61901).
struct CertificateFormTests {
    private func isRead(_ change: (inout MadeCertificate) -> Void) throws -> Bool {
        let key = try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 1, count: 32))
        let name = DERValue.name(["CN=a"])
        var certificate = MadeCertificate(
            subject: name, issuer: name, from: PathTable.validity.from, to: PathTable.validity.to,
            publicKey: key.publicKey.derRepresentation)
        change(&certificate)
        return SecCertificateCreateWithData(nil, try certificate.signed(with: key) as NSData) != nil
    }

    @Test func serialNumbersHaveAtMost37Bytes() throws {
        for (count, wanted) in [(0, false), (1, true), (21, true), (37, true), (38, false), (200, false)] {
            #expect(try isRead { $0.serialBytes = Data(repeating: 1, count: count) } == wanted, "\(count)")
        }
    }

    @Test func theFirstVersionIsNotWritten() throws {
        #expect(try isRead { $0.version = 1 })
        #expect(try !isRead { ($0.version, $0.writesVersion) = (1, true) })
        for (version, wanted) in [(2, true), (3, true), (4, false), (257, false)] {
            #expect(try isRead { $0.version = version } == wanted, "\(version)")
        }
    }

    @Test func thereAreFewerThan10000Extensions() throws {
        let one = MadeExtension("1.2.3", Data())
        for (count, wanted) in [(1, true), (9_999, true), (10_000, false)] {
            #expect(try isRead { $0.extensions = [MadeExtension](repeating: one, count: count) } == wanted, "\(count)")
        }
    }

    @Test func aListOfExtensionsIsNotEmpty() throws {
        #expect(try !isRead { $0.writesEmptyExtensions = true })
    }

    /// Returns the values in a SEQUENCE of fewer than 65,536 bytes.
    private func members(of sequence: Data) throws -> [Data] {
        var bytes = Array(sequence)[...]
        func header() throws -> (count: Int, length: Int) {
            let first = try #require(bytes.dropFirst().first)
            guard first >= 0x80 else { return (2, Int(first)) }
            let more = bytes.dropFirst(2).prefix(Int(first & 0x7F))
            return (2 + more.count, more.reduce(0) { $0 << 8 | Int($1) })
        }
        bytes = try bytes.dropFirst(header().count)
        var members: [Data] = []
        while !bytes.isEmpty {
            let (count, length) = try header()
            members.append(Data(bytes.prefix(count + length)))
            bytes = bytes.dropFirst(count + length)
        }
        return members
    }

    /// RFC 5280, 4.1.1.2. Apple's systems compare the algorithms, and not their parameters. OpenSSL compares both.
    @Test func theSignedPartNamesTheAlgorithmOfTheSignature() throws {
        let key = try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 1, count: 32))
        func make(_ name: String, _ extensions: [MadeExtension]) throws -> Data {
            var certificate = MadeCertificate(
                subject: DERValue.name(["CN=\(name)"]), issuer: DERValue.name(["CN=root"]),
                from: PathTable.validity.from, to: PathTable.validity.to, publicKey: key.publicKey.derRepresentation)
            certificate.extensions = extensions
            return try certificate.signed(with: key)
        }
        let (root, leaf) = try (make("root", PathTable.authority), make("leaf", PathTable.leaf))
        let parts = try members(of: leaf)
        try #require(parts.count == 3 && DERValue.sequence(parts) == leaf)
        let program = try OpenSSLProgram()
        try program.write(privacyEnhancedMail(of: [root]), to: "root.pem")
        let time = String(Int(PathTable.date.timeIntervalSince1970))
        // ecdsa-with-SHA256, ecdsa-with-SHA384, and the first with parameters that it does not have.
        for (algorithm, status) in [
            (DERValue.identifier("1.2.840.10045.4.3.2"), errSecSuccess),
            (DERValue.identifier("1.2.840.10045.4.3.3"), errSecNotSigner),
            (DERValue.identifier("1.2.840.10045.4.3.2") + DERValue.hex("05 00"), errSecNotSigner),
        ] {
            let changed = DERValue.sequence(parts[0], DERValue.sequence(algorithm), parts[2])
            let certificates = try [changed, root].map {
                try #require(SecCertificateCreateWithData(nil, $0 as NSData))
            }
            var created: SecTrust?
            let policy = SecPolicyCreateSSL(true, "example.com")
            #expect(SecTrustCreateWithCertificates(certificates[0], policy, &created) == errSecSuccess)
            let trust = try #require(created)
            SecTrustSetAnchorCertificates(trust, [certificates[1]] as NSArray)
            SecTrustSetVerifyDate(trust, PathTable.date as CFDate)
            #expect(KeychainServicesTests.status(of: trust) == status)
            try program.write(privacyEnhancedMail(of: [changed]), to: "leaf.pem")
            let run = try program.start(["verify", "-attime", time, "-trusted", "root.pem", "leaf.pem"])
            #expect(run.text.contains("leaf.pem: OK") == (status == errSecSuccess), "\(run.errors)")
        }
    }
}
