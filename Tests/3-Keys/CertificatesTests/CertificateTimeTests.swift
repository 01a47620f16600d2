import Foundation
import SwiftASN1
import Testing

@testable import Certificates

@Suite("Times of certificates, in the forms that Apple's parser reads")
struct CertificateTimeTests {
    /// Seconds since 1970, as `date -u -d … +%s` has them.
    @Test(arguments: [
        (0x17, "250101000000Z", 1_735_689_600), (0x17, "2501010000Z", 1_735_689_600),
        (0x17, "250101000000+0100", 1_735_686_000), (0x17, "2501010000-0130", 1_735_695_000),
        (0x17, "491231235959Z", 2_524_607_999), (0x17, "500101000000Z", -631_152_000),
        (0x18, "20550101000000Z", 2_682_374_400), (0x18, "205501010000Z", 2_682_374_400),
        (0x18, "20550101000000+0100", 2_682_370_800), (0x18, "20240229120000Z", 1_709_208_000),
        (0x18, "99991231235959Z", 253_402_300_799),
    ])
    func isRead(tag: UInt8, text: String, expected: Int) throws {
        #expect(try date(tag, text).timeIntervalSince1970 == Double(expected))
    }

    @Test(arguments: [
        (0x18, "20550101000000.5Z"), (0x18, "20550101000000,5Z"), (0x18, "20550101000000"), (0x17, "250101000000"),
        (0x17, "250101000000z"), (0x17, "2501010000+01"), (0x17, "250101000000+2400"), (0x17, "250101000000+0060"),
        (0x17, "250001000000Z"), (0x17, "251301000000Z"), (0x17, "250100000000Z"), (0x17, "250229000000Z"),
        (0x18, "21000229000000Z"), (0x17, "250101240000Z"), (0x17, "250101006000Z"), (0x17, "250101000060Z"),
        (0x17, "25010100000Z"), (0x17, "2501010000000Z"), (0x17, "Z"), (0x17, ""), (0x18, "250101000000Z "),
        (0x17, "2५0101000000Z"), (0x16, "250101000000Z"), (0x17, "250101000000+010"), (0x17, "250101000000+01:0"),
    ])
    func isRefused(tag: UInt8, text: String) {
        #expect(throws: CertificateError.self) { try date(tag, text) }
    }

    /// Files that other software made. OpenSSL's `x509 -dates` prints the same.
    @Test(arguments: [
        ("utctime-with-offset.der", 1_735_686_000, 2_051_222_400),
        ("utctime-without-seconds.der", 1_735_689_600, 2_051_222_400),
        ("generalizedtime-with-offset.der", 1_735_689_600, 2_682_370_800),
    ])
    func filesOfOldSoftware(name: String, start: Int, end: Int) throws {
        let certificate = try Certificate(der: file(name))
        #expect(certificate.notBefore.timeIntervalSince1970 == Double(start))
        #expect(certificate.notAfter.timeIntervalSince1970 == Double(end))
    }

    @Test func fractionInAFileIsRefused() throws {
        let der = try file("generalizedtime-with-fraction.der")
        #expect(throws: CertificateError(malformed: "certificate validity")) { try Certificate(der: der) }
    }

    private func date(_ tag: UInt8, _ text: String) throws -> Date {
        let node = try ASN1Node.parse(Data([tag, UInt8(text.utf8.count)] + text.utf8), as: "time")
        return try CertificateTime.date(of: node, as: "time")
    }

    private func file(_ name: String) throws -> Data {
        try Data(contentsOf: Fixtures.folder.appending(path: "Times/\(name)"))
    }
}
