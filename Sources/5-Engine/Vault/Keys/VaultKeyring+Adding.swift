import Access
import Bytes
import Certificates
import Crypto
import FoundationEssentials
import KeyCryptography
import KeychainModel
import ProcessVault
import VaultInterface
import VaultKeys

extension VaultKeyring {
    func add(_ operation: AddKey, as client: Client) throws(VaultError) -> Data {
        guard operation.name.count <= Self.longestName else {
            throw .invalidRequest(reason: "the name of a key has at most \(Self.longestName) bytes")
        }
        // The maker could not find a key in a group that it may not list.
        let group = try? AccessPolicy.groupForNewItem(nil, client: client)
        let search = AccessRequest(.copy, itemClass: .key, accessGroup: group, namesItems: false)
        _ = try items.gate.authorize(search, as: client, recordedAs: .listed)
        let session = VaultSession(vault: engine, client: client)
        if operation.keyClass == .secret { return try addSecret(operation, session) }
        if let kind = PostQuantumKind(keyType: operation.keyType, keySize: Int64(operation.sizeInBits)) {
            return try addPair(kind, operation, session)
        }
        let key = try key(operation, session)
        // Both halves as `keychain key create` stores them: the public one can be read at any time.
        if operation.keyClass == .private {
            let protection = operation.isInEnclave ? ProtectionClass.whenUnlockedThisDeviceOnly : .whenUnlocked
            try add(key.storedAttributes, key.storedValue, protection, operation, session)
        }
        try add(
            key.publicKey.storedAttributes, key.publicKey.storedValue,
            operation.isInEnclave ? .alwaysThisDeviceOnly : .always, operation, session)
        return key.keyData.applicationLabel
    }

    /// The longest CKA_ID, in bytes.
    private static let longestName = 255

    private func add(
        _ attributes: ItemAttributes, _ value: Data, _ protection: ProtectionClass, _ operation: AddKey,
        _ session: VaultSession
    ) throws(VaultError) {
        var item = NewItem(
            itemClass: .key, attributes: attributes, accessControl: AccessControl(protection: protection), value: value)
        item.attributes[.label] = .string(operation.label)
        if !operation.name.isEmpty {
            item.customAttributes = [StoredItem.tokenNameAttribute: operation.name.hexadecimal()]
        }
        try session.perform(AddItem(item))
    }

    private func key(_ operation: AddKey, _ session: VaultSession) throws(VaultError) -> VaultKey {
        if operation.isInEnclave {
            guard operation.keyType == KeyData.KeyType.ellipticCurve.rawValue, operation.sizeInBits == 256,
                operation.value.isEmpty
            else {
                throw .invalidRequest(reason: "an enclave makes keys on the curve P-256, of ML-DSA and of ML-KEM")
            }
            let record = try enclaveKey(.p256, session)
            guard let key = VaultKey(record, use: KeyUse()) else {
                throw .inputOutput(reason: "the enclave made no key that can be used")
            }
            return key
        }
        guard let type = KeyData.KeyType(rawValue: Int(clamping: operation.keyType)) else {
            throw .invalidRequest(reason: "the vault has no keys of type \(operation.keyType)")
        }
        if operation.value.isEmpty {
            guard operation.keyClass == .private else { throw .invalidRequest(reason: "the public key has no bytes") }
            // To make longer ones keeps a core busy for minutes, also when the client has left.
            guard operation.sizeInBits <= 4096 else {
                throw .invalidRequest(reason: "a key of more than 4096 bits: ask for fewer")
            }
            do {
                return VaultKey(try SoftwareKeys.randomKey(type: type, sizeInBits: Int(operation.sizeInBits)))
            } catch {
                throw Self.refusal(error)
            }
        }
        do {
            return VaultKey(
                try KeyData(operation.value, type: type, keyClass: operation.keyClass == .private ? .private : .public))
        } catch {
            throw .invalidRequest(reason: "the bytes are no key of this type")
        }
    }

    private func enclaveKey(_ kind: EnclaveKeyKind, _ session: VaultSession) throws(VaultError) -> EnclaveKeyRecord {
        let control = AccessControl(protection: .whenUnlockedThisDeviceOnly)
        return try session.perform(MakeEnclaveKey(kind, accessControl: control, options: .init()))
    }

    private func addPair(
        _ kind: PostQuantumKind, _ operation: AddKey, _ session: VaultSession
    ) throws(VaultError) -> Data {
        guard operation.isInEnclave, operation.value.isEmpty, operation.keyClass == .private else {
            throw .invalidRequest(reason: "keys of ML-DSA and ML-KEM are made in the enclave, and cannot be imported")
        }
        let record = try enclaveKey(kind.enclaveKind, session)
        let publicKey = record.publicKey
        try add(
            kind.storedAttributes(publicKey, isPrivate: true), record.encoded, .whenUnlockedThisDeviceOnly, operation,
            session)
        try add(
            kind.storedAttributes(publicKey, isPrivate: false), publicKey, .alwaysThisDeviceOnly, operation, session)
        return PostQuantumKind.hash(of: publicKey)
    }

    private func addSecret(_ operation: AddKey, _ session: VaultSession) throws(VaultError) -> Data {
        let count = operation.value.isEmpty ? Int(operation.sizeInBits) / 8 : operation.value.count
        guard !operation.isInEnclave, SecretKeyAlgorithm.isValid(keyType: operation.keyType, byteCount: count) else {
            throw .invalidRequest(reason: "a secret key is one of AES with 128, 192 or 256 bits, or one of HMAC")
        }
        var value = operation.value
        if value.isEmpty {
            value = SymmetricKey(size: .init(bitCount: count * 8)).withUnsafeBytes { .wipedWhenFreed(Data($0)) }
        }
        let name = Data([UInt8].random(count: 20))
        let size = AttributeValue.number(Int64(count) * 8)
        let attributes: ItemAttributes = [
            .keyClass: .number(Self.secretClass), .applicationLabel: .data(name), .type: .number(operation.keyType),
            "bsiz": size, "esiz": size,
        ]
        try add(attributes, value, .whenUnlocked, operation, session)
        return name
    }
}
