import CPKCS11
import KeyClient
import PlainBytes

/// A key, a certificate or a password as an object: of the vault, or of a session.
struct TokenObject: Sendable {
    let source: ClientKeyObject
    var attributes: AttributeList
    /// The session that ends it; nil for one of the vault.
    var session: CK_SESSION_HANDLE?
    /// The secret part of a session's key; nil for an object of the vault, and for a public one.
    var secret: Secret?

    enum Secret: Sendable {
        case key(SessionKey)
        case bytes(SecretBytes)
    }

    /// The curves of SEC 2 by their size, as object identifiers in DER (RFC 5480).
    static let curves: [Int: [UInt8]] = [
        256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07],
        384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22],
        521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23],
    ]
    /// Ed25519 (RFC 8410).
    private static let edwardsCurve: [UInt8] = [0x06, 0x03, 0x2B, 0x65, 0x70]

    var kind: KeyFamily? { source.kind == .certificate || source.kind == .password ? nil : KeyFamily(source.keyType) }

    /// What stays the same as long as the object is there.
    var name: TokenObjectName {
        TokenObjectName(group: source.accessGroup, bytes: Self.name(source), kind: source.kind)
    }

    private static func name(_ source: ClientKeyObject) -> [UInt8] {
        switch source.kind {
        case .certificate, .password: source.identifier
        // Halves of keys are known by their hash: the lock hides their items.
        case .publicKey, .privateKey, .secretKey: source.hash
        }
    }

    init(_ source: ClientKeyObject) {
        self.source = source
        var list = AttributeList()
        list.set(Attribute.token, true)
        list.set(Attribute.modifiable, false)
        list.set(Attribute.copyable, false)
        list.set(Attribute.destroyable, true)
        list.set(Attribute.label, source.label)
        list.set(Attribute.id, source.name.isEmpty ? source.hash : source.name)
        list.set(Attribute.uniqueID, Self.uniqueID(source))
        list.set(Attribute.publicKeyInfo, source.keyInfo)
        // Empty rather than missing: OpenSC warns of what is missing.
        list.set(Attribute.startDate, [])
        list.set(Attribute.endDate, [])
        switch source.kind {
        case .certificate: Self.add(certificate: source, to: &list)
        case .publicKey, .privateKey: Self.add(key: source, to: &list)
        case .secretKey: Self.add(secretKey: source, to: &list)
        case .password: list = Self.list(password: source)
        }
        attributes = list
    }

    /// An object of a session, with the attributes of its maker's template.
    init(_ source: ClientKeyObject, _ secret: Secret?, in session: CK_SESSION_HANDLE, _ template: AttributeList) {
        self.init(source)
        (self.session, self.secret) = (session, secret)
        attributes.set(Attribute.token, false)
        attributes.set(Attribute.uniqueID, [])
        attributes.set(Attribute.id, [])
        switch source.kind {
        case .certificate: attributes.set(Attribute.value, source.certificate)
        case .password: attributes.set(Attribute.value, template.values[Attribute.value] ?? [])
        case .publicKey, .privateKey, .secretKey: break
        }
        if case .bytes(let bytes) = secret {
            let isReadable =
                template.values[Attribute.sensitive] != [1] && template.values[Attribute.extractable] != [0]
            attributes.set(Attribute.sensitive, !isReadable && template.values[Attribute.sensitive] != [0])
            attributes.set(Attribute.extractable, template.values[Attribute.extractable] != [0])
            if isReadable { attributes.set(Attribute.value, bytes.withUnsafeBytes { Array($0) }) }
        }
        for (type, value) in template.values where !Self.own.contains(type) { attributes.set(type, value) }
        if let kind = template.number(Attribute.keyType), source.kind == .secretKey {
            attributes.set(Attribute.keyType, kind)
        }
    }

    /// The attributes that follow from the object itself: a template does not change them.
    private static let own = Set<CK_ATTRIBUTE_TYPE>([
        Attribute.objectClass, Attribute.token, Attribute.uniqueID, Attribute.value, Attribute.keyType,
        Attribute.modulus, Attribute.modulusBits, Attribute.publicExponent, Attribute.ecParameters, Attribute.ecPoint,
        Attribute.valueLength, Attribute.publicKeyInfo, Attribute.parameterSet, Attribute.privateExponent,
        Attribute.seed, Attribute.sensitive, Attribute.extractable,
    ]).union(Attribute.primes)

    private static func uniqueID(_ source: ClientKeyObject) -> String {
        "\(name(source).hexadecimal())-\(source.kind.rawValue)-\(source.accessGroup)"
    }

    private static func add(certificate: ClientKeyObject, to list: inout AttributeList) {
        list.set(Attribute.objectClass, ObjectClass.certificate)
        list.set(Attribute.isPrivate, false)
        // X.509, of no category.
        list.set(Attribute.certificateType, 0)
        list.set(Attribute.certificateCategory, 0)
        list.set(Attribute.javaMIDP, 0)
        list.set(Attribute.trusted, false)
        list.set(Attribute.value, certificate.certificate)
        for type in [Attribute.url, Attribute.subjectKeyHash, Attribute.issuerKeyHash, Attribute.checkValue] {
            list.set(type, [])
        }
        guard certificate.parts.count == 3 else { return }
        list.set(Attribute.subject, certificate.parts[0])
        list.set(Attribute.issuer, certificate.parts[1])
        list.set(Attribute.serialNumber, certificate.parts[2])
    }

    private static func add(key: ClientKeyObject, to list: inout AttributeList) {
        let family = KeyFamily(key.keyType)
        let isPrivate = key.kind == .privateKey
        list.set(Attribute.objectClass, isPrivate ? ObjectClass.privateKey : ObjectClass.publicKey)
        list.set(Attribute.isPrivate, isPrivate)
        list.set(Attribute.keyType, family?.keyType ?? unavailable)
        list.set(Attribute.subject, [])
        list.set(Attribute.derive, family == .ellipticCurve && isPrivate)
        list.set(Attribute.local, key.isInEnclave)
        list.set(Attribute.keyGenerationMechanism, unavailable)
        switch family {
        case .rsa:
            if key.parts.count == 2 {
                list.set(Attribute.modulus, key.parts[0])
                list.set(Attribute.publicExponent, key.parts[1])
            }
            if !isPrivate { list.set(Attribute.modulusBits, CK_ULONG(clamping: key.sizeInBits)) }
        case .ellipticCurve: curve(curves[key.sizeInBits] ?? [], key.publicKey, &list)
        case .edwards: curve(edwardsCurve, key.publicKey, &list)
        case .mldsa, .mlkem:
            if let set = parameterSets[key.sizeInBits] { list.set(Attribute.parameterSet, set) }
            if !isPrivate { list.set(Attribute.value, key.publicKey) }
            list.set(isPrivate ? Attribute.decapsulate : Attribute.encapsulate, family == .mlkem)
        case .aes, .genericSecret, nil: break
        }
        let isRSA = family == .rsa
        if isPrivate {
            list.set(Attribute.sensitive, true)
            list.set(Attribute.alwaysSensitive, key.isInEnclave)
            list.set(Attribute.extractable, false)
            list.set(Attribute.neverExtractable, key.isInEnclave)
            list.set(Attribute.sign, family != .mlkem)
            list.set(Attribute.signRecover, false)
            list.set(Attribute.decrypt, isRSA)
            list.set(Attribute.unwrap, isRSA)
            // The vault asks the person; with true, programs would ask for a PIN before each use.
            list.set(Attribute.alwaysAuthenticate, false)
            list.set(Attribute.wrapWithTrusted, false)
        } else {
            list.set(Attribute.verify, family != .mlkem && !key.keyInfo.isEmpty)
            list.set(Attribute.verifyRecover, false)
            list.set(Attribute.encrypt, isRSA)
            list.set(Attribute.wrap, isRSA)
            list.set(Attribute.trusted, false)
        }
    }

    /// CKP_…, by the size that Apple's constants have.
    static let parameterSets: [Int: CK_ULONG] = [65: 2, 87: 3, 768: 2, 1024: 3]

    private static func add(secretKey key: ClientKeyObject, to list: inout AttributeList) {
        let isAES = KeyFamily(key.keyType) == .aes
        list.set(Attribute.objectClass, ObjectClass.secretKey)
        list.set(Attribute.isPrivate, true)
        list.set(Attribute.keyType, isAES ? KeyKind.aes : KeyKind.genericSecret)
        list.set(Attribute.valueLength, CK_ULONG(clamping: key.sizeInBits / 8))
        list.set(Attribute.keyGenerationMechanism, unavailable)
        for type in [Attribute.encrypt, Attribute.decrypt, Attribute.wrap, Attribute.unwrap] { list.set(type, isAES) }
        for type in [Attribute.sign, Attribute.verify] { list.set(type, !isAES) }
        list.set(Attribute.sensitive, true)
        for type in [
            Attribute.extractable, Attribute.alwaysSensitive, Attribute.neverExtractable, Attribute.derive,
            Attribute.local, Attribute.trusted, Attribute.wrapWithTrusted, Attribute.alwaysAuthenticate,
        ] { list.set(type, false) }
        list.set(Attribute.checkValue, [])
    }

    /// A password is data, whose value is asked for when it is read.
    private static func list(password: ClientKeyObject) -> AttributeList {
        var list = AttributeList()
        list.set(Attribute.objectClass, ObjectClass.data)
        list.set(Attribute.token, true)
        list.set(Attribute.isPrivate, true)
        list.set(Attribute.modifiable, false)
        list.set(Attribute.copyable, false)
        list.set(Attribute.destroyable, true)
        list.set(Attribute.label, password.label)
        list.set(Attribute.uniqueID, uniqueID(password))
        list.set(Attribute.application, password.parts.first ?? [])
        list.set(Attribute.objectID, [])
        return list
    }

    private static func curve(_ parameters: [UInt8], _ point: [UInt8], _ list: inout AttributeList) {
        list.set(Attribute.ecParameters, parameters)
        // An OCTET STRING in DER, of at most 133 bytes.
        let size = UInt8(clamping: point.count)
        let head: [UInt8] = point.count < 128 ? [0x04, size] : [0x04, 0x81, size]
        if !point.isEmpty { list.set(Attribute.ecPoint, head + point) }
    }
}

/// What an object is known by, as long as the process runs.
struct TokenObjectName: Sendable, Hashable {
    let group: String
    let bytes: [UInt8]
    let kind: ClientKeyObject.Kind
}
