import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel

extension VaultKey {
    /// Returns the key in a stored item that was read with its value; nil if the item holds no key.
    ///
    /// - Parameter use: The authentication for the use of an enclave key.
    package static func stored(in item: StoredItem, use: KeyUse = KeyUse()) -> VaultKey? {
        guard item.itemClass == .key else { return nil }
        return stored(item.value, attributes: item.attributes, use)
    }

    /// Returns the key in a stored value with its attributes.
    package static func stored(
        _ value: Data?, attributes: ItemAttributes, _ use: KeyUse
    ) -> VaultKey? {
        // An item without a class has the class 0, a public key (Apple, SecItemSchema.c).
        guard let value, let type = number(attributes[.type]),
            let keyClass = number(attributes[.keyClass] ?? .number(0))
        else { return nil }
        if attributes[.tokenID] == .string(EnclaveKeyRecord.tokenID), keyClass == 1 {
            return EnclaveKeyRecord(decoding: value).flatMap { VaultKey($0, use: use) }
        }
        // The stored value of a key in another place is not the representation of the key.
        guard attributes[.tokenID]?.isEmpty ?? true else { return nil }
        return VaultKey(bytes: value, type: type, keyClass: keyClass)
    }

    /// Returns a key type or class, which are stored as numbers. A string that is not canonical stays a string.
    private static func number(_ value: AttributeValue?) -> Int? {
        guard case .number(let number) = value else { return nil }
        return Int(exactly: number)
    }

    /// Makes the key for a record of the enclave; nil for a kind that the keychain does not have.
    package convenience init?(_ record: EnclaveKeyRecord, use: KeyUse) {
        let context = use.context
        let operations = EnclavePrivateKey(
            record: record, authentication: use.authentication, performing: use.performing
        ) {
            context?.willUse($0)
        }
        guard let publicKey = operations.publicKey else { return nil }
        self.init(
            publicKey: publicKey,
            kept: KeptKey(
                tokenID: EnclaveKeyRecord.tokenID, operations: operations, storedValue: record.encoded))
    }

    /// The attributes that are stored with the key's value. The caller's attributes override them.
    package var storedAttributes: ItemAttributes {
        keyData.storedAttributes(keptBy: kept?.tokenID)
    }

    /// The value that is stored: for a private key in this process, the secret.
    package var storedValue: Data { kept?.storedValue ?? keyData.externalRepresentation }
}
