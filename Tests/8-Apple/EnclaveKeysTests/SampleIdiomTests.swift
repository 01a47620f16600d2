import CryptoKit
import Foundation
import KeychainTesting
import Testing

/// How programs for Apple's systems put CryptoKit's keys into the keychain, with Core Foundation's names.
struct SampleIdiomTests {
    @Test(arguments: World.allCases)
    func aKeyAsAPassword(world: World) throws {
        let key = SymmetricKey(size: .bits256)
        try world.run { _ in
            let query =
                [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: "key",
                    kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked, kSecUseDataProtectionKeychain: true,
                    kSecValueData: key.dataRepresentation,
                ] as [String: Any]
            let status = SecItemAdd(query as CFDictionary, nil)
            guard status == errSecSuccess else { throw KeyStoreError("Unable to store the item: \(status.message)") }
            let found = try #require(try self.found(account: "key"))
            #expect(SymmetricKey(data: found) == key)
            #expect(try self.found(account: "another") == nil)
        }
    }

    private func found(account: String) throws -> Data? {
        let query =
            [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecUseDataProtectionKeychain: true,
                kSecReturnData: true,
            ] as [String: Any]
        var item: CFTypeRef?
        switch SecItemCopyMatching(query as CFDictionary, &item) {
        case errSecSuccess:
            guard let data = item as? Data else { return nil }
            return data
        case errSecItemNotFound: return nil
        case let status: throw KeyStoreError("Keychain read failed: \(status.message)")
        }
    }

    @Test(arguments: World.allCases)
    func aKeyAsASecKey(world: World) throws {
        let key = P256.Signing.PrivateKey()
        try world.run { _ in
            let attributes =
                [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
                as [String: Any]
            guard let made = SecKeyCreateWithData(key.x963Representation as CFData, attributes as CFDictionary, nil)
            else { throw KeyStoreError("Unable to create a SecKey.") }
            let query =
                [
                    kSecClass: kSecClassKey, kSecAttrApplicationLabel: "key",
                    kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked, kSecUseDataProtectionKeychain: true,
                    kSecValueRef: made,
                ] as [String: Any]
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            let search =
                [
                    kSecClass: kSecClassKey, kSecAttrApplicationLabel: "key",
                    kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecUseDataProtectionKeychain: true,
                    kSecReturnRef: true,
                ] as [String: Any]
            var item: CFTypeRef?
            #expect(SecItemCopyMatching(search as CFDictionary, &item) == errSecSuccess)
            let found = item as! SecKey
            var error: Unmanaged<CFError>?
            guard let data = SecKeyCopyExternalRepresentation(found, &error) as Data? else {
                throw KeyStoreError(error.debugDescription)
            }
            #expect(data == key.x963Representation)
            #expect(try P256.Signing.PrivateKey(x963Representation: data).rawRepresentation == key.rawRepresentation)
        }
    }
}

/// An error with a text of its own, as programs make it with Core Foundation.
private func KeyStoreError(_ text: String) -> any Error {
    CFErrorCreate(
        nil, kCFErrorDomainOSStatus, Int(errSecInternalError),
        [kCFErrorLocalizedDescriptionKey as String: text] as CFDictionary)
}

extension OSStatus {
    fileprivate var message: String { SecCopyErrorMessageString(self, nil) as String? ?? String(self) }
}

extension ContiguousBytes {
    /// Data over the bytes of a key, without a copy.
    fileprivate var dataRepresentation: Data {
        withUnsafeBytes { bytes in
            let data = CFDataCreateWithBytesNoCopy(
                nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, kCFAllocatorNull)
            return (data as NSData?) as Data? ?? Data()
        }
    }
}
