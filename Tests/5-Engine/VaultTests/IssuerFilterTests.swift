import Certificates
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Finding certificates by their issuers takes further searches while one is under way.
@Suite struct IssuerFilterTests {
    private let vault: EmbeddedVault
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
        for encoded in [Self.firstLeaf, Self.root, Self.secondLeaf] {
            let certificate = try #require(Data(base64Encoded: encoded))
            let subject = try #require(CertificateFilter.normalizedSubject(of: certificate))
            let issuer = try #require(CertificateFilter.normalizedIssuer(of: certificate))
            let item = NewItem(
                itemClass: .certificate,
                attributes: [
                    .subject: .data(subject), .issuer: .data(issuer),
                    // Distinct for each certificate is all that matters here.
                    .serialNumber: .data(certificate.suffix(8)),
                ], value: certificate)
            _ = try vault.add(item, as: .app)
        }
    }

    private func count(issuers: [Data]) throws -> Int {
        try withDeadline("certificates by issuer") {
            try vault.items(ItemQuery(itemClass: .certificate, filters: [.issuers(issuers)])).count
        }
    }

    @Test func chainsAreFollowedForEachCertificate() throws {
        let root = try #require(Data(base64Encoded: Self.root))
        let leaf = try #require(Data(base64Encoded: Self.firstLeaf))
        let rootName = try #require(CertificateFilter.normalizedSubject(of: root))
        let leafName = try #require(CertificateFilter.normalizedSubject(of: leaf))
        #expect(try count(issuers: [rootName]) == 3)
        #expect(try count(issuers: [leafName, rootName]) == 3)
        #expect(try count(issuers: [leafName]) == 0)
    }

    // Made with OpenSSL: "Root", which signed itself and the two others, "Leaf 1" and "Leaf 2".
    private static let root = """
        MIIBdTCCARugAwIBAgIUCWjYpbbcWtvbS0zSqw32OWGKPO0wCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEUm9vdDAgFw0yNjExMjEx\
        MDM4MDVaGA8yMTI2MTAyODEwMzgwNVowDzENMAsGA1UEAwwEUm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBdPumbvS60k\
        nRiKGjbKEgBN4SVQale5LYKBXdROK5iKM8L/UDKl5eHj/2XrmH5ZRxs5AFPMiRWAP5sBz3BlPcujUzBRMB0GA1UdDgQWBBRH53oJ\
        cH6v2e9mi5FwY6+aiDo69TAfBgNVHSMEGDAWgBRH53oJcH6v2e9mi5FwY6+aiDo69TAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49\
        BAMCA0gAMEUCIEcjLbNk24veodg1lTbJZYWApyrQ1YKDr9XJZvQ7+UEXAiEAihKs5QqrSSzd3oNotx/6VmG+8CbBHXyfTmx2l3g6\
        sQc=
        """
    private static let firstLeaf = """
        MIIBHTCBwwIUX69lD/5f4yZECh79YDICwiI7phkwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEUm9vdDAgFw0yNjExMjExMDM4MDVa\
        GA8yMTI2MTAyODEwMzgwNVowETEPMA0GA1UEAwwGTGVhZiAxMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnXABrXc3cxZH5SFV\
        Qgf85AaTUWEtmxqvxTGSeAVUkBpi13eVazp2cjnHGUIgEx6+rIujyVh0/vPOXeeTs7GAhjAKBggqhkjOPQQDAgNJADBGAiEAzEZH\
        eSY+gQsm6bF1VKiy3Ov/szJUDnfqvWX6p7PP7s4CIQCACTWhZQbJo+3udjDEey4nsyw6YOUaciuks8PVX+aJvg==
        """
    private static let secondLeaf = """
        MIIBGzCBwwIUX69lD/5f4yZECh79YDICwiI7phowCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEUm9vdDAgFw0yNjExMjExMDM4MDVa\
        GA8yMTI2MTAyODEwMzgwNVowETEPMA0GA1UEAwwGTGVhZiAyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1nb8IQXA1u+D2tgu\
        RzLyozgcvx+glSdO3f8K+kQhOP8wbovG08vdBhKpt7qvKW8B9tXXyyvepCwZQtLJzF7+kzAKBggqhkjOPQQDAgNHADBEAiAe7UBs\
        bUENLeiEQMgeL547uKZm92Ue0mcl2Ppos7OBHQIgNRYzOuzmfKjFwmrVBhZYI7eTmY7zGr+IxHOQEwUX4V8=
        """
}
