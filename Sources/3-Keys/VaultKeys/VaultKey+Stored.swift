import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel

extension VaultKey {
    /// The key in a stored item that was read with its value; nil if the item holds no key.
    ///
    /// - Parameter use: On whose behalf a key of the enclave will be used.
    package static func stored(in item: StoredItem, use: KeyUse = KeyUse()) -> VaultKey? {
        guard item.itemClass == .key else { return nil }
        return stored(item.value, attributes: item.attributes, use)
    }

    /// The key in a stored value with its attributes.
    package static func stored(
        _ value: Data?, attributes: [AttributeName: AttributeValue], _ use: KeyUse
    ) -> VaultKey? {
        guard let value, let type = number(attributes[.type]), let keyClass = number(attributes[.keyClass]) else {
            return nil
        }
        if attributes[.tokenID] == .string(EnclaveKeyRecord.tokenID), keyClass == 1 {
            return EnclaveKeyRecord(decoding: value).flatMap { VaultKey($0, use: use) }
        }
        // What is stored of a key that is kept elsewhere is not its representation.
        guard attributes[.tokenID]?.isEmpty ?? true else { return nil }
        return VaultKey(bytes: value, type: type, keyClass: keyClass)
    }

    /// Key types and classes are stored as numbers, but a string that is not canonical stays a string.
    private static func number(_ value: AttributeValue?) -> Int? {
        guard case .number(let number) = value else { return nil }
        return Int(exactly: number)
    }

    /// The key that a record of the enclave stands for; nil if it is of a kind that keys of the keychain are not.
    package convenience init?(_ record: EnclaveKeyRecord, use: KeyUse) {
        let context = use.context
        let operations = EnclavePrivateKey(record: record, authentication: use.authentication) {
            context?.willUse($0)
        }
        guard let publicKey = operations.publicKey else { return nil }
        self.init(
            publicKey: publicKey,
            kept: KeptKey(
                tokenID: EnclaveKeyRecord.tokenID, operations: operations, storedValue: record.encoded))
    }

    /// What is stored of the key beside its value; attributes the caller gives take precedence.
    package var storedAttributes: [AttributeName: AttributeValue] {
        keyData.storedAttributes(keptBy: kept?.tokenID)
    }

    /// The value that is stored: for private keys the secret.
    package var storedValue: Data { kept?.storedValue ?? keyData.externalRepresentation }
}
