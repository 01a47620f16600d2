import Enclave
import Foundation
import KeychainServices
import ProcessVault
import Vault
import VaultInterface

/// Signatures and shared secrets by a key in the TPM at `KEYCHAIN_TPM`, through SecKey and an embedded vault.
func measureTPM(in folder: String, rounds: Int) throws {
    try? FileManager.default.removeItem(atPath: folder)
    let vault = try EmbeddedVault.open(at: folder, in: .tpm2)
    defer { vault.close() }
    try SampleItems.session(vault).asCurrent {
        let attributes: NSDictionary = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
        ]
        guard let key = SecKeyCreateRandomKey(attributes, nil), let publicKey = SecKeyCopyPublicKey(key) else {
            throw RawStore.Failure(reason: "the TPM makes no key")
        }
        let digest = Data(count: 32) as NSData
        var signing = Samples(.elapsed)
        var agreeing = Samples(.elapsed)
        for _ in 0..<rounds {
            try signing.measure(operations: 1) {
                guard SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, nil) != nil else {
                    throw RawStore.Failure(reason: "the TPM does not sign")
                }
            }
        }
        for _ in 0..<rounds {
            try agreeing.measure(operations: 1) {
                guard SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, publicKey, [:], nil) != nil else {
                    throw RawStore.Failure(reason: "the TPM does not agree")
                }
            }
        }
        emit("tpm.sign.seckey", signing)
        emit("tpm.exchange.seckey", agreeing)
    }
}
