import Foundation
import Testing

@testable import Certificates

@Suite("Keys in their external representation")
struct KeyDataTests {
    private static let curves = ["P-192", "P-224", "P-256", "P-384", "P-521"]
    private static let others = ["Ed25519"]
    private static let rsa = ["RSA-1024", "RSA-1031", "RSA-2048"]

    @Test(arguments: curves + rsa + others)
    func bothHalves(name: String) throws {
        let expected = try KeyFixture.named(name)
        let type = try #require(KeyData.KeyType(rawValue: expected.type))
        let `private` = try KeyData(expected.private.data, type: type, keyClass: .private)
        let `public` = try KeyData(expected.public.data, type: type, keyClass: .public)

        #expect(`private`.externalRepresentation == expected.private.data)
        #expect(`public`.externalRepresentation == expected.public.data)
        #expect(`private`.publicKey == `public`)
        #expect(`private` != `public`)
        for key in [`private`, `public`] {
            #expect(key.sizeInBits == expected.size)
            #expect(key.blockSize == (expected.size + 7) / 8)
            #expect(key.applicationLabel == expected.applicationLabel.data)
        }
    }

    /// The files of other software, and our own again.
    @Test(arguments: curves + rsa + others)
    func privateKeysComeBackFromTheirInfo(name: String) throws {
        let fixture = try KeyFixture.named(name)
        let type = try #require(KeyData.KeyType(rawValue: fixture.type))
        let key = try KeyData(fixture.private.data, type: type, keyClass: .private)
        #expect(try KeyData(privateKeyInfo: fixture.pkcs8.data) == key)
        #expect(try key.privateKeyInfo().map { try KeyData(privateKeyInfo: $0) } == key)
    }

    /// The key says its public key and, in a PrivateKeyInfo, its curve twice.
    @Test(arguments: ["P-256", "P-384", "P-521"])
    func ellipticCurveKeysThatContradictThemselvesAreRefused(name: String) throws {
        let fixture = try KeyFixture.named(name)
        let size = (fixture.size + 7) / 8
        let (point, scalar) = (fixture.public.data, fixture.private.data.suffix(size))
        let other: [UInt8] =
            name == "P-256" ? [0x2B, 0x81, 0x04, 0x00, 0x22] : [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
        let own: [UInt8] =
            switch name {
            case "P-256": [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
            case "P-384": [0x2B, 0x81, 0x04, 0x00, 0x22]
            default: [0x2B, 0x81, 0x04, 0x00, 0x23]
            }
        func sec1(_ scalar: Data, curve: [UInt8]?, _ point: Data?) -> Data {
            tagged(
                0x30,
                Data([2, 1, 1]) + tagged(4, scalar) + (curve.map { tagged(0xA0, tagged(6, Data($0))) } ?? Data())
                    + (point.map { tagged(0xA1, tagged(3, [0] + $0)) } ?? Data()))
        }
        func info(_ key: Data) -> Data {
            let algorithm = Data([0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]) + tagged(6, Data(own))
            return tagged(0x30, Data([2, 1, 0]) + tagged(0x30, algorithm) + tagged(4, key))
        }
        let compressed = Data([2 + (point[point.count - 1] & 1)]) + point[1...size]
        let key = try KeyData(sec1: sec1(scalar, curve: own, point))
        #expect(try KeyData(sec1: sec1(scalar, curve: own, nil)) == key)
        #expect(try KeyData(sec1: sec1(scalar, curve: own, compressed)) == key)
        #expect(try KeyData(privateKeyInfo: info(sec1(scalar, curve: own, point))) == key)
        #expect(try KeyData(privateKeyInfo: info(sec1(scalar, curve: nil, point))) == key)

        var changed = compressed
        changed[0] ^= 1
        for contradictory in [
            sec1(scalar.dropLast(), curve: own, point), sec1(scalar, curve: own, changed),
            sec1(scalar, curve: own, Data(point.dropLast())), sec1(scalar, curve: own, Data()),
        ] {
            #expect(throws: KeyData.contradictory) { try KeyData(sec1: contradictory) }
            #expect(throws: KeyData.contradictory) { try KeyData(privateKeyInfo: info(contradictory)) }
        }
        #expect(throws: KeyData.contradictory) {
            try KeyData(privateKeyInfo: info(sec1(scalar, curve: other, point)))
        }
    }

    private func tagged(_ tag: UInt8, _ content: Data) -> Data {
        let length: [UInt8] = content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
        return [tag] + length + content
    }

    @Test(arguments: rsa)
    func rsaPublicKeysMayComeAsSubjectPublicKeyInfo(name: String) throws {
        let expected = try KeyFixture.named(name)
        let key = try KeyData(expected.spki.data, type: .rsa, keyClass: .public)
        #expect(key.externalRepresentation == expected.public.data)
    }

    @Test(arguments: curves + rsa + others)
    func otherFormsAreRefused(name: String) throws {
        let fixture = try KeyFixture.named(name)
        let type = try #require(KeyData.KeyType(rawValue: fixture.type))
        var refused: [(Data, KeyData.KeyClass)] = [
            (fixture.pkcs8.data, .private), (fixture.spki.data, .private),
            (fixture.private.data.dropLast(), .private), (fixture.private.data + [0], .private),
            (fixture.public.data.dropLast(), .public), (fixture.public.data + [0], .public),
            (Data(), .public), (Data(), .private),
        ]
        // Any 32 bytes are a private key of Ed25519.
        if type != .ed25519 { refused.append((fixture.public.data, .private)) }
        if type == .ellipticCurve { refused.append((fixture.spki.data, .public)) }
        for (bytes, keyClass) in refused {
            #expect(throws: CertificateError.self) { try KeyData(bytes, type: type, keyClass: keyClass) }
        }
    }

    @Test(arguments: ["P-256", "P-384", "P-521"])
    func pointsOffTheCurveAreRefused(name: String) throws {
        let fixture = try KeyFixture.named(name)
        var point = fixture.public.data
        point[point.count - 1] ^= 1
        #expect(throws: CertificateError(malformed: "elliptic-curve public key")) {
            try KeyData(point, type: .ellipticCurve, keyClass: .public)
        }
    }

