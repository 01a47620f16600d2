import Bytes
import CLibrary
import DatabasePages
import DatabaseVFS
import FoundationEssentials
import KeychainModel
import ProcessVault
import SQLCipherFiles
import StoredKeys
import VaultInterface

/// The raw keys of SQLCipher files that the keychain keeps: generic passwords of one service. The account of each is
/// the file's salt, its first 16 bytes, in hexadecimal: the salt is random, and stays when a file is renamed or copied.
///
/// A file with a plaintext header does not hold its salt: the account of its key is its path.
///
/// The password is the 64 hexadecimal digits of the key, as `PRAGMA key` takes them, so that `keychain get` prints what
/// other programs need. For a file with a plaintext header 32 digits of the salt follow.
package struct SQLCipherKeys: Sendable {
    package static let service = KeyPurpose.cipherFileService
    /// The start of the note of an item whose database closes when the vault is locked, if its class says so.
    private static let note = Data([1])
    /// The start of the note of an item whose database stays open.
    private static let noteOfStaying = Data([2])

    /// The beginning of the account of a key whose file does not hold its salt.
    package static let pathPrefix = "file:"

    /// Of the file.
    let path: String
    private let items: KeyItems

    /// - Parameters:
    ///   - path: Of the SQLCipher file.
    ///   - prompt: The text of the question to a person, if the key needs one.
    package init(path: String, prompt: String? = nil) {
        self.path = path
        items = KeyItems(
            service: Self.service, label: "SQLCipher file", prompt: prompt ?? "Use a SQLCipher file.",
            session: VaultSession.override)
    }

    /// The account of the key; nil if the file cannot be a SQLCipher file.
    package var account: String? {
        let bytes = try? EncryptingVFS.firstBytes(of: path, limit: DatabaseHeader.plainByteCount)
        guard let bytes, bytes.count >= CipherFormat.saltSize, !DatabaseHeader.isPlain(bytes) else { return nil }
        let start = Array(bytes.prefix(CipherFormat.saltSize))
        guard start != DatabaseHeader.plainMagic else {
            return Self.pathPrefix + URL(fileURLWithPath: path).standardizedFileURL.path
        }
        return start.withUnsafeBytes({ DatabaseHeader($0) }) == nil ? start.hexadecimal() : nil
    }

    /// Whether the file is one with a plaintext header.
    static func hasPlaintextHeader(_ path: String) -> Bool {
        let bytes = try? EncryptingVFS.firstBytes(of: path, limit: DatabaseHeader.plainByteCount)
        guard let bytes else { return false }
        return bytes.starts(with: DatabaseHeader.plainMagic) && !DatabaseHeader.isPlain(bytes)
    }

    /// Looks for the key of the file. Asks nobody.
    package func find() throws -> KeyItems.Item? {
        guard let account else { return nil }
        return try translating { try items.list(account).first }
    }

    /// Looks for a key that must be there.
    func require() throws -> KeyItems.Item {
        if let item = try find() { return item }
        throw ProtectedDatabaseError(
            .keyNotFound, path: path,
            message: "there is no key for \(path) in the keychain; if it is a SQLCipher file, give its key")
    }

    /// Whether the file is to be closed when the vault is locked.
    static func closesWithLock(_ item: KeyItems.Item) -> Bool {
        item.closesWithLock && !item.generic.starts(with: noteOfStaying)
    }

    /// Whether the key is encrypted for a key of the enclave.
    static func isInEnclave(_ item: KeyItems.Item) -> Bool { enclaveKey(item) != nil }

    private static func enclaveKey(_ item: KeyItems.Item) -> Data? { enclaveKey(inNote: item.generic) }

    /// The enclave's key for which the key of a file is encrypted; nil for none.
    package static func enclaveKey(inNote generic: Data) -> Data? {
        generic.count > note.count ? Data(generic.dropFirst(note.count)) : nil
    }

    /// Reads a key, and the salt if it was kept with it. This may ask a person.
    func read(_ item: KeyItems.Item) throws -> (key: SecretBytes, salt: Data?) {
        let value = try translating {
            let value = try items.value(item.account)
            guard let value, let label = Self.enclaveKey(item) else { return value }
            return try items.decrypt(value, with: label)
        }
        guard let value, let key = try value.withUnsafeBytes({ try SecretBytes(hexadecimal: $0) }),
            key.count == CipherFormat.keySize || key.count == CipherFormat.keySize + CipherFormat.saltSize
        else {
            throw ProtectedDatabaseError(
                .damaged, path: path,
                message: "the item '\(Self.service)' '\(item.account)' is not a raw key of 64 hexadecimal digits: give "
                    + "the key, or put the right one there")
        }
        guard key.count > CipherFormat.keySize else { return (key, nil) }
        return try key.withUnsafeBytes { bytes in
            let alone = UnsafeRawBufferPointer(rebasing: bytes[..<CipherFormat.keySize])
            return (try SecretBytes(copying: alone), Data(bytes[CipherFormat.keySize...]))
        }
    }

    /// Keeps the raw key of the file.
    ///
    /// - Parameters:
    ///   - key: 32 bytes, or 48 with the salt of a file that does not hold it.
    ///   - account: The salt of the file in hexadecimal; nil to read it from the file.
    ///   - storage: Where to keep it.
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is a key for the file.
    package func add(
        _ key: SecretBytes, account: String? = nil, _ storage: DatabaseKeyStorage
    ) throws -> KeyItems.Item {
        guard case .keychain(let protection, let accessGroup, let staysOpen) = storage.place else {
            throw ProtectedDatabaseError(
                .unsupported, path: path,
                message: "the key of a SQLCipher file cannot be in a file; keep it in the keychain or in the enclave")
        }
        guard let account = account ?? self.account else {
            throw ProtectedDatabaseError(.notDatabase, path: path, message: "\(path) is not a SQLCipher file")
        }
        let name = Leftovers.split(path).name
        let adding = KeyItems(
            service: Self.service, label: "SQLCipher file \(name)", accessGroup: accessGroup, prompt: items.prompt,
            session: VaultSession.override)
        let note = staysOpen ? Self.noteOfStaying : Self.note
        let value =
            account.hasPrefix(Self.pathPrefix)
            ? key.hexadecimalDigits() : Data(key.hexadecimalDigits().prefix(2 * CipherFormat.keySize))
        let isNew = try translating { try Self.add(value, to: adding, account, name: name, note, protection) }
        guard isNew, let item = try translating({ try items.list(account).first }) else {
            throw ProtectedDatabaseError(
                .fileExists, path: path,
                message: "the keychain has a key for \(path) already: remove it with "
                    + "`keychain db forget \(account)` if it is a different key")
        }
        return item
    }

    /// - Returns: Whether there was no such item.
    private static func add(
        _ value: Data, to items: KeyItems, _ account: String, name: String, _ note: Data,
        _ protection: StoredKeyProtection
    ) throws(StoredKeyError) -> Bool {
        guard protection.isInEnclave else {
            return try items.add(account, name: name, generic: note, value: value, guardedBy: protection.control)
        }
        let (publicKey, label) = try items.makeEnclaveKey(protection.control)
        do {
            // The enclave's key has the conditions: using it asks for a person.
            let isNew = try items.add(
                account, name: name, generic: note + label, value: try items.encrypt(value, for: publicKey),
                guardedBy: protection.control.withoutConditions)
            if !isNew { try items.removeEnclaveKey(label) }
            return isNew
        } catch {
            try? items.removeEnclaveKey(label)
            throw error
        }
    }

    /// Removes a key for good.
    func remove(_ item: KeyItems.Item) throws {
        try translating {
            try items.remove(item.account)
            if let label = Self.enclaveKey(item) { try items.removeEnclaveKey(label) }
        }
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        try ProtectedDatabaseError.translating(path, body)
    }
}

