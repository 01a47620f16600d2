import Access
import Bytes
import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel
import ProcessVault
import VaultInterface
import VaultKeys

/// Uses the keychain's keys in the vault's process, for clients that do not get their secret bytes.
struct VaultKeyring: KeyUsing {
    let engine: any VaultEngine
    let items: VaultItems

    func copy(_ operation: CopyKeyObjects, as client: Client, send: Sink<KeyObject>) throws(VaultError) {
        let session = VaultSession(vault: engine, client: client)
        func show(_ object: KeyObject?) throws(VaultError) {
            guard let object, operation.label.map({ $0 == object.label }) ?? true else { return }
            try send(object)
        }
        let pairs = try KeyInventory(of: session).pairs
        for pair in pairs {
            for object in pair.objects(session) { try show(object) }
        }
        for item in try seen(.key, [.keyClass: .number(Self.secretClass)], by: session) {
            try show(KeyObject(secret: item))
        }
        // A certificate gets the name (CKA_ID) of its key: programs pair the two by it.
        let names = Dictionary(pairs.map { ($0.hash, $0.tokenName ?? Data()) }) { first, _ in first }
        for item in try seen(.certificate, by: session, includingValues: true) {
            var object = KeyObject(certificate: item)
            if let hash = object?.hash, let name = names[hash] { object?.name = name }
            try show(object)
        }
        guard operation.includingPasswords else { return }
        for item in try seen(.genericPassword, by: session) { try show(KeyObject(password: item)) }
    }

