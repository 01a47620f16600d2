import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel
import ProcessVault
import VaultInterface

/// The keys that the keychain stores for other parts of this package: generic passwords of two services, and enclave
/// keys.
///
/// The first service is the list: one item without conditions for each key. If two programs add a key under the same
/// account, the second one finds the item of the first. Listing asks no person. The second service holds the keys, with
/// their own names and conditions.
///
/// The vault keeps a deleted key as a former version, without being asked: a person, or a program that calls Apple's
/// API, may delete the item of a key by mistake, and `keychain restore` brings it back. What this type removes is gone
/// for good.
package struct KeyItems: Sendable {
    /// The service of the list, and the tag of the enclave keys.
    package let service: String
    /// The label of the enclave keys, which people see.
    package let label: String
    /// Nil for all groups that the program may read, and for its first group when an item is added.
    package let accessGroup: String?
    /// The text of the question that a person sees.
    package let prompt: String?
    /// Replaces the keychain of the process, and also the one of the calling task; nil for those.
    private let session: (any VaultSessionProvider)?
    /// Whether the vault keeps a former version of what somebody else deletes.
    private let keepsFormer: Bool

    /// - Parameters:
    ///   - keepsFormer: False for items whose loss costs nothing.
    ///   - session: Replaces the keychain of the process.
    package init(
        service: String, label: String, accessGroup: String? = nil, prompt: String? = nil,
        keepsFormer: Bool = true, session: (any VaultSessionProvider)? = nil
    ) {
        self.keepsFormer = keepsFormer
        self.service = service
        self.label = label
        self.accessGroup = accessGroup
        self.prompt = prompt
        self.session = session
    }

    /// An item of the list.
    package struct Item: Sendable {
        package let account: String
        /// The note that came with the key.
        package let generic: Data
        package let accessGroup: String
        package let created: Date
        /// The protection class of the key.
        package let protection: ProtectionClass
        /// The conditions for reading the item's value; nil for none, and for items of the list.
        package let flags: AccessControl.Flags?

        /// Whether the program must forget the key when the vault is locked.
        package var closesWithLock: Bool { protection.availability == .whileUnlocked }
    }

    // MARK: The list

    /// Returns the items of the list.
    ///
    /// - Parameter account: Nil for all items.
    package func list(_ account: String? = nil) throws(StoredKeyError) -> [Item] {
        try list(query(service, account)).compactMap { item in
            guard case .string(let account) = item.attribute(.account) else { return nil }
            var generic = Data()
            if case .data(let data) = item.attribute(.generic) { generic = data }
            return Item(
                account: account, generic: generic, accessGroup: item.accessGroup, created: item.creationDate,
                protection: item.accessControl.protection, flags: item.accessControl.flags)
        }
    }

    /// Adds an item to the list. Returns false if there is one already.
    ///
    /// - Parameter name: The label that people see.
    package func add(
        _ account: String, name: String? = nil, generic: Data, protection: AccessControl
    ) throws(StoredKeyError) -> Bool {
        try add(
            account, name: name, generic: generic, value: Data(), guardedBy: protection.withoutConditions)
    }

    /// Adds an item that holds the key itself, for keys that people handle with `keychain get` and `keychain delete`.
    ///
    /// Listing an item with conditions may ask a person. Returns false if there is one already.
    package func add(
        _ account: String, name: String?, generic: Data, value: Data, guardedBy protection: AccessControl
    ) throws(StoredKeyError) -> Bool {
        var item = password(service, account, value, protection)
        item.attributes[.generic] = .data(generic)
        if let name { item.attributes[.label] = .string(name) }
        return try add(item)
    }

    /// Returns the value of such an item. May ask a person.
    package func value(_ account: String) throws(StoredKeyError) -> Data? {
        try open(query(service, account))?.value
    }

    /// Replaces a key's note and class on the list.
    ///
    /// - Parameter former: The note that the item must have; nil for any. Of two programs that replace the same note,
    ///   one finds no item.
    package func change(
        _ account: String, generic: Data, replacing former: Data? = nil, protection: AccessControl
    ) throws(StoredKeyError) {
        try update(
            query(service, account, former),
            ItemChanges(attributes: [.generic: .data(generic)], accessControl: protection.withoutConditions))
    }

    /// Removes an item from the list, if it is there.
    package func remove(_ account: String) throws(StoredKeyError) {
        try delete(query(service, account))
    }

    /// Removes an item with this note from the list. Returns false if it is not there.
    package func remove(_ account: String, withNote note: Data) throws(StoredKeyError) -> Bool {
        try delete(query(service, account, note))
    }

    /// Removes all items, and the enclave keys.
    package func removeAll() throws(StoredKeyError) {
        try delete(query(keyService, nil))
        try delete(enclaveKeys(nil))
        try delete(query(service, nil))
    }

    // MARK: Keys

    /// Stores a key. Returns false if there is one with this name already.
    ///
    /// - Parameters:
    ///   - label: What the key is of, for people.
    ///   - isGuarded: Whether reading the key requires the conditions of the access control, not only its class.
    package func addKey(
        _ name: String, label: String? = nil, value: Data, protection: AccessControl, isGuarded: Bool
    ) throws(StoredKeyError) -> Bool {
        var item = password(keyService, name, value, isGuarded ? protection : protection.withoutConditions)
        if let label { item.attributes[.label] = .string(label) }
        return try add(item)
    }

    /// Returns a key as the keychain holds it. May ask a person.
    ///
    /// - Parameter authentication: How the person may be asked; nil to ask with the prompt.
    package func key(_ name: String, authentication: AuthenticationOptions? = nil) throws(StoredKeyError) -> Data? {
        try open(query(keyService, name), authentication)?.value
    }

    /// Replaces the protection of a key. May ask a person.
    package func protectKey(_ name: String, _ protection: AccessControl) throws(StoredKeyError) {
        try update(query(keyService, name), ItemChanges(accessControl: protection))
    }

    /// Removes a key, and the enclave key that it is encrypted for. Asks no person.
    package func removeKey(_ name: String, enclaveKey label: Data?) throws(StoredKeyError) {
        try delete(query(keyService, name))
        if let label { try removeEnclaveKey(label) }
    }

    package func removeEnclaveKey(_ label: Data) throws(StoredKeyError) {
        try delete(enclaveKeys(label))
    }

    // MARK: Keys of the enclave

    /// Makes a key in the enclave.
    ///
    /// - Returns: The public key, and its hash, which is the label for finding the key.
    package func makeEnclaveKey(_ control: AccessControl) throws(StoredKeyError) -> (public: KeyData, label: Data) {
        let session = try vaultSession()
        let record: EnclaveKeyRecord
        do throws(VaultError) {
            record = try session.perform(
                MakeEnclaveKey(.p256, accessControl: control, options: AuthenticationOptions()))
        } catch {
            throw StoredKeyError(error)
        }
        guard let publicKey = EnclavePrivateKey(record: record, authentication: AuthenticationOptions()).publicKey
        else { throw .damaged(reason: "the enclave made no usable key; try again") }
        var attributes = publicKey.storedAttributes(keptBy: EnclaveKeyRecord.tokenID)
        attributes[.applicationTag] = tag
        attributes[.label] = .string(label)
        // The conditions apply to the use of the key in the enclave, not to finding the item.
        var item = NewItem(
            itemClass: .key, attributes: attributes, accessGroup: accessGroup,
            accessControl: control.withoutConditions, value: record.encoded)
        item.kept = kept
        guard try add(item) else { throw .vault(.duplicateItem) }
        return (publicKey, publicKey.applicationLabel)
    }

    /// Encrypts a secret for an enclave key.
    package func encrypt(_ secret: Data, for key: KeyData) throws(StoredKeyError) -> Data {
        do throws(KeyError) {
            return try SoftwareKeys.publicOperations(of: key).encrypt(secret, by: Self.algorithm)
        } catch {
            throw StoredKeyError(error)
        }
    }

    /// Returns the record of an enclave key; nil if there is no such key. Asks no person.
    package func enclaveKey(_ label: Data) throws(StoredKeyError) -> EnclaveKeyRecord? {
        guard let item = try open(enclaveKeys(label)), item.attribute(.tokenID) == .string(EnclaveKeyRecord.tokenID)
        else { return nil }
        return item.value.flatMap(EnclaveKeyRecord.init(decoding:))
    }

    /// Decrypts with an enclave key. May ask a person.
    package func decrypt(_ encrypted: Data, with label: Data) throws(StoredKeyError) -> Data {
        guard let record = try enclaveKey(label) else {
            throw .damaged(
                reason: "the enclave's key that it is encrypted for is gone; restore the keychain from a backup")
        }
        let key = EnclavePrivateKey(record: record, authentication: authentication)
        // The key itself finds the vault.
        let secret = VaultSession.$override.withValue(session ?? VaultSession.override) {
            Result { () throws(KeyError) in try key.decrypt(encrypted, by: Self.algorithm) }
        }
        do throws(KeyError) { return try secret.get() } catch { throw StoredKeyError(error) }
    }

    /// ECIES with a new ephemeral key for each message: Apple's `eciesEncryptionCofactorVariableIVX963SHA256AESGCM`.
    private static var algorithm: EncryptionAlgorithm { .ecies(.sha256, derivesNonce: true) }

    // MARK: Requests

    private var keyService: String { service + KeyPurpose.keysEnding }
    private var kept: KeptVersions { keepsFormer ? .atMost(1) : .vaultDefault }
    private var tag: AttributeValue { .data(Data(service.utf8)) }
    private var authentication: AuthenticationOptions { AuthenticationOptions(prompt: prompt) }

    private func query(_ service: String, _ account: String?, _ note: Data? = nil) -> ItemQuery {
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service)], accessGroup: accessGroup)
        if let account { query.attributes[.account] = .string(account) }
        if let note { query.attributes[.generic] = .data(note) }
        return query
    }

    private func enclaveKeys(_ label: Data?) -> ItemQuery {
        var query = ItemQuery(itemClass: .key, attributes: [.applicationTag: tag], accessGroup: accessGroup)
        if let label { query.attributes[.applicationLabel] = .data(label) }
        return query
    }

    private func password(
        _ service: String, _ account: String, _ value: Data, _ control: AccessControl
    ) -> NewItem {
        var item = NewItem(
            itemClass: .genericPassword, attributes: [.service: .string(service), .account: .string(account)],
            accessGroup: accessGroup, accessControl: control, value: value)
        item.kept = kept
        return item
    }

    // MARK: Calls

    private func add(_ item: NewItem) throws(StoredKeyError) -> Bool {
        let session = try vaultSession()
        do throws(VaultError) {
            try session.perform(AddItem(item))
            return true
        } catch .duplicateItem {
            return false
        } catch {
            throw StoredKeyError(error)
        }
    }

    private func update(_ query: ItemQuery, _ changes: ItemChanges) throws(StoredKeyError) {
        let session = try vaultSession()
        do throws(VaultError) {
            try session.perform(UpdateItems(query, with: changes))
        } catch {
            throw StoredKeyError(error)
        }
    }

    private func list(_ query: ItemQuery) throws(StoredKeyError) -> [StoredItem] {
        try copy(query, includingValues: false)
    }

    /// Returns an item with its value. May ask a person, as the access control requires.
    private func open(
        _ query: ItemQuery, _ authentication: AuthenticationOptions? = nil
    ) throws(StoredKeyError) -> StoredItem? {
        var query = query
        query.limit = 1
        query.authentication = authentication ?? self.authentication
        return try copy(query, includingValues: true).first
    }

    private func copy(_ query: ItemQuery, includingValues: Bool) throws(StoredKeyError) -> [StoredItem] {
        let session = try vaultSession()
        do throws(VaultError) {
            return try session.perform(CopyItems(query, includingValues: includingValues))
        } catch .itemNotFound {
            return []
        } catch {
            throw StoredKeyError(error)
        }
    }

    /// Deletes items with their former versions. Returns whether there was such an item.
    @discardableResult
    private func delete(_ query: ItemQuery) throws(StoredKeyError) -> Bool {
        let session = try vaultSession()
        do throws(VaultError) {
            try session.perform(DeleteItems(query))
            do throws(VaultError) {
                _ = try session.perform(PurgeVersions(query))
            } catch .interactionNotAllowed {
                // The vault is locked. A key that is deleted while it is locked leaves a former version only where the
                // vault keeps versions of everything.
            }
            return true
        } catch .itemNotFound {
            return false
        } catch {
            throw StoredKeyError(error)
        }
    }

    /// Returns the vault whose lock state applies to the keys.
    package func vaultSession() throws(StoredKeyError) -> VaultSession {
        if let session { return session.session }
        do throws(VaultError) { return try VaultSession.current() } catch { throw StoredKeyError(error) }
    }
}
