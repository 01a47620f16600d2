import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// Keys, signatures and cryptograms that somebody changed.
@Suite("Soak: bytes that are almost keys")
struct SoakKeyImportTests {
    private static let rounds = TestScale.count(300, soak: 100_000)
    private let vectors: Vectors

    init() throws {
        vectors = try Vectors.read()
    }

    /// Whatever is taken for a key exports as a key that is equal, and using it ends with a result or an error.
    @Test func keys() throws {
        var generator = SeededGenerator()
        let originals = vectors.keys.values.flatMap { [$0.private.data, $0.public.data] }.filter { $0.count < 1000 }
        var taken = 0
        for _ in 0..<Self.rounds {
            let bytes = generator.mutated(originals[generator.int(below: originals.count)])
            for type in [kSecAttrKeyTypeRSA, kSecAttrKeyTypeECSECPrimeRandom] {
                for keyClass in [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate] {
                    let attributes: NSDictionary = [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass]
                    guard let key = SecKeyCreateWithData(bytes as NSData, attributes, nil) else { continue }
                    taken += 1
                    let exported = try key.external()
                    let again = SecKeyCreateWithData(exported as NSData, attributes, nil)
                    #expect(again == key, "seed \(generator.seed)")
                    use(key)
                }
            }
        }
        #expect(taken > 0, "seed \(generator.seed)")
    }

    private func use(_ key: SecKey) {
        let digest = Data(count: 32)
        for algorithm in [SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256, .rsaSignatureDigestPKCS1v15SHA256] {
            guard let signature = try? key.sign(digest, algorithm) else { continue }
            _ = try? key.publicKey.verify(signature, of: digest, algorithm)
        }
        for algorithm in [SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM, .rsaEncryptionOAEPSHA1] {
            guard let cryptogram = try? key.publicKey.encrypt(Data("x".utf8), algorithm) else { continue }
            _ = try? key.decrypt(cryptogram, algorithm)
        }
        _ = try? key.exchange(with: key.publicKey, .ecdhKeyExchangeStandard)
    }

    /// A changed signature may be valid only for being another encoding of the same numbers, which ours have not.
    @Test func signatures() throws {
        var generator = SeededGenerator()
        let rows = vectors.signatures.filter { !$0.key.hasPrefix("RSA-4") && !$0.key.hasPrefix("RSA-3") }
        for _ in 0..<Self.rounds {
            let row = rows[generator.int(below: rows.count)]
            let changed = generator.mutated(row.signature.data)
            guard changed != row.signature.data else { continue }
            let key = try SecKey.make(vectors.pair(row.key).public.external(), kSecAttrKeyClassPublic)
            let isValid = try key.verify(changed, of: row.input.data, SecKeyAlgorithm(row.algorithm))
            #expect(!isValid, "\(row.algorithm), seed \(generator.seed)")
        }
    }

    @Test func cryptograms() throws {
        var generator = SeededGenerator()
        let rows = vectors.encryptions.filter { $0.algorithm.hasSuffix("AESGCM") && !$0.key.hasPrefix("RSA-4") }
        for _ in 0..<Self.rounds {
            let row = rows[generator.int(below: rows.count)]
            let changed = generator.mutated(row.ciphertext.data)
            guard changed != row.ciphertext.data else { continue }
            let key = try vectors.pair(row.key).private
            #expect(throws: KeyFailure(status: errSecParam), "\(row.algorithm), seed \(generator.seed)") {
                try key.decrypt(changed, SecKeyAlgorithm(row.algorithm))
            }
        }
    }
}
