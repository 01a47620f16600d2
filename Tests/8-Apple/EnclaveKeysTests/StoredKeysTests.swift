import CryptoKit
import Foundation
import KeychainTesting
import Testing

/// CryptoKit's own keys in the keychain and back.
struct StoredKeysTests {
    /// Stores `key` as a `SecKey` and reads it again.
    private func throughTheKeychain(_ key: Data) throws -> Data {
        let attributes: NSDictionary = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        ]
        let made = try #require(SecKeyCreateWithData(key as NSData, attributes, nil))
        let item: NSDictionary = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: "key", kSecValueRef: made]
        #expect(SecItemAdd(item, nil) == errSecSuccess)
        let query: NSDictionary = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: "key", kSecReturnRef: true]
        var found: CFTypeRef?
        #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
        let stored = try #require(found as? SecKey)
        return try #require(SecKeyCopyExternalRepresentation(stored, nil)) as Data
    }

    @Test(arguments: World.allCases)
    func curvesOfNIST(world: World) throws {
        try world.run { _ in
            let key = P256.Signing.PrivateKey()
            let again = try P256.Signing.PrivateKey(x963Representation: throughTheKeychain(key.x963Representation))
            #expect(again.rawRepresentation == key.rawRepresentation)
        }
        try world.run { _ in
            let key = P384.KeyAgreement.PrivateKey()
            let again = try P384.KeyAgreement.PrivateKey(
                x963Representation: throughTheKeychain(key.x963Representation))
            #expect(again.rawRepresentation == key.rawRepresentation)
        }
        try world.run { _ in
            let key = P521.Signing.PrivateKey()
            let again = try P521.Signing.PrivateKey(x963Representation: throughTheKeychain(key.x963Representation))
            #expect(again.rawRepresentation == key.rawRepresentation)
        }
    }

    /// Keys that `SecKey` does not know are passwords.
    @Test(arguments: World.allCases)
    func othersAsPasswords(world: World) throws {
        try world.run { _ in
            let signing = Curve25519.Signing.PrivateKey()
            let symmetric = SymmetricKey(size: .bits256)
            let values = ["signing": signing.rawRepresentation, "symmetric": symmetric.withUnsafeBytes { Data($0) }]
            for (account, value) in values {
                let item: NSDictionary = [
                    kSecClass: kSecClassGenericPassword, kSecAttrService: "keys", kSecAttrAccount: account,
                    kSecValueData: value,
                ]
                #expect(SecItemAdd(item, nil) == errSecSuccess)
            }
            func stored(_ account: String) throws -> Data {
                let query: NSDictionary = [
                    kSecClass: kSecClassGenericPassword, kSecAttrService: "keys", kSecAttrAccount: account,
                    kSecReturnData: true,
                ]
                var found: CFTypeRef?
                #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
                return try #require(found as? Data)
            }
            let again = try Curve25519.Signing.PrivateKey(rawRepresentation: stored("signing"))
            let message = Data("message".utf8)
            #expect(signing.publicKey.isValidSignature(try again.signature(for: message), for: message))
            #expect(try SymmetricKey(data: stored("symmetric")) == symmetric)
        }
    }
}
