import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// What X9.63 and its relatives say of keys, signatures and cryptograms on curves, as bytes that nobody vouches for.
struct FuzzKeys {
    private let vectors: Vectors
    private let pairs: [KeyPair]
    private let signatures: [Vectors.Signature]
    private let cryptograms: [Vectors.Encryption]

    init() throws {
        vectors = try Vectors.read()
        let names = vectors.keys.keys.filter { !$0.hasPrefix("RSA") }.sorted()
        pairs = try names.map(vectors.pair)
        signatures = vectors.signatures.filter { !$0.key.hasPrefix("RSA") }
        cryptograms = vectors.encryptions.filter { !$0.key.hasPrefix("RSA") }
    }

    @Test func fuzzX963() throws {
        let keys = try pairs.flatMap { [try $0.private.external(), try $0.public.external()] }
        let samples = keys + signatures.map(\.signature.data) + cryptograms.map(\.ciphertext.data)
        let originals = Set(samples)
        var run = FuzzRun("x963", samples: samples, plain: 300, soak: 10_000)
        let report = try run.run { input in
            let isKey = try readKey(input)
            return try isKey || isValid(input, originals) || isOpened(input, originals)
        }
        #expect(report.accepted >= min(report.tried, keys.count))
    }

    /// With those whose own have about its length: each costs a computation on a curve.
    private func isValid(_ input: Data, _ originals: Set<Data>) throws -> Bool {
        for row in signatures.filter({ abs($0.signature.data.count - input.count) < 4 }).some(for: input) {
            let key = try vectors.pair(row.key).public
            guard try key.verify(input, of: row.input.data, SecKeyAlgorithm(row.algorithm)) else { continue }
            guard originals.contains(input) else { throw FuzzFinding("a changed signature, \(row.algorithm)") }
            return true
        }
        return false
    }

    private func isOpened(_ input: Data, _ originals: Set<Data>) throws -> Bool {
        for row in cryptograms.filter({ abs($0.ciphertext.data.count - input.count) < 20 }).some(for: input) {
            let key = try vectors.pair(row.key).private
            guard (try? key.decrypt(input, SecKeyAlgorithm(row.algorithm))) != nil else { continue }
            guard originals.contains(input) else { throw FuzzFinding("a changed cryptogram, \(row.algorithm)") }
            return true
        }
        return false
    }

    private func readKey(_ input: Data) throws -> Bool {
        var isKey = false
        for keyClass in [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate] {
            let attributes: NSDictionary = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: keyClass,
            ]
            guard let key = SecKeyCreateWithData(input as NSData, attributes, nil) else { continue }
            isKey = true
            let again = SecKeyCreateWithData(try key.external() as NSData, attributes, nil)
            guard again == key else { throw FuzzFinding("a key that does not come back") }
            try use(key)
        }
        return isKey
    }

    /// A private key that is taken belongs to its public half, and does all that keys do.
    private func use(_ key: SecKey) throws {
        guard let publicKey = SecKeyCopyPublicKey(key) else { throw FuzzFinding("a key without a public half") }
        let digest = Data(repeating: 1, count: 32)
        let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
        if let signature = try? key.sign(digest, algorithm), try !publicKey.verify(signature, of: digest, algorithm) {
            throw FuzzFinding("a signature that its key does not verify")
        }
        guard let cryptogram = try? publicKey.encrypt(digest, .eciesEncryptionStandardX963SHA256AESGCM) else { return }
        if let opened = try? key.decrypt(cryptogram, .eciesEncryptionStandardX963SHA256AESGCM), opened != digest {
            throw FuzzFinding("a cryptogram that its key does not open")
        }
        for pair in pairs { _ = try? key.exchange(with: pair.public, .ecdhKeyExchangeStandard) }
    }
}

extension Array {
    /// Two of them, by the bytes of `input` alone, so that trying it again tries the same.
    fileprivate func some(for input: Data) -> [Element] {
        guard count > 2 else { return self }
        let sum = input.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        return [self[sum % count], self[(sum + 1) % count]]
    }
}
