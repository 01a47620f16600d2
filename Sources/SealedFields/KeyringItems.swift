import Crypto
import Foundation
import KeychainModel
import KeychainServices
import VaultInterface

/// What a keyring has in the keychain: generic passwords of two services with the keyring's name, and keys of the enclave.
///
/// One service has the list: an item without conditions for each generation, under its number, so that of two programs that add one
/// at the same time, one finds that it is there already, and listing them asks nobody. The other has the keys, under their
/// identifiers and the conditions.
struct KeyringItems: Sendable {
    let name: String
    let accessGroup: String?
    let prompt: String?
    /// The keychain that stands in for the process's own, whatever the calling task has.
    private let session: (any VaultSessionProvider)?

    static let generationPrefix = "generation/"
    static let digestAccount = "digest"
    static let databasePrefix = "database/"

    init(name: String, accessGroup: String?, prompt: String?, session: (any VaultSessionProvider)?) {
        self.name = name
        self.accessGroup = accessGroup
        self.prompt = prompt
        self.session = session
    }

    /// An item of the list.
    struct Item {
        let account: String
        /// The key's identifier and, if it is encrypted for a key of the enclave, the hash of that one's public half.
        let generic: Data
        let created: Date
        /// Whether it is of a class that closes with the vault.
        let closesWithLock: Bool
    }

    // MARK: Items

    func list() throws(SealedFieldsError) -> [Item] {
        let query = base([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true])
        guard let found = try copy(query) as? [NSDictionary] else { return [] }
        return found.compactMap { item in
            guard let account = item[kSecAttrAccount] as? String else { return nil }
            return Item(
                account: account, generic: item[kSecAttrGeneric] as? Data ?? Data(),
                created: item[kSecAttrCreationDate] as? Date ?? .distantPast,
                closesWithLock: Self.closesWithLock(item[kSecAttrAccessible] as? String))
        }
    }

    /// Adds an item to the list, in the class of `protection`; false if there is one already.
    func add(_ account: String, generic: Data, protection: SecAccessControl) throws(SealedFieldsError) -> Bool {
        try add(
            base([
                kSecAttrAccount: account, kSecAttrGeneric: generic, kSecValueData: Data(),
                kSecAttrAccessible: protection.control.protection.rawValue,
            ]))
    }

    /// Stores a key; false if there is one with the identifier already.
    ///
    /// - Parameter isGuarded: Whether reading it takes what the access control asks for, besides its class.
    func addKey(
        _ id: FieldKeyID, value: Data, protection: SecAccessControl, isGuarded: Bool
    ) throws(SealedFieldsError) -> Bool {
        var item = base([kSecAttrService: keyService, kSecAttrAccount: id.description, kSecValueData: value])
        if isGuarded, protection.control.flags != nil {
            item[kSecAttrAccessControl] = protection
        } else {
            item[kSecAttrAccessible] = protection.control.protection.rawValue
        }
        return try add(item)
    }

    private func add(_ item: [CFString: Any]) throws(SealedFieldsError) -> Bool {
        let status = run { SecItemAdd(item as CFDictionary, nil) }
        if status == errSecDuplicateItem { return false }
        guard status == errSecSuccess else { throw failure(status) }
        return true
    }

    /// A key, as the keychain has it. Reading it may ask a person.
    func key(_ id: FieldKeyID) throws(SealedFieldsError) -> Data? {
        var query = base([kSecAttrService: keyService, kSecAttrAccount: id.description, kSecReturnData: true])
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        return try copy(query) as? Data
    }

    /// Takes an item off the list; nothing happens if it is not on it.
    func remove(_ account: String) throws(SealedFieldsError) {
        try delete(base([kSecAttrAccount: account]))
    }

    /// Removes a key, and the enclave's that it is encrypted for. Asks nobody.
    func removeKey(_ id: FieldKeyID, enclaveKey label: Data?) throws(SealedFieldsError) {
        try delete(base([kSecAttrService: keyService, kSecAttrAccount: id.description]))
        if let label { try delete(keyBase([kSecAttrApplicationLabel: label])) }
    }

    /// Removes everything that the keyring has, keys of the enclave included.
    func removeAll() throws(SealedFieldsError) {
        try delete(base([kSecAttrService: keyService]))
        try delete(keyBase([:]))
        try delete(base([:]))
    }

    private static func closesWithLock(_ name: String?) -> Bool {
        switch name.flatMap(ProtectionClass.init(rawValue:)) {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: false
        default: true
        }
    }

    // MARK: Keys of the enclave

