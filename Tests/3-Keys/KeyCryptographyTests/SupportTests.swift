import Foundation
import Testing

@testable import KeychainServices

/// Which keys say that they do what.
@Suite("Algorithms that keys support")
struct SupportTests {
    private static let operations: [SecKeyOperationType] = [.sign, .verify, .encrypt, .decrypt, .keyExchange]

    /// The names that a key supports for each operation, in their order.
    private func supported(by key: SecKey) -> [[String]] {
        Self.operations.map { operation in
            Algorithms.all.filter { key.supports(operation, SecKeyAlgorithm($0)) }
        }
    }

    @Test(arguments: [192, 224, 256, 384, 521]) func curves(bits: Int) throws {
        let pair = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits))
        #expect(
            supported(by: pair.private) == [Algorithms.ecdsa, [], [], Algorithms.ecies, Algorithms.exchange])
        #expect(supported(by: pair.public) == [[], Algorithms.ecdsa, Algorithms.ecies, [], []])
    }

    @Test func rsa() throws {
        let pair = try KeyPair(SecKey.random(kSecAttrKeyTypeRSA, 2048))
        let withoutPSS = Algorithms.rsaSignatures.filter { !Algorithms.rsaPSS.contains($0) }
        let encryption = Algorithms.rsaEncryption + Algorithms.rsaHybrid
        #expect(supported(by: pair.private) == [Algorithms.rsaSignatures, withoutPSS, [], encryption, []])
        #expect(
            supported(by: pair.public) == [[], Algorithms.rsaSignatures, encryption, Algorithms.rsaEncryption, []])
    }

    /// The padding has to fit: PSS takes 16 bits for each byte of the digest and 9 more, OAEP two digests and two
    /// bytes.
    @Test func smallModuli() throws {
        for (bits, pss, oaep) in [
            (512, ["SHA1", "SHA224"], ["SHA1", "SHA224"]),
            (528, ["SHA1", "SHA224", "SHA256"], ["SHA1", "SHA224", "SHA256"]),
            (768, ["SHA1", "SHA224", "SHA256"], ["SHA1", "SHA224", "SHA256"]),
            (1024, ["SHA1", "SHA224", "SHA256", "SHA384"], ["SHA1", "SHA224", "SHA256", "SHA384"]),
            (1032, ["SHA1", "SHA224", "SHA256", "SHA384"], ["SHA1", "SHA224", "SHA256", "SHA384"]),
            (1034, Algorithms.digests, Algorithms.digests),
        ] {
            let key = try SecKey.random(kSecAttrKeyTypeRSA, bits)
            let digestsOf = { (names: [String]) in
                Algorithms.digests.filter { digest in
                    names.contains {
                        $0.contains(":\(digest)")
                            && key.supports($0.contains("sign") ? .sign : .decrypt, SecKeyAlgorithm($0))
                    }
                }
            }
            #expect(digestsOf(Algorithms.rsaPSS) == pss, "\(bits)")
            #expect(digestsOf(Algorithms.rsaEncryption) == oaep, "\(bits)")
            #expect(digestsOf(Algorithms.rsaHybrid) == oaep, "\(bits)")
            // What fits works.
            let pair = try KeyPair(key)
            for name in Algorithms.rsaPSS where key.supports(.sign, SecKeyAlgorithm(name)) {
                let input = Data(count: Algorithms.digestLength(name) ?? 7)
                let signature = try pair.private.sign(input, SecKeyAlgorithm(name))
                #expect(try pair.public.verify(signature, of: input, SecKeyAlgorithm(name)))
            }
            for name in Algorithms.rsaEncryption.dropFirst(2) where key.supports(.decrypt, SecKeyAlgorithm(name)) {
                let cryptogram = try pair.public.encrypt(Data(), SecKeyAlgorithm(name))
                #expect(try pair.private.decrypt(cryptogram, SecKeyAlgorithm(name)).isEmpty)
            }
        }
    }

    @Test func unknownNames() throws {
        let key = try SecKey.random(kSecAttrKeyTypeRSA, 1024)
        for name in [
            "", "algid", "algid:sign:RSA:message-PKCS1v15:MD5", "algid:sign:RSA:raw ", "ALGID:SIGN:RSA:RAW",
            "algid:sign:RSA:digest-PSS:SHA224:SHA224:28", "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM-KDFIV",
        ] {
            for operation in Self.operations {
                #expect(!key.supports(operation, SecKeyAlgorithm(rawValue: name as NSString)))
            }
            #expect(throws: KeyFailure(status: errSecParam)) {
                try key.sign(Data(count: 20), SecKeyAlgorithm(rawValue: name as NSString))
            }
        }
        #expect(Algorithms.all.count == 87)
        #expect(Set(Algorithms.all).count == Algorithms.all.count)
    }
}
