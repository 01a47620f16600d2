import FoundationEssentials

/// The entry of a key on the list: a note of its owner, and the enclave key that it is encrypted for.
package struct StoredKeyReference: Sendable, Hashable {
    package let note: Data
    /// The hash of the enclave key's public half.
    package var enclaveKey: Data?

    package init(note: Data, enclaveKey: Data? = nil) { (self.note, self.enclaveKey) = (note, enclaveKey) }

    /// Decodes note ‖ hash.
    ///
    /// - Parameter noteCount: The length of the note in bytes.
    package init?(_ encoded: Data, noteCount: Int) {
        guard encoded.count >= noteCount else { return nil }
        note = Data(encoded.prefix(noteCount))
        enclaveKey = encoded.count > noteCount ? Data(encoded.dropFirst(noteCount)) : nil
    }

    package var encoded: Data { note + (enclaveKey ?? Data()) }
}

extension KeyItems {
    /// Stores a key and adds it to the list. Encrypts it for a new enclave key if its protection requires that.
    ///
    /// - Parameters:
    ///   - key: The name and the bytes of the key.
    ///   - account: The account on the list.
    ///   - name: The label that people see.
    /// - Returns: False if the list has this account already. Then nothing is stored.
    package func store(
        _ key: (name: String, value: Data), as account: String, name: String? = nil, note: Data,
        _ protection: StoredKeyProtection
    ) throws(StoredKeyError) -> Bool {
        var reference = StoredKeyReference(note: note)
        var isAdded = false
        if protection.isInEnclave {
            let (publicKey, label) = try makeEnclaveKey(protection.control)
            reference.enclaveKey = label
            do {
                // The conditions guard the use of the enclave key. Reading the ciphertext needs no conditions.
                isAdded = try addKey(
                    key.name, label: name, value: try encrypt(key.value, for: publicKey),
                    protection: protection.control,
                    isGuarded: false)
            } catch {
                try? removeKey(key.name, enclaveKey: label)
                throw error
            }
        } else {
            isAdded = try addKey(
                key.name, label: name, value: key.value, protection: protection.control, isGuarded: true)
        }
        guard isAdded else { return false }
        // Written last: if the program ends early, every key on the list still exists.
        let isListed: Bool
        do {
            isListed = try add(account, name: name, generic: reference.encoded, protection: protection.control)
        } catch {
            try? removeKey(key.name, enclaveKey: reference.enclaveKey)
            throw error
        }
        if !isListed { try removeKey(key.name, enclaveKey: reference.enclaveKey) }
        return isListed
    }

    /// Returns the key in plaintext. May ask a person.
    ///
    /// - Returns: Nil if the key does not exist.
    package func read(_ name: String, _ reference: StoredKeyReference) throws(StoredKeyError) -> Data? {
        guard let value = try key(name) else { return nil }
        guard let label = reference.enclaveKey else { return value }
        return try decrypt(value, with: label)
    }
}
