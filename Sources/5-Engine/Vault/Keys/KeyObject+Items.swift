import Bytes
import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel
import VaultInterface
import VaultKeys

extension KeyPair {
    /// The halves as objects, the private one last.
    func objects(_ session: VaultSession) -> [KeyObject] {
        let publicKey = publicKey ?? derivedPublicKey(session)
        let kind = postQuantum
        let bytes =
            kind == nil ? publicKey?.keyData.publicRepresentation : publicHalf?.value ?? enclaveRecord?.publicKey
        let type = publicKey.map { Int64($0.keyData.type.rawValue) } ?? number(.type)
        let size = publicKey.map { UInt32(clamping: $0.keyData.sizeInBits) } ?? UInt32(clamping: number("bsiz"))
        func object(_ half: KeyObject.Kind, _ item: StoredItem, _ traits: KeyObject.Traits = []) -> KeyObject {
            var object = KeyObject(
                kind: half, traits: traits, identifier: item.identifier, accessGroup: group, label: text(of: item),
                hash: hash, keyType: type, sizeInBits: size, publicKey: bytes ?? Data())
            object.name = tokenName ?? Data()
            object.keyInfo =
                (try? kind.map { try $0.subjectPublicKeyInfo(bytes ?? Data()) }
                    ?? publicKey?.keyData.subjectPublicKeyInfo()) ?? Data()
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
            if publicHalf == nil, bytes != nil { objects.append(object(.publicKey, item)) }
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

    private func text(of item: StoredItem) -> String { KeyObject.text(item.attributes[.label]) }
}

extension KeyObject {
    fileprivate static func text(_ value: AttributeValue?) -> String {
        switch value {
        case .string(let text): text
        case .data(let bytes): String(decoding: bytes, as: UTF8.self)
        default: ""
        }
    }

    /// Nil for an item that is no key of AES or HMAC.
    init?(secret item: StoredItem) {
        guard case .number(let type) = item.attributes[.type], case .number(let size) = item.attributes["bsiz"],
            case .data(let hash) = item.attributes[.applicationLabel],
            SecretKeyAlgorithm.isValid(keyType: type, byteCount: Int(clamping: size) / 8)
        else { return nil }
        self.init(
            kind: .secretKey, traits: item.accessControl.isConstrained ? .needsPerson : [], identifier: item.identifier,
            accessGroup: item.accessGroup, label: Self.text(item.attributes[.label]), hash: hash, keyType: type,
            sizeInBits: UInt32(clamping: size), publicKey: Data())
        name = item.tokenName ?? Data()
    }

    init(password item: StoredItem) {
        let service = Self.text(item.attributes[.service])
        let account = Self.text(item.attributes[.account])
        let label = Self.text(item.attributes[.label])
        self.init(
            kind: .password, traits: item.accessControl.isConstrained ? .needsPerson : [], identifier: item.identifier,
            accessGroup: item.accessGroup, label: label.isEmpty ? service : label, hash: Data(), keyType: 0,
            sizeInBits: 0, publicKey: Data())
        parts = [Data(service.utf8), Data(account.utf8)]
    }

    /// Nil for an item that holds no certificate.
    init?(certificate item: StoredItem) {
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
