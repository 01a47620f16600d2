import CommonCrypto
import Foundation
import TestSupport
import Testing

@Suite struct KeyTests {
    private static func key(
        _ password: String, _ salt: Data, _ function: Int, rounds: UInt32, count: Int
    ) -> (status: Int32, key: Data) {
        var key = [UInt8](repeating: 0, count: count)
        let status = salt.withUnsafeBytes { salt in
            CCKeyDerivationPBKDF(
                CCPBKDFAlgorithm(kCCPBKDF2), password, password.utf8.count, salt.baseAddress, salt.count,
                CCPseudoRandomAlgorithm(function), rounds, &key, count)
        }
        return (status, Data(key))
    }

    /// RFC 6070 and RFC 7914, section 11.
    @Test func publishedKeys() {
        #expect(
            Self.key("password", Data("salt".utf8), kCCPRFHmacAlgSHA1, rounds: 4096, count: 20).key.hex
                == "4b007901b765489abead49d926f721d065a429c1")
        #expect(
            Self.key("passwd", Data("salt".utf8), kCCPRFHmacAlgSHA256, rounds: 1, count: 64).key.hex
                == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783")
    }

    @Test(arguments: [
        ("SHA1", kCCPRFHmacAlgSHA1), ("SHA224", kCCPRFHmacAlgSHA224), ("SHA256", kCCPRFHmacAlgSHA256),
        ("SHA384", kCCPRFHmacAlgSHA384), ("SHA512", kCCPRFHmacAlgSHA512),
    ])
    func derivedKeysAreThoseOfOpenSSL(_ name: String, _ function: Int) throws {
        var random = SeededGenerator()
        let salt = random.bytes(16)
        let expected = try OpenSSLProgram.output(
            [
                "kdf", "-keylen", "77", "-kdfopt", "digest:\(name)", "-kdfopt", "pass:secret words", "-kdfopt",
                "hexsalt:\(salt.hex)", "-kdfopt", "iter:1234", "-binary", "PBKDF2",
            ], input: Data())
        let (status, key) = Self.key("secret words", salt, function, rounds: 1_234, count: 77)
        #expect(status == kCCSuccess && key == expected)
    }

    @Test func wrongArgumentsOfADerivationAreRefused() {
        let salt = Data([1, 2, 3])
        #expect(Self.key("p", salt, kCCPRFHmacAlgSHA1, rounds: 0, count: 20).status == kCCParamError)
        #expect(Self.key("p", salt, 0, rounds: 1, count: 20).status == kCCParamError)
        #expect(Self.key("p", salt, 6, rounds: 1, count: 20).status == kCCParamError)
        var key = [UInt8](repeating: 0, count: 8)
        #expect(CCKeyDerivationPBKDF(1, "p", 1, [1], 1, 1, 1, &key, 8) == kCCParamError)
        #expect(CCKeyDerivationPBKDF(2, nil, 0, [1], 1, 1, 1, &key, 8) == kCCParamError)
        #expect(CCKeyDerivationPBKDF(2, "p", 1, nil, 1, 1, 1, &key, 8) == kCCParamError)
        #expect(CCKeyDerivationPBKDF(2, "p", 1, [1], 1, 1, 1, nil, 8) == kCCParamError)
        #expect(CCKeyDerivationPBKDF(2, "p", 1, [1], 1, 1, 1, &key, 0) == kCCParamError)
        #expect(CCKeyDerivationPBKDF(2, "", 0, nil, 0, 1, 1, &key, 8) == kCCSuccess)
    }

    @Test func calibratedRoundsAreNeverFewerThanTenThousand() {
        let function = CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256)
        #expect(CCCalibratePBKDF(2, 10, 16, function, 32, 0) == 10_000)
        #expect(CCCalibratePBKDF(2, 10, 16, function, 32, .max) > 10_000)
        #expect(CCCalibratePBKDF(2, 10, 16, function, 0, 100) == .max)
        #expect(CCCalibratePBKDF(2, 10, 133, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(1, 10, 16, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, .max, 16, function, 32, 100) == .max)
        #expect(CCCalibratePBKDF(2, 10, 16, function, 1_025, 100) == .max)
        #expect(CCCalibratePBKDF(2, 10, 16, 9, 32, 100) == .max)
    }

    @Test func randomBytesDiffer() {
        var (first, second) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        #expect(CCRandomGenerateBytes(&first, 32) == kCCSuccess)
        #expect(CCRandomGenerateBytes(&second, 32) == kCCSuccess)
        #expect(first != second && first != [UInt8](repeating: 0, count: 32))
        #expect(CCRandomGenerateBytes(nil, 0) == kCCSuccess)
        #expect(CCRandomGenerateBytes(nil, 1) == kCCParamError)
    }

    // MARK: Wrapping

    private static func wrap(_ key: Data, under kek: Data, iv: Data? = nil, room: Int? = nil) -> (Int32, Data) {
        var count = room ?? CCSymmetricWrappedSize(CCWrappingAlgorithm(kCCWRAPAES), key.count)
        var wrapped = [UInt8](repeating: 0xEE, count: max(count, 1))
        let status = CCSymmetricKeyWrap(
            CCWrappingAlgorithm(kCCWRAPAES), iv.map(Array.init), iv?.count ?? 0, Array(kek), kek.count, Array(key),
            key.count, &wrapped, &count)
        return (status, Data(wrapped.prefix(count)))
    }

    private static func unwrap(_ wrapped: Data, under kek: Data, iv: Data? = nil, room: Int? = nil) -> (Int32, Data) {
        var count = room ?? CCSymmetricUnwrappedSize(CCWrappingAlgorithm(kCCWRAPAES), wrapped.count)
        var key = [UInt8](repeating: 0xEE, count: max(count, 1))
        let status = CCSymmetricKeyUnwrap(
            CCWrappingAlgorithm(kCCWRAPAES), iv.map(Array.init), iv?.count ?? 0, Array(kek), kek.count, Array(wrapped),
            wrapped.count, &key, &count)
        return (status, Data(key.prefix(count)))
    }

    /// RFC 3394, sections 4.1 and 4.6.
    @Test(arguments: [
        (
            "000102030405060708090A0B0C0D0E0F", "00112233445566778899AABBCCDDEEFF",
            "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"
        ),
        (
            "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
            "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F",
            "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"
        ),
    ])
    func publishedWrappedKeys(_ kek: String, _ key: String, _ wrapped: String) {
        let (kek, key, wrapped) = (Data(hex: kek), Data(hex: key), Data(hex: wrapped))
        #expect(Self.wrap(key, under: kek) == (Int32(kCCSuccess), wrapped))
        let standard = Data(bytes: CCrfc3394_iv, count: CCrfc3394_ivLen)
        #expect(Self.wrap(key, under: kek, iv: standard) == (Int32(kCCSuccess), wrapped))
        #expect(Self.unwrap(wrapped, under: kek) == (Int32(kCCSuccess), key))
        let other = Data(repeating: 1, count: 8)
        #expect(Self.wrap(key, under: kek, iv: other).1 != wrapped)
        #expect(Self.unwrap(wrapped, under: kek, iv: other) == (Int32(kCCDecodeError), Data()))
    }

    @Test func aChangedKeyAndWrongSizesAreRefused() {
        var random = SeededGenerator()
        let (kek, key) = (random.bytes(16), random.bytes(16))
        let (_, wrapped) = Self.wrap(key, under: kek)
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            #expect(Self.unwrap(changed, under: kek) == (Int32(kCCDecodeError), Data()))
        }
        for size in [0, 8, 15, 17] {
            #expect(Self.wrap(random.bytes(size), under: kek) == (Int32(kCCParamError), Data()))
            #expect(Self.wrap(key, under: random.bytes(size)) == (Int32(kCCParamError), Data()))
        }
        for size in [0, 8, 16, 23, 25] {
            #expect(Self.unwrap(random.bytes(size), under: kek) == (Int32(kCCParamError), Data()))
        }
        #expect(Self.wrap(key, under: kek, room: 23) == (Int32(kCCParamError), Data()))
        #expect(Self.unwrap(wrapped, under: kek, room: 15) == (Int32(kCCParamError), Data()))
        #expect(Self.wrap(key, under: kek, iv: Data(count: 7)) == (Int32(kCCParamError), Data()))
        #expect(Self.wrap(key, under: kek, iv: Data(count: 16)) == (Int32(kCCParamError), Data()))
        #expect(CCSymmetricUnwrappedSize(1, 7) == 0)
    }
}