    /// Makes a key in the enclave.
    ///
    /// - Returns: Its public half, and the hash of that under which it is found.
    func makeEnclaveKey(_ control: SecAccessControl) throws(SealedFieldsError) -> (public: SecKey, label: Data) {
        var attributes: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrLabel: "Sealed fields of \(name)",
        ]
        if let accessGroup { attributes[kSecAttrAccessGroup] = accessGroup }
        if control.control.flags != nil {
            attributes[kSecAttrAccessControl] = control
        } else {
            attributes[kSecAttrAccessible] = control.control.protection.rawValue
        }
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: attributes,
        ]
        var error: Unmanaged<CFError>?
        let key = run { SecKeyCreateRandomKey(parameters as CFDictionary, &error) }
        guard let key else { throw failure(error) }
        guard let publicKey = SecKeyCopyPublicKey(key),
            let label = (SecKeyCopyAttributes(key) as NSDictionary?)?[kSecAttrApplicationLabel] as? Data
        else { throw damaged("the enclave made no usable key") }
        return (publicKey, label)
    }

    /// Encrypts for a key of the enclave.
    func encrypt(_ secret: Data, for key: SecKey) throws(SealedFieldsError) -> Data {
        var error: Unmanaged<CFError>?
        guard let encrypted = SecKeyCreateEncryptedData(key, Self.algorithm, secret as CFData, &error) else {
            throw failure(error)
        }
        return encrypted as Data
    }

    /// Has a key of the enclave decrypt, which may ask a person.
    func decrypt(_ encrypted: Data, with label: Data) throws(SealedFieldsError) -> Data {
        var query = keyBase([kSecAttrApplicationLabel: label, kSecReturnRef: true])
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        guard let key = try copy(query) as? SecKey else {
            throw damaged("the enclave's key that the keyring's key is encrypted for is gone; restore it from a backup")
        }
        var error: Unmanaged<CFError>?
        let secret = run { SecKeyCreateDecryptedData(key, Self.algorithm, encrypted as CFData, &error) }
        guard let secret else { throw failure(error) }
        return secret as Data
    }

    /// With a fresh ephemeral key each time (Apple's name for X9.63 key derivation and AES-GCM).
    private static var algorithm: SecKeyAlgorithm { .eciesEncryptionCofactorVariableIVX963SHA256AESGCM }

    // MARK: Calls

    private var service: String { "sealed-fields/\(name)" }
    private var keyService: String { "sealed-fields/\(name)/keys" }
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

    private func copy(_ query: [CFString: Any]) throws(SealedFieldsError) -> CFTypeRef? {
        var result: CFTypeRef?
        let status = run { SecItemCopyMatching(query as CFDictionary, &result) }
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw failure(status) }
        return result
    }

    private func delete(_ query: [CFString: Any]) throws(SealedFieldsError) {
        let status = run { SecItemDelete(query as CFDictionary) }
        guard status == errSecSuccess || status == errSecItemNotFound else { throw failure(status) }
    }

    private func run<Result>(_ body: () -> Result) -> Result {
        guard let session else { return body() }
        return VaultSession.$override.withValue(session, operation: body)
    }

    /// The vault whose lock counts for the keyring.
    func vaultSession() throws(SealedFieldsError) -> VaultSession {
        do throws(VaultError) {
            return try run { () -> Swift.Result<VaultSession, VaultError> in
                do throws(VaultError) { return .success(try VaultSession.current()) } catch { return .failure(error) }
            }.get()
        } catch {
            throw SealedFieldsError(.keychain, subject: name, message: error.description)
        }
    }

    func damaged(_ message: String) -> SealedFieldsError {
        SealedFieldsError(.damagedKey, subject: name, message: message)
    }

    private func failure(_ error: Unmanaged<CFError>?) -> SealedFieldsError {
        guard let error = error?.takeRetainedValue() else { return damaged("the keychain said nothing of the failure") }
        return failure(OSStatus(truncatingIfNeeded: error.code))
    }

    private func failure(_ status: OSStatus) -> SealedFieldsError {
        let (code, advice): (SealedFieldsError.Code, String) =
            switch status {
            case errSecInteractionNotAllowed:
                (.locked, "the vault is locked for the key, or nobody can be asked; unlock it, and try again")
            case errSecAuthFailed, errSecUserCanceled:
                (.authenticationFailed, "nobody proved to be allowed to use the key; try again")
            case errSecMissingEntitlement:
                (.accessDenied, "the program does not hold the access group of the key")
            case errSecAllocate: (.outOfMemory, "there is no memory for the key")
            case errSecDecode: (.damagedKey, "the key in the keychain is damaged; restore it from a backup")
            default:
                (.keychain, (SecCopyErrorMessageString(status, nil) as String?) ?? "the keychain refused")
            }
        return SealedFieldsError(code, subject: name, message: "\(advice) (status \(status))")
    }
}
