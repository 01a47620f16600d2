import CommonCrypto
import Foundation
import TestSupport
import Testing

@Suite struct DigestTests {
    /// Returns the digest of `data`, in pieces if there are `cuts`.
    private static func digest<Context>(
        _ data: Data, cuts: [Int]?, count: Int32, _ context: Context,
        _ whole: (UnsafeRawPointer?, CC_LONG, UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?,
        _ begin: (UnsafeMutablePointer<Context>?) -> Int32,
        _ update: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, CC_LONG) -> Int32,
        _ end: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Context>?) -> Int32
    ) -> Data {
        var result = [UInt8](repeating: 0xEE, count: Int(count) + 1)
        data.withUnsafeBytes { bytes in
            guard let cuts else {
                #expect(whole(bytes.baseAddress, CC_LONG(bytes.count), &result) != nil)
                return
            }
            var context = context
            #expect(begin(&context) == 1)
            var place = 0
            for cut in cuts + [bytes.count] where cut >= place {
                // A context is memory, and a copy goes on by itself.
                var copy = context
                let piece = UnsafeRawBufferPointer(rebasing: bytes[place..<cut])
                #expect(update(&copy, piece.baseAddress, CC_LONG(piece.count)) == 1)
                context = copy
                place = cut
            }
            #expect(end(&result, &context) == 1)
        }
        #expect(result.last == 0xEE)
        return Data(result.dropLast())
    }

    private static func digest(_ name: String, _ data: Data, cuts: [Int]? = nil) -> Data {
        switch name {
        case "md2":
            digest(
                data, cuts: cuts, count: CC_MD2_DIGEST_LENGTH, CC_MD2_CTX(), CC_MD2, CC_MD2_Init, CC_MD2_Update,
                CC_MD2_Final)
        case "md4":
            digest(
                data, cuts: cuts, count: CC_MD4_DIGEST_LENGTH, CC_MD4_CTX(), CC_MD4, CC_MD4_Init, CC_MD4_Update,
                CC_MD4_Final)
        case "md5":
            digest(
                data, cuts: cuts, count: CC_MD5_DIGEST_LENGTH, CC_MD5_CTX(), CC_MD5, CC_MD5_Init, CC_MD5_Update,
                CC_MD5_Final)
        case "sha1":
            digest(
                data, cuts: cuts, count: CC_SHA1_DIGEST_LENGTH, CC_SHA1_CTX(), CC_SHA1, CC_SHA1_Init, CC_SHA1_Update,
                CC_SHA1_Final)
        case "sha224":
            digest(
                data, cuts: cuts, count: CC_SHA224_DIGEST_LENGTH, CC_SHA256_CTX(), CC_SHA224, CC_SHA224_Init,
                CC_SHA224_Update, CC_SHA224_Final)
        case "sha256":
            digest(
                data, cuts: cuts, count: CC_SHA256_DIGEST_LENGTH, CC_SHA256_CTX(), CC_SHA256, CC_SHA256_Init,
                CC_SHA256_Update, CC_SHA256_Final)
        case "sha384":
            digest(
                data, cuts: cuts, count: CC_SHA384_DIGEST_LENGTH, CC_SHA512_CTX(), CC_SHA384, CC_SHA384_Init,
                CC_SHA384_Update, CC_SHA384_Final)
        default:
            digest(
                data, cuts: cuts, count: CC_SHA512_DIGEST_LENGTH, CC_SHA512_CTX(), CC_SHA512, CC_SHA512_Init,
                CC_SHA512_Update, CC_SHA512_Final)
        }
    }

    /// RFC 1320 and 1321, appendix A.5, and FIPS 180-4's examples.
    @Test(arguments: [
        ("md4", "a448017aaf21d8525fc10ae87aa6729d"), ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "sha384",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        ),
        (
            "sha512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
    ])
    func publishedDigestsOfABC(_ name: String, _ digest: String) {
        #expect(Self.digest(name, Data("abc".utf8)).hex == digest)
    }

    /// RFC 1319, appendix A.5.
    @Test(arguments: [
        ("", "8350e5a3e24c153df2275c9f80692773"), ("a", "32ec01ec4a6dac72c0ab96fb34c0b5d1"),
        ("abc", "da853b0d3f88d99b30283a69e6ded6bb"), ("message digest", "ab4f496bfb2a530b219ff33031fe06b0"),
        ("abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "da33def2a42df13975352846c30338cd"
        ),
        (String(repeating: "1234567890", count: 8), "d5976f79d83d3a0dc9806c3c66f3efd8"),
    ])
    func publishedDigestsOfMD2(_ text: String, _ digest: String) {
        let data = Data(text.utf8)
        #expect(Self.digest("md2", data).hex == digest)
        for cut in 0...data.count {
            #expect(Self.digest("md2", data, cuts: [cut]).hex == digest, "\(cut)")
        }
        #expect(CC_MD2(text, CC_LONG(data.count), nil) == nil)
    }

    @Test(arguments: ["md4", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"])
    func digestsAreThoseOfOpenSSLInAnyPieces(_ name: String) throws {
        var random = SeededGenerator()
        for size in [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1_000, 100_000] {
            let data = random.bytes(size)
            let expected = try OpenSSLProgram.output(
                ["dgst", "-\(name)", "-binary", "-provider", "legacy", "-provider", "default"], input: data)
            #expect(Self.digest(name, data) == expected, "\(size)")
            let cuts = (0..<4).map { _ in random.int(below: size + 1) }.sorted()
            #expect(Self.digest(name, data, cuts: cuts) == expected, "\(size), \(cuts)")
        }
    }

    @Test func withoutAPlaceForTheDigestNothingHappens() {
        #expect(CC_SHA256("abc", 3, nil) == nil)
    }
}