/// The key of a SQLCipher file that is being made, if the keychain is to keep it.
struct NewCipherKey {
    let keys: SQLCipherKeys
    let place: CipherPlace
    private let key: SecretBytes
    private let account: String
    private let storage: DatabaseKeyStorage

    /// Makes a key. Nil if the options have one.
    init?(_ options: SQLCipherOptions, of file: ProtectedDatabaseFile) throws {
        guard case .kept(let given) = options.key else { return nil }
        do {
            key = try SecretBytes(count: CipherFormat.keySize) { try KernelRandom.fill($0) }
        } catch {
            throw ProtectedDatabaseError(
                .outOfMemory, path: file.path, message: "there is no memory or randomness for a key")
        }
        let salt = options.salt ?? Data([UInt8].random(count: CipherFormat.saltSize))
        var options = options
        options.salt = salt
        keys = SQLCipherKeys(path: file.path, prompt: file.prompt)
        place = try options.place(.raw(key), of: file.path)
        account = salt.hexadecimal()
        storage = try ProtectedDatabaseFile.storage(given)
        guard case .keychain = storage.place else {
            throw ProtectedDatabaseError(
                .unsupported, path: file.path,
                message: "the key of a SQLCipher file cannot be in a file; keep it in the keychain or in the enclave")
        }
    }

    func keep() throws -> KeyItems.Item { try keys.add(key, account: account, storage) }
}
