import Foundation
import KeychainServices

extension KeychainPrivateKey {
    /// Where a private key works.
    public enum Keeper: Sendable {
        /// In the vault's enclave: a TPM, or what stands for one.
        case enclave
        /// In this process, which reads it from the vault.
        case process
    }

    /// The P-256 key with this tag in the keychain; it is made and stored if there is none.
    ///
    /// It can be used from the vault's first unlock on: a server starts before anybody unlocks the screen.
    ///
    /// - Parameters:
    ///   - tag: What it is found by, by custom in reverse-domain form.
    ///   - label: What a person sees.
    ///   - keeper: Where a new one works.
    /// - Throws: ``KeychainKeyError`` with the reason that the keychain gives.
    public static func stored(tag: String, label: String, in keeper: Keeper = .enclave) throws -> KeychainPrivateKey {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag: Data(tag.utf8), kSecReturnRef: true,
        ]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecSuccess, let key = found as? SecKey { return try KeychainPrivateKey(key) }
        guard status == errSecItemNotFound else { throw KeychainKeyError("The key \(tag) cannot be had.", status) }
        var parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: [
                kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(tag.utf8), kSecAttrLabel: label,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ] as [CFString: Any],
        ]
        if keeper == .enclave { parameters[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
        var failure: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &failure) else {
            throw KeychainKeyError("The key \(tag) cannot be made.", failure)
        }
        return try KeychainPrivateKey(key)
    }
}
