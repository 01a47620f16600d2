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
        for pair in try KeyInventory(of: session).pairs {
            for object in pair.objects(session) where operation.label.map({ $0 == object.label }) ?? true {
                try send(object)
            }
        }
        var query = ItemQuery(
            itemClass: .certificate, synchronizable: .any, authentication: AuthenticationOptions(interaction: .skip))
        query.reports = [.damage, .locked]
        do throws(VaultError) {
            for item in try session.perform(CopyItems(query, includingValues: true)) {
                guard let object = KeyObject(certificate: item), operation.label.map({ $0 == object.label }) ?? true
                else { continue }
                try send(object)
            }
        } catch {
            guard error == .itemNotFound else { throw error }
        }
    }

    func use(_ operation: UseKey, as client: Client) throws(VaultError) -> Data {
        let query = ItemQuery(
            itemClass: .key,
            attributes: [
                .keyClass: .number(Int64(KeyData.KeyClass.private.rawValue)), .applicationLabel: .data(operation.hash),
            ], accessGroup: operation.accessGroup, synchronizable: .any, limit: 1, authentication: operation.options)
        var found: StoredItem?
        try items.copy(CopyItems(query, includingValues: true), as: client, recordedAs: .used) {
            (part) throws(VaultError) in
            if case .item(let item) = part { found = item }
        }
        guard let found, let key = VaultKey.stored(in: found, use: KeyUse(authentication: operation.options)) else {
            throw .itemNotFound
        }
        let name = KeyAlgorithmName(rawValue: operation.algorithm)
        do {
            return try VaultSession(vault: engine, client: client).asCurrent {
                switch operation.purpose {
                case .sign: try key.sign(operation.input, by: name)
                case .decrypt: try key.decrypt(operation.input, by: name)
                case .agree: try key.agree(with: operation.input, by: name)
                }
            }
        } catch {
            throw Self.refusal(error)
        }
    }

    func make(_ operation: MakeKeyPair, as client: Client) throws(VaultError) -> Data {
        let session = VaultSession(vault: engine, client: client)
        let key = try made(operation, session)
        // Both halves as `keychain key create` stores them: the public one can be read at any time.
        let halves = [
            (key, operation.isInEnclave ? ProtectionClass.whenUnlockedThisDeviceOnly : .whenUnlocked),
            (key.publicKey, operation.isInEnclave ? .alwaysThisDeviceOnly : .always),
        ]
        for (half, protection) in halves {
            var item = NewItem(
                itemClass: .key, attributes: half.storedAttributes,
                accessControl: AccessControl(protection: protection), value: half.storedValue)
            item.attributes[.label] = .string(operation.label)
            try session.perform(AddItem(item))
        }
        return key.keyData.applicationLabel
    }

    private func made(_ operation: MakeKeyPair, _ session: VaultSession) throws(VaultError) -> VaultKey {
        if operation.isInEnclave {
            guard operation.keyType == KeyData.KeyType.ellipticCurve.rawValue, operation.sizeInBits == 256 else {
                throw .invalidRequest(reason: "an enclave keeps keys on the curve P-256 alone")
            }
            let control = AccessControl(protection: .whenUnlockedThisDeviceOnly)
            let record = try session.perform(MakeEnclaveKey(.p256, accessControl: control, options: .init()))
            guard let key = VaultKey(record, use: KeyUse()) else {
                throw .inputOutput(reason: "the enclave made no key that can be used")
            }
            return key
        }
        guard let type = KeyData.KeyType(rawValue: Int(clamping: operation.keyType)) else {
            throw .invalidRequest(reason: "keys of the type \(operation.keyType) are not made")
        }
        do {
            return VaultKey(try SoftwareKeys.randomKey(type: type, sizeInBits: Int(operation.sizeInBits)))
        } catch {
            throw Self.refusal(error)
        }
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

    private static func refusal(_ error: any Error) -> VaultError {
        switch error {
        case KeyError.refused(let error): error as? VaultError ?? .inputOutput(reason: "the enclave does not answer")
        case KeyError.unsupported(let reason), KeyError.invalidInput(let reason): .invalidRequest(reason: reason)
        case KeyError.undecipherable: .invalidRequest(reason: "what is to be decrypted was not encrypted for this key")
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
            throw VaultError.invalidRequest(reason: "the other public key is none of this type")
        }
        return try exchange(with: VaultKey(key), by: name) { () throws(KeyError) in
            throw .unsupported(reason: "An agreement that derives needs parameters.")
        }
    }
}

