import Foundation
import Testing

@testable import Certificates

/// Whatever the bytes, reading either throws or gives a value that reads back the same. A crash would
/// end the test run.
@Suite("Untrusted bytes")
struct MutationTests {
    /// A linear congruential generator with a fixed seed, so that a failure can be repeated.
    private struct Repeatable: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static let certificates = ["p256-utf8", "rsa-printable", "p521-nameless", "rsa1024-bmp"]

    private func check(_ bytes: Data) throws {
        if let certificate = try? Certificate(der: bytes) {
            #expect(certificate.encoded == bytes)
            #expect(try Certificate(der: certificate.encoded) == certificate)
            let normal = certificate.subject.normalizedSequence
            #expect(try DistinguishedName(der: normal).normalizedSequence == normal)
            _ = (certificate.subjectSummary, certificate.publicKey.key?.applicationLabel)
        }
        for type in [KeyData.KeyType.rsa, .ellipticCurve] {
            for keyClass in [KeyData.KeyClass.public, .private] {
                guard let key = try? KeyData(bytes, type: type, keyClass: keyClass) else { continue }
                #expect(try KeyData(key.externalRepresentation, type: type, keyClass: keyClass) == key)
            }
        }
    }

    @Test(arguments: certificates)
    func mutatedCertificates(name: String) throws {
        let original = try CertificateFixture.named(name).certificate
        var random = Repeatable(state: UInt64(original.count))
        for _ in 0..<600 {
            var bytes = original
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 2: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            try check(bytes)
        }
    }

    /// Each byte of the header part in turn: tags and lengths are where parsers go wrong.
    @Test func everyTagAndLength() throws {
        let original = try CertificateFixture.named("p224").certificate
        for index in original.indices {
            for value in [0x00, 0x1f, 0x30, 0x7f, 0x80, 0x84, 0xff] as [UInt8] {
                var bytes = original
                bytes[index] = value
                try check(bytes)
            }
        }
    }

    @Test func mutatedKeys() throws {
        var random = Repeatable(state: 7)
        for (_, fixture) in try KeyFixture.all().sorted(by: { $0.key < $1.key }) {
            for original in [fixture.public.data, fixture.private.data, fixture.spki.data] {
                for _ in 0..<40 {
                    var bytes = original
                    let index = Int.random(in: 0..<min(40, bytes.count), using: &random)
                    bytes[index] = UInt8.random(in: 0...255, using: &random)
                    try check(bytes)
                }
            }
        }
    }

    @Test func randomBytes() throws {
        var random = Repeatable(state: 11)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<200, using: &random)
            var bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            if let tag = ([0x30, 0x04] as [UInt8]).randomElement(using: &random), !bytes.isEmpty { bytes[0] = tag }
            try check(bytes)
        }
    }

    /// Nesting without end costs the parser a stack; it must stop before that.
    @Test func deepNesting() {
        var bytes = Data()
        for _ in 0..<5000 {
            let length = bytes.count
            let header: [UInt8] =
                length < 0x80
                ? [0x30, UInt8(length)]
                : length < 0x100
                    ? [0x30, 0x81, UInt8(length)] : [0x30, 0x82, UInt8(length >> 8), UInt8(length & 0xff)]
            bytes = Data(header) + bytes
        }
        #expect(throws: CertificateError(malformed: "certificate")) { try Certificate(der: bytes) }
    }
}
