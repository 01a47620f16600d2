#if TLSSupport
import Foundation
import KeychainServices

extension KeychainPrivateKey {
    /// Where a new private key is made and used.
    public enum Keeper: Sendable {
        /// In the vault's enclave: the TPM, or the enclave in software.
        case enclave
        /// In this process, which reads it from the vault.
        case process
    }

    /// Returns the P-256 key with this tag in the keychain. If there is none, makes and stores it.
    ///
    /// A new key can be used from the vault's first unlock on, also while the vault is locked again.
    ///
    /// - Parameters:
    ///   - tag: The key's `kSecAttrApplicationTag`, by custom in reverse-domain form.
    ///   - label: The name that a person sees in lists.
    ///   - keeper: Where a new key is made.
    /// - Throws: ``KeychainKeyError`` with the reason that the keychain gives.
    public static func stored(tag: String, label: String, in keeper: Keeper = .enclave) throws -> KeychainPrivateKey {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag: Data(tag.utf8), kSecReturnRef: true,
        ]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecSuccess, let key = found as? SecKey { return try KeychainPrivateKey(key) }
        guard status == errSecItemNotFound else {
            throw KeychainKeyError("The keychain does not return the key \(tag).", status)
        }
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
            throw KeychainKeyError("The keychain does not make the key \(tag).", failure)
        }
        return try KeychainPrivateKey(key)
    }
}
#endif
