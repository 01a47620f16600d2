import Access
import ArgumentParser
import Certificates
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

/// Options about where a new key is stored and what using it takes.
package struct KeyProtection: ParsableArguments {
    package init() {}

    @Option(
        name: [.customLong("accessible"), .customLong("access")],
        help: ArgumentHelp("When the private key can be used.", valueName: "class"))
    var accessible: ProtectionName?

    @Option(
        help: ArgumentHelp(
            "What using the private key takes besides an unlocked vault. If repeated, all of them are needed.",
            valueName: "requirement"))
    var require: [ItemRequirement] = []

    @Option(help: ArgumentHelp("The access group to store in.", valueName: "group"))
    var group: String?

    @Option(help: ArgumentHelp("An application tag, by which programs find the key.", valueName: "text"))
    var tag: String?

    package func validate() throws {
        guard group?.isEmpty != true, group != Client.everyGroup else {
            throw ValidationError("--group takes the name of one access group, not '' or '*'")
        }
        guard AccessControl.isValid(flags ?? []) else {
            throw ValidationError(
                "these requirements exclude each other: 'presence' stands alone or with 'password', and "
                    + "'biometry' excludes 'current-biometry'")
        }
    }

    /// For commands without these options.
    package static var standard: KeyProtection {
        var protection = KeyProtection()
        (protection.accessible, protection.require, protection.group, protection.tag) = (nil, [], nil, nil)
        return protection
    }

    /// Refuses requirements that nobody could meet, before a key is made.
    func check(_ session: KeyCommandSession) throws {
        try ItemRequirement.check(require, session.session)
    }

    private var flags: AccessControl.Flags? {
        require.isEmpty ? nil : require.reduce(into: AccessControl.Flags()) { $0.formUnion($1.flag) }
    }

    /// Returns how the key is protected. A key of the enclave is for this device only, as it cannot leave it.
    package func accessControl(isEnclave: Bool) -> AccessControl {
        AccessControl(
            protection: accessible?.protection ?? (isEnclave ? .whenUnlockedThisDeviceOnly : .whenUnlocked),
            flags: flags)
    }
}

/// Stores keys: both halves, and the public one so that it can be read at any time.
package struct KeyStore {
    let session: KeyCommandSession
    let protection: KeyProtection
    let authentication: AuthenticationOptions

    package init(
        session: KeyCommandSession, protection: KeyProtection = .standard,
        authentication: AuthenticationOptions = AuthenticationOptions()
    ) {
        (self.session, self.protection, self.authentication) = (session, protection, authentication)
    }

    var group: String { protection.group ?? session.session.client.accessGroups.first ?? "keychain" }

    /// Fails if a key in the group has this label already, so that a label means one key.
    func requireUnused(_ label: String) throws {
        let query = ItemQuery(
            itemClass: .key, attributes: [.label: .string(label)], accessGroup: group, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: .skip))
        do {
            _ = try session.session.perform(CopyItems(query, includingValues: false))
        } catch {
            guard error == .itemNotFound else { throw error }
            return
        }
        throw Failure(
            status: errSecDuplicateItem,
            "a key '\(label.escapedForTerminal)' exists already: choose another label, or delete it with "
                + "`keychain key delete`")
    }

    /// Stores a key, and for a private key both halves. The public half is stored even if the private one is there
    /// already, because a program may have been killed between the two.
    package func add(_ key: VaultKey, label: String?, _ control: AccessControl) throws -> KeyPair {
        var pair = KeyPair(hash: key.keyData.applicationLabel, group: group)
        var duplicate: VaultError?
        if key.keyClass == .private {
            // A key of the enclave guards its use itself, wherever its record is.
            let stored = key.kept == nil ? control : AccessControl(protection: control.protection)
            do {
                let item = try store(key.storedAttributes, key.storedValue, label, stored, isOptional: false)
                pair.privateHalf = control.isConstrained && key.kept == nil ? .withheld(control) : .found(item)
            } catch VaultError.duplicateItem {
                duplicate = .duplicateItem
            }
        }
        // The public half names the key and reveals no secret.
        let isBound = control.protection.isThisDeviceOnly
        pair.publicHalf = try store(
            key.publicKey.storedAttributes, key.publicKey.storedValue, label,
            AccessControl(protection: isBound ? .alwaysThisDeviceOnly : .always), isOptional: key.keyClass == .private)
        if let duplicate { throw duplicate }
        return pair
    }

    /// Stores both halves of a key of ML-DSA or ML-KEM, which the enclave keeps.
    func add(_ record: EnclaveKeyRecord, _ kind: PostQuantumKind, label: String) throws -> KeyPair {
        let publicKey = record.publicKey
        var pair = KeyPair(hash: PostQuantumKind.hash(of: publicKey), group: group)
        pair.privateHalf = .found(
            try store(
                kind.storedAttributes(publicKey, isPrivate: true), record.encoded, label,
                AccessControl(protection: record.accessControl.protection), isOptional: false))
        pair.publicHalf = try store(
            kind.storedAttributes(publicKey, isPrivate: false), publicKey, label,
            AccessControl(protection: .alwaysThisDeviceOnly), isOptional: true)
        return pair
    }

    /// - Parameter isOptional: Whether it is no error if the item is there already.
    private func store(
        _ attributes: ItemAttributes, _ value: Data, _ label: String?, _ control: AccessControl, isOptional: Bool
    ) throws -> StoredItem {
        var item = NewItem(
            itemClass: .key, attributes: attributes, accessGroup: group, accessControl: control, value: value,
            authentication: authentication)
        item.attributes[.label] = label.map { .string($0) }
        item.attributes[.applicationTag] = protection.tag.map { .string($0) }
        do {
            var stored = try session.session.perform(AddItem(item))
            // The vault does not send back the value that it was given.
            stored.value = item.value
            return stored
        } catch {
            guard isOptional, error == .duplicateItem else { throw error }
            return StoredItem(
                itemClass: .key, identifier: UUID(), attributes: item.attributes, accessGroup: group,
                accessControl: control, isSynchronizable: false, creationDate: Date(), modificationDate: Date(),
                value: value)
        }
    }
}
