import Foundation
import Security
import TestSupport
import Testing

/// Code for keys as it is written for Apple systems, unchanged but for its names.
@Suite("Idioms of code that uses keys")
struct KeyIdiomTests {
    private func makePair(tag: String) throws -> (privateKey: SecKey, publicKey: SecKey) {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: tag.data(using: .utf8)!,
            ],
        ]
        var error: Unmanaged<CFError>?
        guard let privateKey = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as any Error
        }
        return (privateKey, SecKeyCopyPublicKey(privateKey)!)
    }

    /// A public key that came as bytes: programs store it with its type and tag only.
    @Test(arguments: [nil, kSecAttrKeyClassPublic as String, kSecAttrKeyClassPrivate as String])
    func bytesStoredWithoutAClassAreAPublicKey(_ keyClass: String?) throws {
        try onFreshVault {
            var item: [String: Any] = [
                kSecClass as String: kSecClassKey,
                kSecAttrKeyType as String: kSecAttrKeyTypeRSA,
                kSecAttrApplicationTag as String: "com.example.keys.theirs",
            ]
            var stored = item
            stored[kSecValueData as String] = RefsFixtures.rsaPublicKey
            stored[kSecAttrKeyClass as String] = keyClass
            #expect(SecItemAdd(stored as CFDictionary, nil) == errSecSuccess)

            item[kSecReturnRef as String] = true
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(item as CFDictionary, &result) == errSecSuccess)
            guard keyClass != kSecAttrKeyClassPrivate as String else {
                #expect(result == nil, "the bytes are no private key")
                return
            }
            let key = try #require(result as? SecKey)
            #expect(SecKeyCopyExternalRepresentation(key, nil) as Data? == RefsFixtures.rsaPublicKey)
            let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
            #expect(attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPublic as String)
        }
    }

    @Test func signsWithAStoredKey() throws {
        try onFreshVault {
            let (_, publicKey) = try makePair(tag: "com.example.keys.mine")
            let query: [String: Any] = [
                kSecClass as String: kSecClassKey,
                kSecAttrApplicationTag as String: "com.example.keys.mine",
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecReturnRef as String: true,
            ]
            var item: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess)
            let key = item as! SecKey
            #expect(CFGetTypeID(item) == SecKeyGetTypeID())

            let algorithm: SecKeyAlgorithm = .ecdsaSignatureMessageX962SHA256
            guard SecKeyIsAlgorithmSupported(key, .sign, algorithm) else {
                Issue.record("not supported")
                return
            }
            var error: Unmanaged<CFError>?
            let data = Data("message".utf8)
            guard let signature = SecKeyCreateSignature(key, algorithm, data as CFData, &error) as Data? else {
                throw error!.takeRetainedValue() as any Error
            }
            #expect(SecKeyVerifySignature(publicKey, algorithm, data as CFData, signature as CFData, &error))
            #expect(error == nil)
            #expect(!SecKeyVerifySignature(publicKey, algorithm, signature as CFData, signature as CFData, &error))
            #expect(CFErrorGetCode(error!.takeRetainedValue()) == Int(errSecVerifyFailed))
        }
    }

    @Test func exchangesKeys() throws {
        let attributes =
            [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 384,
            ] as [CFString: Any]
        let mine = SecKeyCreateRandomKey(attributes as CFDictionary, nil)!
        let theirs = SecKeyCreateRandomKey(attributes as CFDictionary, nil)!
        let parameters: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: 32, .sharedInfo: Data("info".utf8)]
        let names =
            [
                SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 32,
                SecKeyKeyExchangeParameter.sharedInfo.rawValue as String: Data("info".utf8),
            ] as [String: Any]
        let one = SecKeyCopyKeyExchangeResult(
            mine, .ecdhKeyExchangeStandardX963SHA512, SecKeyCopyPublicKey(theirs)!, parameters as CFDictionary, nil)
        let other = SecKeyCopyKeyExchangeResult(
            theirs, .ecdhKeyExchangeCofactorX963SHA512, SecKeyCopyPublicKey(mine)!, names as CFDictionary, nil)
        #expect(one as Data? == other as Data?)
        #expect((one as Data?)?.count == 32)
    }

    @Test func encryptsForTheHolderOfAKey() throws {
        var publicKey: SecKey?
        var privateKey: SecKey?
        let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 1024]
        #expect(SecKeyGeneratePair(attributes as CFDictionary, &publicKey, &privateKey) == errSecSuccess)
        for algorithm in [SecKeyAlgorithm.rsaEncryptionOAEPSHA256, .rsaEncryptionOAEPSHA256AESGCM] {
            let secret = Data("secret".utf8)
            let cryptogram = SecKeyCreateEncryptedData(publicKey!, algorithm, secret as CFData, nil)
            #expect(SecKeyCreateDecryptedData(privateKey!, algorithm, cryptogram!, nil) as Data? == secret)
        }
        var length = SecKeyGetBlockSize(publicKey!)
        var signature = [UInt8](repeating: 0, count: length)
        let digest = [UInt8](repeating: 1, count: 32)
        #expect(
            SecKeyRawSign(privateKey!, .PKCS1SHA256, digest, digest.count, &signature, &length) == errSecSuccess)
        #expect(
            SecKeyRawVerify(publicKey!, .PKCS1SHA256, digest, digest.count, signature, length) == errSecSuccess)
    }

    @Test func movesAKeyAsData() throws {
        let (privateKey, publicKey) = try onFreshVault { try makePair(tag: "tag") }
        var error: Unmanaged<CFError>?
        guard let data = SecKeyCopyExternalRepresentation(publicKey, &error) as Data? else {
            throw error!.takeRetainedValue() as any Error
        }
        let options: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            kSecAttrKeySizeInBits as String: 256,
        ]
        #expect(SecKeyCreateWithData(data as CFData, options as CFDictionary, &error) == publicKey)
        let attributes = SecKeyCopyAttributes(privateKey) as? [CFString: Any]
        #expect(attributes?[kSecAttrKeyClass] as? String == kSecAttrKeyClassPrivate as String)
    }
}
