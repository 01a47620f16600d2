import Foundation
import Testing

@testable import Certificates

@Suite("Certificates read as an independent parser reads them")
struct CertificateTests {
    private static let names = [
        "ed25519", "p224", "p256-utf8", "p384-described", "p521-nameless", "rsa-printable", "rsa1024-bmp", "v1",
    ]

    @Test(arguments: names)
    func everyField(name: String) throws {
        let expected = try CertificateFixture.named(name)
        let certificate = try Certificate(der: expected.certificate)

        #expect(certificate.encoded == expected.certificate)
        #expect(certificate.version == expected.version)
        #expect(certificate.serialNumber == expected.serial.data)
        #expect(certificate.subject.encoded == expected.subject.data)
        #expect(certificate.issuer.encoded == expected.issuer.data)
        #expect(certificate.subject.normalizedSequence == expected.normalizedSubject.data)
        #expect(certificate.issuer.normalizedSequence == expected.normalizedIssuer.data)
        #expect(certificate.commonNames == expected.commonNames)
        #expect(certificate.emailAddresses == expected.emailAddresses)
        #expect(certificate.subjectKeyIdentifier == expected.subjectKeyIdentifier?.data)
        #expect(certificate.publicKeyHash == expected.publicKeyHash.data)
        #expect(certificate.publicKey.key?.externalRepresentation == expected.publicKey?.data)
        #expect(certificate.publicKey.key?.sizeInBits == expected.keySize)
        #expect(certificate.notBefore.timeIntervalSince1970 == expected.notBefore)
        #expect(certificate.notAfter.timeIntervalSince1970 == expected.notAfter)
    }

    @Test(arguments: names)
    func publicKeyHashIsTheKeysApplicationLabel(name: String) throws {
        let certificate = try Certificate(der: CertificateFixture.named(name).certificate)
        let key = try #require(certificate.publicKey.key)
        #expect(key.applicationLabel == certificate.publicKeyHash)
    }

    @Test(arguments: [
        ("rsa-printable", "Second unit, First unit"),
        ("p256-utf8", "Zweite Ämter, Erste"),
        ("p384-described", "Some   Name (a description)"),
        ("p521-nameless", "host.example.org"),
        ("rsa1024-bmp", "Größe Ω"),
    ])
    func summaryIsTheMostTellingPart(name: String, summary: String) throws {
        #expect(try Certificate(der: CertificateFixture.named(name).certificate).subjectSummary == summary)
    }

    @Test func bytesAfterTheEndAreRefused() throws {
        let der = try CertificateFixture.named("p256-utf8").certificate
        #expect(throws: CertificateError(malformed: "certificate")) { try Certificate(der: der + [0]) }
        #expect(throws: CertificateError(malformed: "certificate")) { try Certificate(der: der.dropLast()) }
        #expect(throws: CertificateError(malformed: "certificate")) { try Certificate(der: Data()) }
    }

    @Test func slicesReadLikeTheirCopies() throws {
        let der = try CertificateFixture.named("p256-utf8").certificate
        let slice = (Data([1, 2, 3]) + der + Data([4])).dropFirst(3).dropLast()
        #expect(try Certificate(der: slice) == Certificate(der: der))
    }

    /// The certificate's length fields make every truncation of a member visible as a wrong structure.
    @Test func noPrefixIsACertificate() throws {
        let der = try CertificateFixture.named("p224").certificate
        for length in 0..<der.count {
            #expect(throws: CertificateError.self) { try Certificate(der: der.prefix(length)) }
        }
    }
}
