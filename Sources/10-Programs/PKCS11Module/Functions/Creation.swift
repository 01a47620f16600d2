import CPKCS11
import KeyClient

/// Throws unless the objects of a template are the token's, may be made in this session, and are as keys of the
/// keychain are.
private func check(_ template: AttributeList, _ session: CK_SESSION_HANDLE) throws(TokenError) {
    guard template.values[Attribute.token] == [1] else {
        // Session objects are secrets that were agreed on.
        throw TokenError(.templateInconsistent)
    }
    try TokenModule.shared.session(session) { session throws(TokenError) in
        guard session.isReadWrite else { throw TokenError(.sessionReadOnly) }
    }
    // The identifier is the hash of the public key. An empty one names nothing: python-pkcs11 always gives one.
    guard template.values[Attribute.id] ?? [] == [] else { throw TokenError(.attributeReadOnly) }
    guard template.values[Attribute.extractable] != [1], template.values[Attribute.sensitive] != [0] else {
        throw TokenError(.attributeValueInvalid)
    }
}

/// The names of Ed25519: its object identifier (RFC 8410), the PrintableString `edwards25519`, and the identifier that
/// GnuPG uses.
private let edwardsCurves: [[UInt8]] = [
    [0x06, 0x03, 0x2B, 0x65, 0x70], [0x13, 0x0C] + Array("edwards25519".utf8),
    [0x06, 0x09, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01],
]

private func label(_ template: AttributeList) throws(TokenError) -> String? {
    guard let bytes = template.values[Attribute.label] else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw TokenError(.attributeValueInvalid) }
    return text
}

@_cdecl("kc_C_GenerateKeyPair")
func generateKeyPair(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?,
    _ publicAttributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ publicCount: CK_ULONG,
    _ privateAttributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ privateCount: CK_ULONG,
    _ publicKey: UnsafeMutablePointer<CK_OBJECT_HANDLE>?, _ privateKey: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let type = mechanism?.pointee.type, let publicKey, let privateKey else { throw TokenError(.argumentsBad) }
        let publicTemplate = try AttributeList(publicAttributes, publicCount)
        let privateTemplate = try AttributeList(privateAttributes, privateCount)
        let kind: (type: Int64, size: UInt32)
        switch type {
        case Mechanism.rsaGeneration:
            guard let bits = publicTemplate.number(Attribute.modulusBits) else { throw TokenError(.templateIncomplete) }
            guard [2048, 3072, 4096].contains(bits) else { throw TokenError(.attributeValueInvalid) }
            kind = (42, UInt32(clamping: bits))
        case Mechanism.ecGeneration:
            guard let curve = publicTemplate.values[Attribute.ecParameters] else {
                throw TokenError(.templateIncomplete)
            }
            guard let size = TokenObject.curves.first(where: { $0.value == curve })?.key else {
                throw TokenError(.curveNotSupported)
            }
            kind = (73, UInt32(clamping: size))
        case Mechanism.edwardsGeneration:
            guard edwardsCurves.contains(publicTemplate.values[Attribute.ecParameters] ?? edwardsCurves[0]) else {
                throw TokenError(.curveNotSupported)
            }
            kind = (105, 256)
        default: throw TokenError(.mechanismInvalid)
        }
        try check(privateTemplate, session)
        guard publicTemplate.values[Attribute.token] == [1], publicTemplate.values[Attribute.id] ?? [] == [] else {
            throw TokenError(.templateInconsistent)
        }
        var name = try label(privateTemplate)
        if name == nil { name = try label(publicTemplate) }
        let text = name ?? ""
        // The rule for the enclave: it keeps what it can keep, which are keys on P-256.
        let isInEnclave = kind == (73, 256)
        let hash = try TokenModule.shared.asking { client throws(KeyClientError) in
            try client.makePair(type: kind.type, sizeInBits: kind.size, inEnclave: isInEnclave, label: text)
        }
        let made = try TokenModule.shared.refresh().filter { $0.value.source.hash == hash }
        guard let publicHalf = made.first(where: { $0.value.source.kind == .publicKey }),
            let privateHalf = made.first(where: { $0.value.source.kind == .privateKey })
        else { throw TokenError(.functionFailed) }
        (publicKey.pointee, privateKey.pointee) = (publicHalf.key, privateHalf.key)
    }
}

@_cdecl("kc_C_CreateObject")
func createObject(
    _ session: CK_SESSION_HANDLE, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG,
    _ object: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let object, attributes != nil else { throw TokenError(.argumentsBad) }
        let template = try AttributeList(attributes, count)
        guard let objectClass = template.number(Attribute.objectClass) else { throw TokenError(.templateIncomplete) }
        // Private keys come in through `keychain import`, which says how they are protected.
        guard objectClass == ObjectClass.certificate else { throw TokenError(.templateInconsistent) }
        var checked = template
        // Programs give certificates the identifier of their key, which is what they have here.
        checked.remove(Attribute.id)
        try check(checked, session)
        guard let value = template.values[Attribute.value] else { throw TokenError(.templateIncomplete) }
        let name = try label(template)
        try TokenModule.shared.asking { client throws(KeyClientError) in
            try client.store(certificate: value, label: name)
        }
        let stored = try TokenModule.shared.refresh().first { $0.value.source.certificate == value }
        guard let stored else { throw TokenError(.functionFailed) }
        object.pointee = stored.key
    }
}