extension KeyPair {
    /// The halves as objects, the private one last.
    fileprivate func objects(_ session: VaultSession) -> [KeyObject] {
        let publicKey = publicKey ?? derivedPublicKey(session)
        let type = publicKey.map { Int64($0.keyData.type.rawValue) } ?? number(.type)
        let size = publicKey.map { UInt32(clamping: $0.keyData.sizeInBits) } ?? UInt32(clamping: number("bsiz"))
        func object(_ kind: KeyObject.Kind, _ item: StoredItem, _ traits: KeyObject.Traits = []) -> KeyObject {
            var object = KeyObject(
                kind: kind, traits: traits, identifier: item.identifier, accessGroup: group, label: text(of: item),
                hash: hash, keyType: type, sizeInBits: size,
                publicKey: publicKey?.keyData.publicRepresentation ?? Data())
            object.keyInfo = (try? publicKey?.keyData.subjectPublicKeyInfo()) ?? Data()
            object.parts = publicKey?.keyData.publicIntegers ?? []
            return object
        }
        var objects: [KeyObject] = []
        if let item = publicHalf { objects.append(object(.publicKey, item)) }
        switch privateHalf {
        case .absent: break
        case .found(let item):
            var traits: KeyObject.Traits = isInEnclave ? .isInEnclave : []
            if accessControl?.isConstrained == true { traits.insert(.needsPerson) }
            if publicHalf == nil, publicKey != nil { objects.append(object(.publicKey, item)) }
            objects.append(object(.privateKey, item, traits))
        case .withheld:
            if let publicHalf { objects.append(object(.privateKey, publicHalf, [.needsPerson, .isLocked])) }
        case .locked:
            if let publicHalf { objects.append(object(.privateKey, publicHalf, .isLocked)) }
        }
        return objects
    }

    /// The public key of a private half that is stored alone, if that can be opened without a person.
    private func derivedPublicKey(_ session: VaultSession) -> VaultKey? {
        guard case .found(let item) = privateHalf, !isInEnclave, accessControl?.isConstrained == false else {
            return nil
        }
        let query = ItemQuery(
            itemClass: .key, synchronizable: .any, identifier: item.identifier,
            authentication: AuthenticationOptions(interaction: .skip))
        let found = try? session.perform(CopyItems(query, includingValues: true)).first
        return found.flatMap { VaultKey.stored(in: $0)?.publicKey }
    }

    private func number(_ name: AttributeName) -> Int64 {
        guard case .number(let number) = described?.attributes[name] else { return 0 }
        return number
    }

    private func text(of item: StoredItem) -> String {
        switch item.attributes[.label] {
        case .string(let text): text
        case .data(let bytes): String(decoding: bytes, as: UTF8.self)
        default: ""
        }
    }
}

extension KeyObject {
    /// Nil for an item that holds no certificate.
    fileprivate init?(certificate item: StoredItem) {
        guard let der = item.value, let certificate = try? Certificate(der: der) else { return nil }
        var label = certificate.subjectSummary ?? ""
        if case .string(let text) = item.attributes[.label], !text.isEmpty { label = text }
        let key = certificate.publicKey.key
        self.init(
            kind: .certificate, identifier: item.identifier, accessGroup: item.accessGroup, label: label,
            hash: certificate.publicKeyHash, keyType: key.map { Int64($0.type.rawValue) } ?? 0,
            sizeInBits: UInt32(clamping: key?.sizeInBits ?? 0), publicKey: key?.publicRepresentation ?? Data(),
            certificate: der)
        keyInfo = (try? key?.subjectPublicKeyInfo()) ?? Data()
        let serialNumber = certificate.serialNumber
        // An INTEGER of at most 127 bytes: RFC 5280 allows 20.
        let head = Data([0x02, UInt8(clamping: serialNumber.count)])
        parts = [certificate.subject.encoded, certificate.issuer.encoded, head + serialNumber]
    }
}
