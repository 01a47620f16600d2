import FoundationEssentials

/// What the list says of a key: a note of its owner's, and the enclave's key that it is encrypted for.
package struct KeyReference: Sendable, Hashable {
    package let note: Data
    /// The hash of the public half of the enclave's key.
    package var enclaveKey: Data?

    package init(note: Data, enclaveKey: Data? = nil) {
        (self.note, self.enclaveKey) = (note, enclaveKey)
    }

    /// Note ‖ hash.
    ///
    /// - Parameter noteCount: How many bytes the note has.
    package init?(_ encoded: Data, noteCount: Int) {
        guard encoded.count >= noteCount else { return nil }
        note = Data(encoded.prefix(noteCount))
        enclaveKey = encoded.count > noteCount ? Data(encoded.dropFirst(noteCount)) : nil
    }

    package var encoded: Data { note + (enclaveKey ?? Data()) }
}

extension KeyItems {
    /// Stores a key and puts it on the list, encrypted for a new key of the enclave if its protection says so.
    ///
    /// - Parameters:
    ///   - key: Its name, and its bytes.
    ///   - account: On the list.
    ///   - name: What people see.
    /// - Returns: False if there is one under the account already; then nothing is stored.
    package func store(
        _ key: (name: String, value: Data), as account: String, name: String? = nil, note: Data,
        _ protection: StoredKeyProtection
    ) throws(StoredKeyError) -> Bool {
        var reference = KeyReference(note: note)
        var isAdded = false
        if protection.isInEnclave {
            let (publicKey, label) = try makeEnclaveKey(protection.control)
            reference.enclaveKey = label
            do {
                // The use of the enclave's key is guarded, so the reading of what is encrypted for it need not be.
                isAdded = try addKey(
                    key.name, value: try encrypt(key.value, for: publicKey), protection: protection.control,
                    isGuarded: false)
            } catch {
                try? removeKey(key.name, enclaveKey: label)
                throw error
            }
        } else {
            isAdded = try addKey(key.name, value: key.value, protection: protection.control, isGuarded: true)
        }
        guard isAdded else { return false }
        // Last, so that what is on the list is there, whenever the program ends.
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

    /// A key as it was stored, which may ask a person.
    ///
    /// - Returns: Nil if it is gone.
    package func read(_ name: String, _ reference: KeyReference) throws(StoredKeyError) -> Data? {
        guard let value = try key(name) else { return nil }
        guard let label = reference.enclaveKey else { return value }
        return try decrypt(value, with: label)
    }
}
