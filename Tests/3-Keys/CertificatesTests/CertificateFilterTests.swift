import Foundation
import Testing

@testable import Certificates

@Suite("Conditions of a certificate search")
struct CertificateFilterTests {
    @Test(arguments: [
        ("one@example.com", true), ("ONE@EXAMPLE.COM", true), ("subject@example.com", true),
        ("two@example.org", true), ("example.com", false), ("", false), ("other@example.com", false),
    ])
    func emailAddressesCompareWithoutCase(address: String, expected: Bool) throws {
        let der = try CertificateFixture.named("p256-utf8").certificate
        #expect(CertificateFilter.hasEmailAddress(address, in: der) == expected)
        let without = try CertificateFixture.named("rsa-printable").certificate
        #expect(!CertificateFilter.hasEmailAddress(address, in: without))
    }

    @Test func validityIncludesBothEnds() throws {
        let fixture = try CertificateFixture.named("p256-utf8")
        let first = Date(timeIntervalSince1970: fixture.notBefore)
        let last = Date(timeIntervalSince1970: fixture.notAfter)
        for (date, expected) in [(first, true), (last, true), (first - 1, false), (last + 1, false)] {
            #expect(CertificateFilter.isValid(fixture.certificate, on: date) == expected)
        }
    }

    @Test func namesAreGivenInTheStoredForm() throws {
        let fixture = try CertificateFixture.named("rsa-printable")
        let expected = try DistinguishedName(der: fixture.normalizedIssuer.data).normalizedContent
        #expect(CertificateFilter.normalizedIssuer(of: fixture.certificate) == expected)
        #expect(CertificateFilter.normalizedSubject(of: fixture.certificate) == expected)
        #expect(CertificateFilter.normalizedName(fromDER: fixture.issuer.data) == expected)
        #expect(CertificateFilter.normalizedName(fromDER: fixture.normalizedIssuer.data) == expected)
        #expect(CertificateFilter.normalizedName(fromDER: expected) == nil, "the content alone is no DER name")
    }

    @Test func bytesThatAreNoCertificateMeetNoCondition() {
        let bytes = Data("not a certificate".utf8)
        #expect(!CertificateFilter.hasEmailAddress("", in: bytes))
        #expect(!CertificateFilter.isValid(bytes, on: Date()))
        #expect(CertificateFilter.normalizedIssuer(of: bytes) == nil)
        #expect(CertificateFilter.normalizedName(fromDER: bytes) == nil)
    }
}
