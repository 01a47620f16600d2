import Bytes
import FoundationEssentials
import KeychainModel
import SQLCipherService
import SQLCipherWire
import StatusCodes
import StoredKeys
import VaultInterface

/// The raw keys of SQLCipher files in the keychain: generic passwords of one service. The account of each is the first
/// 16 bytes of its file, in hexadecimal: SQLCipher's salt, which is random and stays when a file is renamed or copied.
///
/// The password is the 64 hexadecimal digits of the key, as `PRAGMA key` takes them, so that `keychain get` prints what
/// other programs need.
struct CipherFileKeys {
    static let service = "sqlcipher-file"
    /// A version. Items of `keychain set` have none, and are never encrypted for the enclave.
    private static let note = Data([1])
    private let items = KeyItems(service: service, label: "SQLCipher file", prompt: "Use a SQLCipher file.")

    /// Returns the account of a file's key, or nil if the file cannot be a SQLCipher file.
    static func identifier(of path: String) -> String? {
        guard let start = FileStart.read(path, count: 16), start.count == 16, start != Array("SQLite format 3\0".utf8)
        else { return nil }
        return Data(start).hexadecimal()
    }

    /// Looks for the key of a file. Asks nobody.
    func find(_ path: String) throws -> KeyItems.Item? {
        guard let identifier = Self.identifier(of: path) else { return nil }
        return try items.list(identifier).first
    }

    /// Reads a key, which may ask a person.
    func read(_ item: KeyItems.Item) throws -> CipherKey {
        var value = try items.value(item.account)
        if let found = value, let label = Self.enclaveKey(item) { value = try items.decrypt(found, with: label) }
        guard let value, let key = try RawCipherKey.bytes(ofDigits: .copy(value)) else {
            throw Failure(
                status: errSecDecode,
                "the item '\(Self.service)' '\(item.account)' is not a raw key of 64 hexadecimal digits: give the key "
                    + "with --key-fd")
        }
        return CipherKey(.raw, key)
    }

    /// Returns the key that was given, or else the one in the keychain.
    func key(of path: String, _ input: CipherKeyInput) throws -> CipherKey {
        if let given = try input.read() { return given }
        guard let item = try find(path) else {
            throw Failure(
                status: errSecItemNotFound,
                "there is no key for \(path.escapedForTerminal) in the keychain: if it is a SQLCipher file, give its "
                    + "key with --key-fd or --passphrase-fd")
        }
        return try read(item)
    }

    /// Keeps a key under the name of a file.
    ///
    /// - Returns: The item's account.
    func add(
        _ key: SecretBytes, of path: String, name: String, _ protection: StoredKeyProtection, accessGroup: String?
    ) throws -> String {
        guard let identifier = Self.identifier(of: path) else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(path.escapedForTerminal) cannot be read: name a SQLCipher file")
        }
        let items = KeyItems(service: Self.service, label: "SQLCipher file \(name)", accessGroup: accessGroup)
        let digits = try RawCipherKey.digits(of: key)
        let value = Data.wipedWhenFreed(digits.withUnsafeBytes { Data($0) })
        guard try add(value, to: items, identifier, name: name, protection) else {
            throw Failure(
                status: errSecDuplicateItem,
                "the keychain has a key for \(name.escapedForTerminal) already: remove it with "
                    + "`keychain delete \(Self.service) \(identifier)` if it is a different key")
        }
        return identifier
    }

    /// - Returns: Whether there was no such item.
    private func add(
        _ value: Data, to items: KeyItems, _ identifier: String, name: String, _ protection: StoredKeyProtection
    ) throws(StoredKeyError) -> Bool {
        guard protection.isInEnclave else {
            return try items.add(
                identifier, name: name, generic: Self.note, value: value, guardedBy: protection.control)
        }
        let (publicKey, label) = try items.makeEnclaveKey(protection.control)
        do {
            // The enclave's key has the conditions: using it asks for a person.
            let isNew = try items.add(
                identifier, name: name, generic: Self.note + label,
                value: try items.encrypt(value, for: publicKey), guardedBy: protection.control.withoutConditions)
            if !isNew { try items.removeEnclaveKey(label) }
            return isNew
        } catch {
            try? items.removeEnclaveKey(label)
            throw error
        }
    }

    func remove(_ path: String) throws {
        guard let item = try find(path) else { return }
        try items.remove(item.account)
        if let label = Self.enclaveKey(item) { try items.removeEnclaveKey(label) }
    }

    static func isInEnclave(_ item: KeyItems.Item) -> Bool { enclaveKey(item) != nil }

    private static func enclaveKey(_ item: KeyItems.Item) -> Data? {
        item.generic.count > note.count ? Data(item.generic.dropFirst(note.count)) : nil
    }
}

extension Failure {
    /// What went wrong with a stored key.
    init(_ error: StoredKeyError) {
        switch error {
        case .vault(let error): self.init(error)
        case .locked: self.init(status: errSecInteractionNotAllowed, error.description)
        case .canceled: self.init(status: errSecUserCanceled, error.description)
        case .notAuthenticated: self.init(status: errSecAuthFailed, error.description)
        case .accessDenied: self.init(status: errSecMissingEntitlement, error.description)
        case .damaged: self.init(status: errSecDecode, error.description)
        case .memoryUnavailable: self.init(VaultError.memoryUnavailable)
        }
    }
}
