import CommonCrypto
import Foundation
import TestSupport
import Testing

@Suite struct HMACTests {
    private static let algorithms: [(name: String, number: Int, count: Int32)] = [
        ("md5", kCCHmacAlgMD5, CC_MD5_DIGEST_LENGTH), ("sha1", kCCHmacAlgSHA1, CC_SHA1_DIGEST_LENGTH),
        ("sha224", kCCHmacAlgSHA224, CC_SHA224_DIGEST_LENGTH), ("sha256", kCCHmacAlgSHA256, CC_SHA256_DIGEST_LENGTH),
        ("sha384", kCCHmacAlgSHA384, CC_SHA384_DIGEST_LENGTH), ("sha512", kCCHmacAlgSHA512, CC_SHA512_DIGEST_LENGTH),
    ]

    private static func mac(_ data: Data, _ key: Data, _ algorithm: Int, _ count: Int32) -> Data {
        var mac = Data(count: Int(count))
        mac.withUnsafeMutableBytes { mac in
            data.withUnsafeBytes { data in
                key.withUnsafeBytes { key in
                    CCHmac(
                        CCHmacAlgorithm(algorithm), key.baseAddress, key.count, data.baseAddress, data.count,
                        mac.baseAddress)
                }
            }
        }
        return mac
    }

    /// RFC 4231, test cases 2 and 6: a short key, and one that is longer than a block.
    @Test func publishedMACs() {
        let short = Self.mac(
            Data("what do ya want for nothing?".utf8), Data("Jefe".utf8), kCCHmacAlgSHA256, CC_SHA256_DIGEST_LENGTH)
        #expect(short.hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let long = Self.mac(
            Data("Test Using Larger Than Block-Size Key - Hash Key First".utf8), Data(repeating: 0xAA, count: 131),
            kCCHmacAlgSHA512, CC_SHA512_DIGEST_LENGTH)
        #expect(
            long.hex == "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598")
    }

    @Test(arguments: 0..<algorithms.count)
    func macsAreThoseOfOpenSSL(_ index: Int) throws {
        let (name, number, count) = Self.algorithms[index]
        var random = SeededGenerator()
        for (keySize, size) in [(1, 0), (20, 1), (63, 64), (64, 200), (65, 7), (127, 128), (128, 1), (129, 5_000)] {
            let (key, data) = (random.bytes(keySize), random.bytes(size))
            let expected = try OpenSSLProgram.output(
                ["dgst", "-\(name)", "-binary", "-mac", "HMAC", "-macopt", "hexkey:\(key.hex)"], input: data)
            #expect(Self.mac(data, key, number, count) == expected, "\(keySize), \(size)")

            var context = CCHmacContext()
            key.withUnsafeBytes { CCHmacInit(&context, CCHmacAlgorithm(number), $0.baseAddress, $0.count) }
            let cut = random.int(below: size + 1)
            for piece in [data.prefix(cut), data.dropFirst(cut)] {
                piece.withUnsafeBytes { CCHmacUpdate(&context, $0.baseAddress, $0.count) }
            }
            var mac = [UInt8](repeating: 0, count: Int(count))
            CCHmacFinal(&context, &mac)
            #expect(Data(mac) == expected, "\(keySize), \(size), \(cut)")
        }
        #expect(Self.mac(Data(), Data(), number, count).count == Int(count))
    }
}
