import Access
import Foundation
import KeychainModel
import KeychainServices
import VaultInterface

/// Keys that the keychain keeps for other parts of this package: generic passwords of one service, which may be encrypted for
/// keys of the enclave.
///
/// Listing them reads no value and asks nobody.
package struct KeyItems: Sendable {
    /// The service of the passwords, and the tag of the enclave's keys.
    package let service: String
    /// What people see of the enclave's keys.
    package let label: String
    /// Nil for all groups that the program may see, and for its first when something is added.
    package let accessGroup: String?
    /// Shown to a person who has to be asked.
    package let prompt: String?
    /// The keychain of the task that made this value, for tasks and threads that they are used on later.
    private let session = VaultSession.override

    package init(service: String, label: String, accessGroup: String? = nil, prompt: String? = nil) {
        self.service = service
        self.label = label
        self.accessGroup = accessGroup
        self.prompt = prompt
    }

    /// An item without its value.
    package struct Item: Sendable {
        package let account: String
        /// What was said of the key when it was added.
        package let generic: Data
        package let label: String
        package let accessGroup: String
        package let created: Date
        package let protection: SecAccessControl
    }

    // MARK: Items

    package func list(_ account: String? = nil) throws(StoredKeyError) -> [Item] {
        var query = base([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true])
        if let account { query[kSecAttrAccount] = account }
        guard let found = try copy(query) as? [NSDictionary] else { return [] }
        return found.compactMap { item in
            guard let account = item[kSecAttrAccount] as? String,
                let accessible = item[kSecAttrAccessible] as? String,
                let protection = ProtectionClass(rawValue: accessible)
            else { return nil }
            return Item(
                account: account, generic: item[kSecAttrGeneric] as? Data ?? Data(),
                label: item[kSecAttrLabel] as? String ?? "", accessGroup: item[kSecAttrAccessGroup] as? String ?? "",
                created: item[kSecAttrCreationDate] as? Date ?? .distantPast,
                protection: item[kSecAttrAccessControl] as? SecAccessControl
                    ?? SecAccessControl(AccessControl(protection: protection)))
        }
    }

    /// Adds an item; false if there is one already.
    package func add(
        _ account: String, label: String? = nil, generic: Data, value: Data, protection: SecAccessControl
    ) throws(StoredKeyError) -> Bool {
        var item = base([kSecAttrAccount: account, kSecAttrGeneric: generic, kSecValueData: value])
        if let label { item[kSecAttrLabel] = label }
        protection.store(in: &item)
        let status = run { SecItemAdd(item as CFDictionary, nil) }
        if status == errSecDuplicateItem { return false }
        guard status == errSecSuccess else { throw StoredKeyError(status) }
        return true
    }

    /// The value of an item, as the keychain returned it.
    package func value(_ account: String) throws(StoredKeyError) -> Data? {
        var query = base([kSecAttrAccount: account, kSecReturnData: true])
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        return try copy(query) as? Data
    }

    /// Gives an item another protection, and says something else of its key.
    ///
    /// - Returns: Whether there is one.
    package func protect(
        _ account: String, _ protection: SecAccessControl, generic: Data
    ) throws(StoredKeyError) -> Bool {
        var changes: [CFString: Any] = [kSecAttrGeneric: generic]
        protection.store(in: &changes)
        let status = run { SecItemUpdate(base([kSecAttrAccount: account]) as CFDictionary, changes as CFDictionary) }
        if status == errSecItemNotFound { return false }
        guard status == errSecSuccess else { throw StoredKeyError(status) }
        return true
    }

    /// Removes an item; nothing happens if there is none.
    package func remove(_ account: String) throws(StoredKeyError) {
        try delete(base([kSecAttrAccount: account]))
    }

    /// Removes every item of the service, keys of the enclave included.
    package func removeAll() throws(StoredKeyError) {
        try delete(base([:]))
        try delete(keyBase([:]))
    }

    // MARK: Keys of the enclave

    /// Makes a key in the enclave.
    ///
    /// - Returns: Its public half, and the hash of that under which it is found.
    package func makeEnclaveKey(_ control: SecAccessControl) throws(StoredKeyError) -> (public: SecKey, label: Data) {
        var attributes: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrLabel: label,
        ]
        if let accessGroup { attributes[kSecAttrAccessGroup] = accessGroup }
        control.store(in: &attributes)
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: attributes,
        ]
        var error: Unmanaged<CFError>?
        let key = run { SecKeyCreateRandomKey(parameters as CFDictionary, &error) }
        guard let key else { throw StoredKeyError(error) }
        guard let publicKey = SecKeyCopyPublicKey(key),
            let label = (SecKeyCopyAttributes(key) as NSDictionary?)?[kSecAttrApplicationLabel] as? Data
        else { throw .damaged(reason: "the enclave made no usable key; try again") }
        return (publicKey, label)
    }

    package func removeEnclaveKey(_ label: Data) throws(StoredKeyError) {
        try delete(keyBase([kSecAttrApplicationLabel: label]))
    }

    /// Encrypts for a key of the enclave.
    package func encrypt(_ secret: Data, for key: SecKey) throws(StoredKeyError) -> Data {
        var error: Unmanaged<CFError>?
        guard let encrypted = SecKeyCreateEncryptedData(key, Self.algorithm, secret as CFData, &error) else {
            throw StoredKeyError(error)
        }
        return encrypted as Data
    }

    /// Has a key of the enclave decrypt, which may ask a person.
    package func decrypt(_ encrypted: Data, with label: Data) throws(StoredKeyError) -> Data {
        var query = keyBase([kSecAttrApplicationLabel: label, kSecReturnRef: true])
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        guard let key = try copy(query) as? SecKey else {
            throw .damaged(
                reason: "the enclave's key that it is encrypted for is gone; restore the keychain from a backup")
        }
        var error: Unmanaged<CFError>?
        let secret = run { SecKeyCreateDecryptedData(key, Self.algorithm, encrypted as CFData, &error) }
        guard let secret else { throw StoredKeyError(error) }
        return secret as Data
    }

    /// With a fresh ephemeral key each time (Apple's name for X9.63 key derivation and AES-GCM).
    private static var algorithm: SecKeyAlgorithm { .eciesEncryptionCofactorVariableIVX963SHA256AESGCM }

    // MARK: Calls

    private var tag: Data { Data(service.utf8) }

    private func base(_ more: [CFString: Any]) -> [CFString: Any] {
        var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query.merging(more) { $1 }
    }

    private func keyBase(_ more: [CFString: Any]) -> [CFString: Any] {
        var query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query.merging(more) { $1 }
    }

    private func copy(_ query: [CFString: Any]) throws(StoredKeyError) -> CFTypeRef? {
        var result: CFTypeRef?
        let status = run { SecItemCopyMatching(query as CFDictionary, &result) }
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw StoredKeyError(status) }
        return result
    }

    private func delete(_ query: [CFString: Any]) throws(StoredKeyError) {
        let status = run { SecItemDelete(query as CFDictionary) }
        guard status == errSecSuccess || status == errSecItemNotFound else { throw StoredKeyError(status) }
    }

    private func run<Result>(_ body: () -> Result) -> Result {
        guard let session else { return body() }
        return VaultSession.$override.withValue(session, operation: body)
    }

    /// The vault whose lock counts for the keys.
    package func vaultSession() throws(StoredKeyError) -> VaultSession {
        do throws(VaultError) {
            return try run { () -> Swift.Result<VaultSession, VaultError> in
                Swift.Result { () throws(VaultError) in try VaultSession.current() }
            }.get()
        } catch {
            throw .vault(error)
        }
    }
}

extension SecAccessControl {
    /// As an attribute of an item: the class alone where nothing else is asked for.
    fileprivate func store(in attributes: inout [CFString: Any]) {
        if control.flags != nil {
            attributes[kSecAttrAccessControl] = self
        } else {
            attributes[kSecAttrAccessible] = control.protection.rawValue
        }
    }
}
