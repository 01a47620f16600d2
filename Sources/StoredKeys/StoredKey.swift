import Foundation
import KeychainModel
import KeychainServices

extension KeyItems {
    /// Adds a key under a name, encrypted for a new key of the enclave if its protection says so.
    ///
    /// - Parameters:
    ///   - note: What ``list(_:)`` tells of the key without opening it, before the 20 bytes that name the enclave's key.
    /// - Returns: False if the name is taken.
    package func addKey(
        _ secret: SecretBytes, as account: String, label: String?, note: Data, _ protection: StoredKeyProtection
    ) throws(StoredKeyError) -> Bool {
        var value = Data.wipedWhenFreed(secret.withUnsafeBytes { Data($0) })
        guard protection.isInEnclave else {
            return try add(account, label: label, generic: note, value: value, protection: protection.control)
        }
        let (publicKey, name) = try makeEnclaveKey(protection.control)
        do {
            value = try encrypt(value, for: publicKey)
            // Whoever is to be asked is asked for the use of the enclave's key.
            let isNew = try add(
                account, label: label, generic: note + name, value: value,
                protection: protection.control.withoutConditions)
            if !isNew { try removeEnclaveKey(name) }
            return isNew
        } catch {
            try? removeEnclaveKey(name)
            throw error
        }
    }

    /// The key of an item that ``list(_:)`` told of, which may ask a person.
    ///
    /// - Parameter noteCount: How many bytes the note has.
    /// - Returns: Nil if the item is gone.
    package func key(_ item: Item, noteCount: Int) throws(StoredKeyError) -> SecretBytes? {
        guard let value = try value(item.account) else { return nil }
        let name = Self.enclaveKeyName(item, noteCount)
        let key = try name.map { (name) throws(StoredKeyError) in try decrypt(value, with: name) } ?? value
        do {
            return try key.withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw .memoryUnavailable
        }
    }

    /// Removes a key, and the enclave's that it is encrypted for.
    package func removeKey(_ item: Item, noteCount: Int) throws(StoredKeyError) {
        try remove(item.account)
        if let name = Self.enclaveKeyName(item, noteCount) { try removeEnclaveKey(name) }
    }

    /// Whether the key is encrypted for one of the enclave.
    package static func isInEnclave(_ item: Item, noteCount: Int) -> Bool {
        enclaveKeyName(item, noteCount) != nil
    }

    private static func enclaveKeyName(_ item: Item, _ noteCount: Int) -> Data? {
        item.generic.count > noteCount ? item.generic.dropFirst(noteCount) : nil
    }
}
