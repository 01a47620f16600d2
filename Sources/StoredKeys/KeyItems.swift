import Access
import Foundation
import KeychainModel
import KeychainServices
import VaultInterface

/// Keys that the keychain keeps for other parts of this package: generic passwords of two services, and keys of the enclave.
///
/// One service has the list: an item without conditions for each key, so that of two programs that add one under the same account,
/// one finds that it is there already, and listing them asks nobody. The other has the keys, under names and conditions of their
/// own.
package struct KeyItems: Sendable {
    /// The service of the list, and the tag of the enclave's keys.
    package let service: String
    /// What people see of the enclave's keys.
    package let label: String
    /// Nil for all groups that the program may see, and for its first when something is added.
    package let accessGroup: String?
    /// Shown to a person who has to be asked.
    package let prompt: String?
    /// The keychain that stands in for the process's own, whatever the calling task has.
    private let session: (any VaultSessionProvider)?

    /// - Parameter session: What stands in for the process's own keychain.
    package init(
        service: String, label: String, accessGroup: String? = nil, prompt: String? = nil,
        session: (any VaultSessionProvider)? = nil
    ) {
        self.service = service
        self.label = label
        self.accessGroup = accessGroup
        self.prompt = prompt
        self.session = session
    }

    /// An item of the list.
    package struct Item: Sendable {
        package let account: String
        /// What was said of the key when it was added.
        package let generic: Data
        package let accessGroup: String
        package let created: Date
        /// The class that the key was given.
        package let protection: ProtectionClass
        /// What reading the item's own value takes besides; nil for nothing, and for items of the list.
        package let flags: AccessControl.Flags?

        /// Whether what was read of the key has to be forgotten when the vault is locked.
        package var closesWithLock: Bool { protection.availability == .whileUnlocked }
    }

    // MARK: The list

    /// What is on the list.
    ///
    /// - Parameter account: Nil for all there is.
    package func list(_ account: String? = nil) throws(StoredKeyError) -> [Item] {
        var query = base([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true])
        if let account { query[kSecAttrAccount] = account }
        guard let found = try copy(query) as? [NSDictionary] else { return [] }
        return found.compactMap { item in
            guard let account = item[kSecAttrAccount] as? String else { return nil }
            return Item(
                account: account, generic: item[kSecAttrGeneric] as? Data ?? Data(),
                accessGroup: item[kSecAttrAccessGroup] as? String ?? "",
                created: item[kSecAttrCreationDate] as? Date ?? .distantPast,
                protection: (item[kSecAttrAccessible] as? String).flatMap(ProtectionClass.init(rawValue:))
                    ?? .whenUnlocked,
                flags: (item[kSecAttrAccessControl] as? SecAccessControl)?.control.flags)
        }
    }

    /// Adds an item to the list; false if there is one already.
    ///
    /// - Parameter name: What people see.
    package func add(
        _ account: String, name: String? = nil, generic: Data, protection: SecAccessControl
    ) throws(StoredKeyError) -> Bool {
        var item = base([kSecAttrAccount: account, kSecAttrGeneric: generic, kSecValueData: Data()])
        if let name { item[kSecAttrLabel] = name }
        protection.withoutConditions.store(in: &item)
        return try add(item)
    }

    /// Adds an item that has the key itself, for keys that people handle with `keychain get` and `keychain delete`: listing one with
    /// conditions may ask a person. False if there is one already.
    package func add(
        _ account: String, name: String?, generic: Data, value: Data, guardedBy protection: SecAccessControl
    ) throws(StoredKeyError) -> Bool {
        var item = base([kSecAttrAccount: account, kSecAttrGeneric: generic, kSecValueData: value])
        if let name { item[kSecAttrLabel] = name }
        protection.store(in: &item)
        return try add(item)
    }

    /// The value of such an item, which may ask a person.
    package func value(_ account: String) throws(StoredKeyError) -> Data? {
        var query = base([kSecAttrAccount: account, kSecReturnData: true])
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        return try copy(query) as? Data
    }

    /// Says something else of a key.
    package func change(
        _ account: String, generic: Data, protection: SecAccessControl
    ) throws(StoredKeyError) {
        var changes: [CFString: Any] = [kSecAttrGeneric: generic]
        protection.withoutConditions.store(in: &changes)
        try update(base([kSecAttrAccount: account]), changes)
    }

    /// Takes an item off the list; nothing happens if it is not on it.
    package func remove(_ account: String) throws(StoredKeyError) {
        try delete(base([kSecAttrAccount: account]))
    }

    /// Removes everything, keys of the enclave included.
    package func removeAll() throws(StoredKeyError) {
        try delete(base([kSecAttrService: keyService]))
        try delete(keyBase([:]))
        try delete(base([:]))
    }

    // MARK: Keys

    /// Stores a key; false if there is one with the name already.
    ///
    /// - Parameter isGuarded: Whether reading it takes what the access control asks for, besides its class.
    package func addKey(
        _ name: String, value: Data, protection: SecAccessControl, isGuarded: Bool
    ) throws(StoredKeyError) -> Bool {
        var item = base([kSecAttrService: keyService, kSecAttrAccount: name, kSecValueData: value])
        (isGuarded ? protection : protection.withoutConditions).store(in: &item)
        return try add(item)
    }

    /// A key, as the keychain has it. Reading it may ask a person.
    package func key(_ name: String) throws(StoredKeyError) -> Data? {
        var query = base([kSecAttrService: keyService, kSecAttrAccount: name, kSecReturnData: true])
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        return try copy(query) as? Data
    }

    /// Gives a key another protection, which may ask a person.
    package func protectKey(_ name: String, _ protection: SecAccessControl) throws(StoredKeyError) {
        var changes: [CFString: Any] = [:]
        protection.store(in: &changes)
        try update(base([kSecAttrService: keyService, kSecAttrAccount: name]), changes)
    }

    /// Removes a key, and the enclave's that it is encrypted for. Asks nobody.
    package func removeKey(_ name: String, enclaveKey label: Data?) throws(StoredKeyError) {
        try delete(base([kSecAttrService: keyService, kSecAttrAccount: name]))
        if let label { try removeEnclaveKey(label) }
    }

    package func removeEnclaveKey(_ label: Data) throws(StoredKeyError) {
        try delete(keyBase([kSecAttrApplicationLabel: label]))
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

    private var keyService: String { service + "/keys" }
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

    private func add(_ item: [CFString: Any]) throws(StoredKeyError) -> Bool {
        let status = run { SecItemAdd(item as CFDictionary, nil) }
        if status == errSecDuplicateItem { return false }
        guard status == errSecSuccess else { throw StoredKeyError(status) }
        return true
    }

    private func update(_ query: [CFString: Any], _ changes: [CFString: Any]) throws(StoredKeyError) {
        let status = run { SecItemUpdate(query as CFDictionary, changes as CFDictionary) }
        guard status == errSecSuccess else { throw StoredKeyError(status) }
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
