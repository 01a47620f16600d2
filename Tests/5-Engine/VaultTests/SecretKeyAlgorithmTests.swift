import Bytes
import FoundationEssentials
import KeyCryptography
import Testing

@testable import Vault

/// Published vectors of what secret keys do.
@Suite struct SecretKeyAlgorithmTests {
    private static func data(_ digits: String) throws -> Data { Data(try #require([UInt8](hexadecimal: digits.utf8))) }

    struct Vector: Sendable {
        let name, key, context, binding, text, sealed: String
    }

    static let vectors = [
        // McGrew and Viega, The Galois/Counter Mode of Operation, test case 4.
        Vector(
            name: "AES:GCM:128", key: "feffe9928665731c6d6a8f9467308308", context: "cafebabefacedbaddecaf888",
            binding: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            text: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            sealed: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                + "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091" + "5bc94fbc3221a5db94fae95ae7121a47"),
        // NIST SP 800-38A, F.2.1.
        Vector(
            name: "AES:CBC", key: "2b7e151628aed2a6abf7158809cf4f3c", context: "000102030405060708090a0b0c0d0e0f",
            binding: "", text: "6bc1bee22e409f96e93d7e117393172a", sealed: "7649abac8119b246cee98e9b12e9197d"),
        // RFC 3394, 4.1.
        Vector(
            name: "AES:KW", key: "000102030405060708090a0b0c0d0e0f", context: "", binding: "",
            text: "00112233445566778899aabbccddeeff", sealed: "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
        // RFC 5649, 6.
        Vector(
            name: "AES:KWP", key: "5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8", context: "", binding: "",
            text: "c37b7e6492584340bed12207808941155068f738",
            sealed: "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a"),
    ]

    @Test(arguments: vectors) func published(_ vector: Vector) throws {
        let algorithm = try #require(SecretKeyAlgorithm(rawValue: vector.name))
        let (key, context) = (try Self.data(vector.key), try Self.data(vector.context))
        let (binding, text) = (try Self.data(vector.binding), try Self.data(vector.text))
        let sealed = try Self.data(vector.sealed)
        #expect(
            try algorithm.transform(text, encrypts: true, with: key, context: context, binding: binding) == sealed)
        #expect(
            try algorithm.transform(sealed, encrypts: false, with: key, context: context, binding: binding) == text)
        guard vector.name != "AES:CBC" else { return }
        // Each other mode notices each changed byte.
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: KeyError.self) {
                try algorithm.transform(changed, encrypts: false, with: key, context: context, binding: binding)
            }
        }
    }

    /// RFC 4231, 4.3.
    @Test func code() throws {
        let code = try #require(SecretKeyAlgorithm(rawValue: "HMAC:SHA256")).code(
            of: Data("what do ya want for nothing?".utf8), with: Data("Jefe".utf8))
        #expect(code == (try Self.data("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")))
    }

    @Test func wrongLengths() throws {
        let key = Data(repeating: 1, count: 16)
        for (name, count, context) in [
            ("AES:CBC", 15, 16), ("AES:CBC", 16, 15), ("AES:CBC:PKCS7", 16, 0), ("AES:GCM:128", 16, 0),
            ("AES:KW", 8, 0), ("AES:KW", 17, 0), ("AES:KW", 16, 8), ("AES:KWP", 0, 0),
        ] {
            let algorithm = try #require(SecretKeyAlgorithm(rawValue: name))
            #expect(throws: KeyError.self, "\(name) \(count) \(context)") {
                try algorithm.transform(
                    Data(repeating: 2, count: count), encrypts: true, with: key,
                    context: Data(repeating: 3, count: context), binding: Data())
            }
        }
        let algorithm = try #require(SecretKeyAlgorithm(rawValue: "AES:KW"))
        for count in [0, 15, 17, 33] {
            #expect(throws: KeyError.self) {
                try algorithm.transform(
                    Data(count: 16), encrypts: true, with: Data(count: count), context: Data(), binding: Data())
            }
        }
        for name in ["AES", "AES:GCM", "AES:GCM:24", "AES:GCM:129", "AES:GCM:-8", "AES:ECB", "HMAC:MD5", ""] {
            #expect(SecretKeyAlgorithm(rawValue: name) == nil)
        }
    }
}
