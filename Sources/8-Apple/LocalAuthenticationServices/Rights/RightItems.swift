import Access
import Foundation
import KeychainModel
import ProcessVault
import StoredKeys
import VaultInterface

/// A right as the keychain has it.
struct StoredRight: Sendable {
    let identifier: String
    let record: EnclaveKeyRecord
    /// Under what its secret is kept; nil if it has none.
    let secretName: String?
}

/// The persisted rights of a program: a list of their identifiers, their keys and their secrets. The format is
/// specified in Documentation/Specify/Formats/ItemStore.md.
struct RightItems: Sendable {
    /// The service of the list, and the tag of the keys.
    static let service = KeyPurpose.rightService
    /// How often a change of the list is tried again because another one came first.
    private static let mostAttempts = 16

    private let session: VaultSession

    init(_ session: VaultSession) { self.session = session }

    /// The items in the program's own access group, where its new items go. Rights of other programs in groups that it
    /// shares with them are not its own.
    private func items(_ identifier: String = "") -> KeyItems {
        let client = session.client
        return KeyItems(
            service: Self.service, label: "Right \(identifier)",
            accessGroup: client.preferredGroup ?? Client.groupForNewItem(in: client.accessGroups),
            session: FixedSession(session))
    }

    /// Makes a key, stores it with a secret, and removes what was kept under the identifier before.
    ///
    /// - Parameter flags: What the use of the key and of the secret requires.
    func save(
        _ identifier: String, _ flags: AccessControl.Flags, secret: Data?
    ) throws(StoredKeyError) -> StoredRight {
        let items = items(identifier)
        let control = AccessControl(protection: .whenUnlockedThisDeviceOnly, flags: flags)
        let label = try items.makeEnclaveKey(
            AccessControl(protection: control.protection, flags: flags.union(.privateKeyUsage))
        ).label
        let note = RightNote(secret: secret.map { _ in UUID() })
        let record: EnclaveKeyRecord
        let former: RightEntry?
        do throws(StoredKeyError) {
            if let secret, let name = note.secretName {
                guard try items.addKey(name, value: secret, protection: control, isGuarded: true) else {
                    throw .vault(.duplicateItem)
                }
            }
            record = try enclaveKey(label, in: items)
            former = try enter(RightEntry(note: note, key: label), identifier, control, in: items)
        } catch {
            try? remove(RightEntry(note: note, key: label), from: items)
            throw error
        }
        // The list names the new key; if the former one stays, nothing finds it.
        if let former { try? remove(former, from: items) }
        return StoredRight(identifier: identifier, record: record, secretName: note.secretName)
    }

    /// Puts an entry on the list. Another process of the program, or another thread, may do the same: each replaces
    /// exactly one entry, and removes what that one names.
    ///
    /// - Returns: The entry that it replaced.
    private func enter(
        _ entry: RightEntry, _ identifier: String, _ control: AccessControl, in items: KeyItems
    ) throws(StoredKeyError) -> RightEntry? {
        for _ in 0..<Self.mostAttempts {
            guard let known = try items.list(identifier).first else {
                if try items.add(identifier, name: items.label, generic: entry.encoded, protection: control) {
                    return nil
                }
                continue
            }
            do throws(StoredKeyError) {
                try items.change(
                    identifier, generic: entry.encoded, replacing: known.generic, protection: control)
                return RightEntry(known.generic)
            } catch .vault(.itemNotFound) {
                continue
            }
        }
        throw .vault(.busy)
    }

    /// The right with this identifier; nil if there is none.
    func right(_ identifier: String) throws(StoredKeyError) -> StoredRight? {
        let items = items(identifier)
        for _ in 0..<Self.mostAttempts {
            guard let known = try items.list(identifier).first else { return nil }
            guard let entry = RightEntry(known.generic) else {
                throw .damaged(reason: "the entry of the right cannot be read; restore the keychain from a backup")
            }
            if let record = try items.enclaveKey(entry.key) {
                return StoredRight(identifier: identifier, record: record, secretName: entry.note.secretName)
            }
            // Unless the right was just saved anew.
            guard let present = try items.list(identifier).first, present.generic != known.generic else { break }
        }
        throw .damaged(reason: "the enclave's key of the right is gone; remove the right, or restore a backup")
    }

    /// The secret of a right; nil if it has none, or it was removed since.
    func secret(of right: StoredRight, _ options: AuthenticationOptions) throws(StoredKeyError) -> Data? {
        guard let name = right.secretName else { return nil }
        return try items(right.identifier).key(name, authentication: options)
    }

    /// Removes a right with its key and its secret. Asks nobody.
    ///
    /// - Returns: Whether there was one.
    func remove(_ identifier: String) throws(StoredKeyError) -> Bool {
        let items = items(identifier)
        for _ in 0..<Self.mostAttempts {
            guard let known = try items.list(identifier).first else { return false }
            // First: from here on nothing finds the rest.
            guard try items.remove(identifier, withNote: known.generic) else { continue }
            if let entry = RightEntry(known.generic) { try remove(entry, from: items) }
            return true
        }
        throw .vault(.busy)
    }

    /// Removes all rights of the list with their keys and secrets. Asks nobody.
    ///
    /// One after the other, from the list: a right that is saved meanwhile is removed whole, or stays whole.
    func removeAll() throws(StoredKeyError) {
        for known in try items().list() { _ = try remove(known.account) }
    }

    private func remove(_ entry: RightEntry, from items: KeyItems) throws(StoredKeyError) {
        if let name = entry.note.secretName { try items.removeKey(name, enclaveKey: nil) }
        try items.removeEnclaveKey(entry.key)
    }

    private func enclaveKey(_ label: Data, in items: KeyItems) throws(StoredKeyError) -> EnclaveKeyRecord {
        guard let record = try items.enclaveKey(label) else {
            throw .damaged(reason: "the enclave's key of the right is gone; save the right again")
        }
        return record
    }
}

/// What the list has of a right: the note, and the hash of its key's public half.
struct RightEntry: Sendable, Equatable {
    var note: RightNote
    var key: Data

    init(note: RightNote, key: Data) { (self.note, self.key) = (note, key) }

    init?(_ encoded: Data) {
        guard let reference = StoredKeyReference(encoded, noteCount: RightNote.count), let key = reference.enclaveKey,
            let note = RightNote(reference.note)
        else { return nil }
        self.init(note: note, key: key)
    }

    var encoded: Data { StoredKeyReference(note: note.encoded, enclaveKey: key).encoded }
}

/// The name of a right's secret: version (1) ‖ identifier (16), zeros if there is no secret.
struct RightNote: Sendable, Equatable {
    let secret: UUID?

    static let count = 17
    private static let version: UInt8 = 1
    private static let none = Data(count: 16)

    init(secret: UUID?) { self.secret = secret }

    init?(_ encoded: Data) {
        guard encoded.count == Self.count, encoded.first == Self.version else { return nil }
        let bytes = Data(encoded.dropFirst())
        secret = bytes == Self.none ? nil : bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    var encoded: Data {
        Data([Self.version]) + (secret.map { withUnsafeBytes(of: $0.uuid) { Data($0) } } ?? Self.none)
    }

    /// The account of the secret.
    var secretName: String? { secret?.uuidString }
}
