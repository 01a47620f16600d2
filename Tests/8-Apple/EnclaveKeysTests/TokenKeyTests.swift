import CryptoKit
import Foundation
import KeychainTesting
import Testing

/// Keys of the enclave through `SecKey`.
struct TokenKeyTests {
    private let tag = Data("com.example.key".utf8)
    private let message = Data("message".utf8) as NSData

    private func create(_ flags: SecAccessControlCreateFlags = .privateKeyUsage) throws -> SecKey {
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil))
        let attributes: NSDictionary = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [
                kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrAccessControl: control,
            ] as NSDictionary,
        ]
        var error: Unmanaged<CFError>?
        let key = SecKeyCreateRandomKey(attributes, &error)
        return try #require(key, "\(String(describing: error?.takeRetainedValue()))")
    }

    private func find(_ context: LAContext? = nil) throws -> SecKey {
        let query: NSMutableDictionary = [
            kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecReturnRef: true,
        ]
        if let context { query[kSecUseAuthenticationContext] = context }
        var found: CFTypeRef?
        #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
        return try #require(found as? SecKey)
    }

    /// The code of the error of a signature; 0 if there is one.
    private func sign(_ key: SecKey) -> Int {
        var error: Unmanaged<CFError>?
        let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error)
        #expect((signature == nil) == (error != nil))
        return error.map { CFErrorGetCode($0.takeRetainedValue()) } ?? 0
    }

    @Test(arguments: World.allCases)
    func aKeyInTheKeychain(world: World) throws {
        try world.run { _ in
            let made = try create()
            let key = try find()
            #expect(key == made)
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            #expect(publicKey == SecKeyCopyPublicKey(made))
            for algorithm in [
                SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256, .ecdsaSignatureMessageX962SHA512,
                .ecdsaSignatureMessageRFC4754SHA256,
            ] {
                #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
                let signature = try #require(SecKeyCreateSignature(key, algorithm, message, nil))
                #expect(SecKeyVerifySignature(publicKey, algorithm, message, signature, nil))
            }
            let ecies = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let ciphertext = try #require(SecKeyCreateEncryptedData(publicKey, ecies, message, nil))
            #expect(SecKeyCreateDecryptedData(key, ecies, ciphertext, nil) == message)
            let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
            #expect(attributes[kSecAttrTokenID.description] as? String == kSecAttrTokenIDSecureEnclave.description)
            #expect(attributes[kSecValueData.description] == nil)
        }
    }

    @Test(arguments: World.allCases)
    func agreeing(world: World) throws {
        try world.run { _ in
            let key = try create()
            let attributes: NSDictionary = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let peer = try #require(SecKeyCreateRandomKey(attributes, nil))
            let publicKeys = try (#require(SecKeyCopyPublicKey(key)), #require(SecKeyCopyPublicKey(peer)))
            let parameters: NSDictionary = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 32]
            let ours = SecKeyCopyKeyExchangeResult(
                key, .ecdhKeyExchangeStandardX963SHA256, publicKeys.1, parameters, nil)
            let theirs = SecKeyCopyKeyExchangeResult(
                peer, .ecdhKeyExchangeStandardX963SHA256, publicKeys.0, parameters, nil)
            #expect(ours != nil && ours == theirs)
        }
    }

    @Test(arguments: World.allCases)
    func thePrivateHalfStays(world: World) throws {
        try world.run { _ in
            let key = try create()
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecUnimplemented))
            #expect(SecKeyCopyPublicKey(key).flatMap { SecKeyCopyExternalRepresentation($0, nil) } != nil)
        }
    }

    @Test(arguments: World.allCases)
    func lockAndPerson(world: World) throws {
        try world.run { keychain in
            _ = try create([.privateKeyUsage, .userPresence])
            keychain.authentication = .userCancel
            // To find it needs nobody, to use it does.
            let key = try find()
            #expect(keychain.prompts.isEmpty)
            #expect(sign(key) == Int(errSecUserCanceled))
            keychain.authentication = .succeedsOnce
            let context = LAContext()
            let shared = try find(context)
            #expect(sign(shared) == 0)
            #expect(sign(shared) == 0)
            #expect(sign(key) != 0)
            keychain.lock()
            #expect(sign(shared) == Int(errSecInteractionNotAllowed))
        }
    }

    @Test func whatAnEnclaveHasNot() throws {
        try World.software.run { _ in
            for (type, size) in [
                (kSecAttrKeyTypeECSECPrimeRandom, 384), (kSecAttrKeyTypeRSA, 2048),
                (kSecAttrKeyTypeECSECPrimeRandom, 224),
            ] {
                let attributes: NSDictionary = [
                    kSecAttrKeyType: type, kSecAttrKeySizeInBits: size,
                    kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                ]
                var error: Unmanaged<CFError>?
                #expect(SecKeyCreateRandomKey(attributes, &error) == nil)
                #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecParam))
            }
        }
    }
}
