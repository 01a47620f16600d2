import Crypto
import Foundation
import KeychainServices

/// SecKey against swift-crypto alone, on P-256: messages of 32 bytes, signatures in DER.
func measureKeys(rounds: Int) throws {
    let operations = 50
    let key = P256.Signing.PrivateKey()
    let agreement = try P256.KeyAgreement.PrivateKey(x963Representation: key.x963Representation)
    let attributes: NSDictionary = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
    ]
    guard let ours = SecKeyCreateWithData(key.x963Representation as NSData, attributes, nil),
        let publicKey = SecKeyCopyPublicKey(ours)
    else { throw RawStore.Failure(reason: "the key cannot be read") }
    let message = Data(repeating: 7, count: 32)
    let signature = try key.signature(for: message).derRepresentation
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    var samples: [(name: String, samples: Samples, operation: () throws -> Bool)] = [
        (
            "keys.sign.seckey", Samples(.processor),
            { SecKeyCreateSignature(ours, algorithm, message as NSData, nil) != nil }
        ),
        ("keys.sign.swift-crypto", Samples(.processor), { try !key.signature(for: message).derRepresentation.isEmpty }),
        (
            "keys.verify.seckey", Samples(.processor),
            { SecKeyVerifySignature(publicKey, algorithm, message as NSData, signature as NSData, nil) }
        ),
        (
            "keys.verify.swift-crypto", Samples(.processor),
            { key.publicKey.isValidSignature(try .init(derRepresentation: signature), for: message) }
        ),
        (
            "keys.exchange.seckey", Samples(.processor),
            { SecKeyCopyKeyExchangeResult(ours, .ecdhKeyExchangeStandard, publicKey, [:], nil) != nil }
        ),
        (
            "keys.exchange.swift-crypto", Samples(.processor),
            {
                let secret = try agreement.sharedSecretFromKeyAgreement(with: agreement.publicKey)
                return secret.withUnsafeBytes { $0.count == 32 }
            }
        ),
    ]
    for _ in 0..<rounds {
        for index in samples.indices {
            let (name, _, operation) = samples[index]
            try samples[index].samples.measure(operations: operations) {
                for _ in 0..<operations {
                    guard try operation() else { throw RawStore.Failure(reason: "\(name) failed") }
                }
            }
        }
    }
    for (name, samples, _) in samples { emit(name, samples) }
}