    @Test(arguments: ["P-256", "P-384", "P-521"])
    func scalarsOfAnotherPointAreRefused(name: String) throws {
        var bytes = try KeyFixture.named(name).private.data
        bytes[bytes.count - 1] ^= 1
        #expect(throws: CertificateError(malformed: "elliptic-curve private key")) {
            try KeyData(bytes, type: .ellipticCurve, keyClass: .private)
        }
    }

    @Test(arguments: curves)
    func compressedPointsAreRefused(name: String) throws {
        var point = try KeyFixture.named(name).public.data
        point[0] = 0x02
        #expect(throws: CertificateError.self) { try KeyData(point, type: .ellipticCurve, keyClass: .public) }
    }

    /// `SEQUENCE { n, e }` with numbers that no RSA key has: zero, one, even, negative, not minimal.
    @Test(
        arguments: [
            [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x03], [0x30, 0x06, 0x02, 0x01, 0x0f, 0x02, 0x01, 0x01],
            [0x30, 0x06, 0x02, 0x01, 0x0e, 0x02, 0x01, 0x03], [0x30, 0x06, 0x02, 0x01, 0x0f, 0x02, 0x01, 0x02],
            [0x30, 0x06, 0x02, 0x01, 0x8f, 0x02, 0x01, 0x03], [0x30, 0x07, 0x02, 0x02, 0x00, 0x0f, 0x02, 0x01, 0x03],
        ] as [[UInt8]])
    func impossibleNumbersAreRefused(bytes: [UInt8]) {
        #expect(throws: CertificateError.self) { try KeyData(Data(bytes), type: .rsa, keyClass: .public) }
    }

    @Test(arguments: curves + rsa + others)
    func nothingPrintsSecretBytes(name: String) throws {
        let fixture = try KeyFixture.named(name)
        let key = try KeyData(
            fixture.private.data, type: #require(KeyData.KeyType(rawValue: fixture.type)), keyClass: .private)
        var dumped = ""
        dump(key, to: &dumped)
        let secret = fixture.private.data.suffix(8)
        let decimals = secret.map(String.init).joined(separator: ", ")
        let digits = secret.map { String(format: "%02x", $0) }.joined()
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains("application label"))
            #expect(!text.contains(decimals) && !text.contains(digits))
        }
    }
}
