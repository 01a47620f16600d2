import CPKCS11
import KeyClient
import PlainBytes

/// A key or a certificate as an object of the token.
struct TokenObject: Sendable {
    let source: ClientKeyObject
    let attributes: AttributeList

    /// The curves of SEC 2 by their size, as object identifiers in DER (RFC 5480).
    static let curves: [Int: [UInt8]] = [
        256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07],
        384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22],
        521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23],
    ]
    /// Ed25519 (RFC 8410).
    private static let edwardsCurve: [UInt8] = [0x06, 0x03, 0x2B, 0x65, 0x70]

    var kind: KeyFamily? { KeyFamily(source.keyType) }

    /// What stays the same as long as the object is there.
    var name: TokenObjectName {
        // Halves of keys are known by their hash: the lock hides their items.
        TokenObjectName(
            group: source.accessGroup, bytes: source.kind == .certificate ? source.identifier : source.hash,
            kind: source.kind)
    }

    init(_ source: ClientKeyObject) {
        self.source = source
        var list = AttributeList()
        list.set(Attribute.token, true)
        list.set(Attribute.modifiable, false)
        list.set(Attribute.copyable, false)
        list.set(Attribute.destroyable, true)
        list.set(Attribute.label, source.label)
        list.set(Attribute.id, source.hash)
        list.set(Attribute.uniqueID, Self.uniqueID(source))
        list.set(Attribute.publicKeyInfo, source.keyInfo)
        // Empty rather than missing: OpenSC warns of what is missing.
        list.set(Attribute.startDate, [])
        list.set(Attribute.endDate, [])
        switch source.kind {
        case .certificate: Self.add(certificate: source, to: &list)
        case .publicKey, .privateKey: Self.add(key: source, to: &list)
        }
        attributes = list
    }

    private static func uniqueID(_ source: ClientKeyObject) -> String {
        let bytes = source.kind == .certificate ? source.identifier : source.hash
        return "\(bytes.hexadecimal())-\(source.kind.rawValue)-\(source.accessGroup)"
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
        case nil: break
        }
        let isRSA = family == .rsa
        if isPrivate {
            list.set(Attribute.sensitive, true)
            list.set(Attribute.alwaysSensitive, key.isInEnclave)
            list.set(Attribute.extractable, false)
            list.set(Attribute.neverExtractable, key.isInEnclave)
            list.set(Attribute.sign, true)
            list.set(Attribute.signRecover, false)
            list.set(Attribute.decrypt, isRSA)
            list.set(Attribute.unwrap, false)
            // A person is asked by the vault, and not for a PIN.
            list.set(Attribute.alwaysAuthenticate, false)
            list.set(Attribute.wrapWithTrusted, false)
        } else {
            list.set(Attribute.verify, !key.keyInfo.isEmpty)
            list.set(Attribute.verifyRecover, false)
            list.set(Attribute.encrypt, isRSA)
            list.set(Attribute.wrap, false)
            list.set(Attribute.trusted, false)
        }
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

/// The families of keys, by Apple's numbers.
enum KeyFamily {
    case rsa, ellipticCurve, edwards

    init?(_ number: Int64) {
        switch number {
        case 42: self = .rsa
        case 73: self = .ellipticCurve
        case 105: self = .edwards
        default: return nil
        }
    }

    /// CKK_…
    var keyType: CK_ULONG {
        switch self {
        case .rsa: KeyKind.rsa
        case .ellipticCurve: KeyKind.ec
        case .edwards: KeyKind.edwards
        }
    }
}