    /// Returns the items that can be read without a person, and leaves out locked and damaged ones.
    private func seen(
        _ itemClass: ItemClass, _ attributes: ItemAttributes = [:], by session: VaultSession,
        includingValues: Bool = false
    ) throws(VaultError) -> [StoredItem] {
        var query = ItemQuery(
            itemClass: itemClass, attributes: attributes, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: .skip))
        query.reports = [.damage, .locked]
        do throws(VaultError) {
            return try session.perform(CopyItems(query, includingValues: includingValues))
        } catch {
            switch error {
            case .itemNotFound: return []
            case .interactionNotAllowed: break
            default: throw error
            }
        }
        // Before the first unlocking, a search finds that it may overlook items. Each class by itself is searched
        // whole, or not at all.
        var found: [StoredItem] = []
        for protection in ProtectionClass.allCases {
            query.attributes[.accessible] = .string(protection.rawValue)
            do throws(VaultError) {
                found += try session.perform(CopyItems(query, includingValues: includingValues))
            } catch {
                switch error {
                case .itemNotFound, .interactionNotAllowed: continue
                default: throw error
                }
            }
        }
        return found
    }

    /// `kSecAttrKeyClassSymmetric`
    static let secretClass: Int64 = 2

    func use(_ operation: UseKey, as client: Client) throws(VaultError) -> Data {
        let algorithm = SecretKeyAlgorithm(rawValue: operation.algorithm)
        let keyClass = algorithm == nil ? Int64(KeyData.KeyClass.private.rawValue) : Self.secretClass
        let query = ItemQuery(
            itemClass: .key,
            attributes: [.keyClass: .number(keyClass), .applicationLabel: .data(operation.hash)],
            accessGroup: operation.accessGroup, synchronizable: .any, limit: 1, authentication: operation.options)
        guard let item = try value(query, as: client) else { throw .itemNotFound }
        do {
            if let algorithm { return try use(item, by: algorithm, operation) }
            let session = VaultSession(vault: engine, client: client)
            if item.isEnclaveKey, let record = item.value.flatMap(EnclaveKeyRecord.init(decoding:)),
                PostQuantumKind(record.kind) != nil
            {
                return try perform(use(record, operation), session)
            }
            return try session.asCurrent { try use(item, operation, session) }
        } catch {
            throw Self.refusal(error)
        }
    }

    func copy(_ operation: CopyPassword, as client: Client) throws(VaultError) -> Data {
        let query = ItemQuery(
            itemClass: .genericPassword, accessGroup: operation.accessGroup, synchronizable: .any,
            identifier: operation.identifier, limit: 1, authentication: operation.options)
        guard let item = try value(query, as: client, requesting: .copy, recordedAs: .read) else { throw .itemNotFound }
        return item.value ?? Data()
    }

    private func value(
        _ query: ItemQuery, as client: Client, requesting kind: AccessRequest.Kind = .useKey,
        recordedAs event: AuditEvent.Kind = .used
    ) throws(VaultError) -> StoredItem? {
        var found: StoredItem?
        try items.copy(CopyItems(query, includingValues: true), as: client, requesting: kind, recordedAs: event) {
            (part) throws(VaultError) in
            if case .item(let item) = part { found = item }
        }
        return found
    }

    /// Has the enclave use a key. For a key that needs a person, the operation passes the gate again, which asks.
    private func perform(_ operation: UseEnclaveKey, _ session: VaultSession) throws(VaultError) -> Data {
        let keys = VaultEnclaveKeys(vault: items.vault, gate: items.gate)
        if let result = try keys.useUnguarded(operation.key, for: operation.operation) { return result }
        return try session.perform(operation)
    }

    private func use(_ item: StoredItem, _ operation: UseKey, _ session: VaultSession) throws -> Data {
        let use = KeyUse(authentication: operation.options) { (record, enclaveOperation) throws(VaultError) in
            try perform(UseEnclaveKey(record, for: enclaveOperation, options: operation.options), session)
        }
        guard let key = VaultKey.stored(in: item, use: use) else { throw VaultError.itemNotFound }
        let name = KeyAlgorithmName(rawValue: operation.algorithm)
        switch operation.purpose {
        case .sign: return try key.sign(operation.input, by: name)
        case .decrypt: return try key.decrypt(operation.input, by: name)
        case .agree: return try key.agree(with: operation.input, by: name)
        case .encrypt, .decapsulate:
            throw KeyError.unsupported(reason: "This private key does not encrypt and opens no capsules.")
        }
    }

    private func use(
        _ item: StoredItem, by algorithm: SecretKeyAlgorithm, _ operation: UseKey
    ) throws(KeyError) -> Data {
        guard item.attributes[.type] == .number(algorithm.keyType), let key = item.value else {
            throw .unsupported(reason: "The algorithm is for keys of another type.")
        }
        switch operation.purpose {
        case .sign: return try algorithm.code(of: operation.input, with: key)
        case .encrypt, .decrypt:
            return try algorithm.transform(
                operation.input, encrypts: operation.purpose == .encrypt, with: key, context: operation.context,
                binding: operation.binding)
        case .agree, .decapsulate: throw .unsupported(reason: "A secret key cannot agree on a shared secret.")
        }
    }

    private func use(_ record: EnclaveKeyRecord, _ operation: UseKey) throws(VaultError) -> UseEnclaveKey {
        let use: EnclaveKeyOperation =
            switch operation.purpose {
            case .sign: .signMessage(operation.input, context: operation.context)
            case .decapsulate: .decapsulate(operation.input)
            case .decrypt, .agree, .encrypt:
                throw .invalidRequest(reason: "keys of ML-DSA sign, and keys of ML-KEM open capsules, and nothing else")
            }
        return UseEnclaveKey(record, for: use, options: operation.options)
    }

    func store(_ operation: StoreCertificate, as client: Client) throws(VaultError) {
        guard let certificate = try? Certificate(der: operation.certificate) else {
            throw .invalidRequest(reason: "the value is no X.509 certificate")
        }
        var item = NewItem(
            itemClass: .certificate, attributes: certificate.storedAttributes, value: certificate.encoded)
        if let label = operation.label { item.attributes[.label] = .string(label) }
        try VaultSession(vault: engine, client: client).perform(AddItem(item))
    }

    static func refusal(_ error: any Error) -> VaultError {
        switch error {
        case KeyError.refused(let error): error as? VaultError ?? .inputOutput(reason: "the enclave does not answer")
        case KeyError.unsupported(let reason), KeyError.invalidInput(let reason): .invalidRequest(reason: reason)
        case KeyError.undecipherable: .invalidRequest(reason: "the ciphertext is not for this key, or was changed")
        case KeyError.memoryUnavailable: .memoryUnavailable
        case let error as VaultError: error
        default: .unsupported(reason: "the key cannot be used for this: \(error)")
        }
    }
}

extension VaultKey {
    /// Returns the shared secret with a public key of the same type in its external representation.
    fileprivate func agree(with peer: Data, by name: KeyAlgorithmName) throws -> Data {
        guard let key = try? KeyData(peer, type: keyData.type, keyClass: .public) else {
            throw VaultError.invalidRequest(reason: "the other public key is not of this key's type")
        }
        return try exchange(with: VaultKey(key), by: name) { () throws(KeyError) in
            throw .unsupported(reason: "An agreement with derivation is not offered here: derive from the secret.")
        }
    }
}
