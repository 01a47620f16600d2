import CPKCS11
import KeyClient
import PlainBytes

extension AttributeList {
    /// Whether the object is to be the vault's, and not the session's.
    fileprivate var isOfToken: Bool { values[Attribute.token] == [1] }

    fileprivate func labelText() throws(TokenError) -> String? {
        guard let bytes = values[Attribute.label] else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw TokenError(.attributeValueInvalid) }
        return text
    }

    /// The size of the curve that the template names.
    fileprivate func curve() throws(TokenError) -> UInt32 {
        guard let name = values[Attribute.ecParameters] else { throw TokenError(.templateIncomplete) }
        guard let size = TokenObject.curves.first(where: { $0.value == name })?.key else {
            throw TokenError(.curveNotSupported)
        }
        return UInt32(clamping: size)
    }
}

/// Throws unless objects of the vault may be made in this session.
///
/// It ignores CKA_SENSITIVE and CKA_EXTRACTABLE: private keys, and all keys of the vault, are sensitive and not
/// extractable, whatever a template asks for. Refusing would break programs that always ask for the same.
private func check(_ template: AttributeList, _ session: CK_SESSION_HANDLE) throws(TokenError) {
    try TokenModule.shared.session(session) { session throws(TokenError) in
        guard session.isReadWrite || !template.isOfToken else { throw TokenError(.sessionReadOnly) }
    }
}

/// Stores a key in the vault, with the label and the CKA_ID of the template, and returns what it is found by.
private func store(
    _ key: NewClientKey, _ template: AttributeList, _ other: AttributeList? = nil
) throws(TokenError) -> [UInt8] {
    var new = key
    if let label = try template.labelText() { new.label = label } else { new.label = try other?.labelText() ?? "" }
    new.name = template.values[Attribute.id] ?? other?.values[Attribute.id] ?? []
    guard new.name.count <= 255 else { throw TokenError(.attributeValueInvalid) }
    let made = new
    return try TokenModule.shared.asking { client throws(KeyClientError) in try client.add(made) }
}

/// The handle of what was stored.
private func handle(
    _ kind: ClientKeyObject.Kind, _ hash: [UInt8], _ objects: [CK_OBJECT_HANDLE: TokenObject]
) throws(TokenError) -> CK_OBJECT_HANDLE {
    let stored = objects.first { $0.value.source.kind == kind && $0.value.source.hash == hash }
    guard let stored else { throw TokenError(.functionFailed) }
    return stored.key
}

/// Stores a secret key in the vault.
func store(
    secretKey secret: [UInt8], _ family: KeyFamily, _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> CK_OBJECT_HANDLE {
    try check(template, session)
    var key = NewClientKey(.secret, family.number, sizeInBits: UInt32(clamping: 8 * secret.count))
    key.value = secret
    let name = try store(key, template)
    return try handle(.secretKey, name, TokenModule.shared.refresh())
}

// MARK: Generation

/// The names of Ed25519: its object identifier (RFC 8410), the PrintableString `edwards25519`, and the identifier that
/// GnuPG uses.
private let edwardsCurves: [[UInt8]] = [
    [0x06, 0x03, 0x2B, 0x65, 0x70], [0x13, 0x0C] + Array("edwards25519".utf8),
    [0x06, 0x09, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01],
]

/// Throws for another curve than Ed25519. A template that names no curve means this one.
private func checkEdwardsCurve(_ template: AttributeList) throws(TokenError) {
    guard let curve = template.values[Attribute.ecParameters] else { return }
    guard edwardsCurves.contains(curve) else { throw TokenError(.curveNotSupported) }
}

/// The key pair that a mechanism makes: its family, and its size as Apple's constants have it.
private func pair(
    _ type: CK_MECHANISM_TYPE, _ template: AttributeList
) throws(TokenError) -> (family: KeyFamily, size: UInt32) {
    switch type {
    case Mechanism.rsaGeneration:
        guard let bits = template.number(Attribute.modulusBits) else { throw TokenError(.templateIncomplete) }
        // A session's keys are the program's own choice.
        let sizes: [CK_ULONG] = template.isOfToken ? [2048, 3072, 4096] : [1024, 2048, 3072, 4096]
        let exponent = template.values[Attribute.publicExponent]?.drop { $0 == 0 } ?? [1, 0, 1]
        guard sizes.contains(bits) else { throw TokenError(.keySizeRange) }
        guard exponent.elementsEqual([1, 0, 1]) else { throw TokenError(.attributeValueInvalid) }
        return (.rsa, UInt32(clamping: bits))
    case Mechanism.ecGeneration: return (.ellipticCurve, try template.curve())
    case Mechanism.edwardsGeneration:
        try checkEdwardsCurve(template)
        return (.edwards, 256)
    case Mechanism.mldsaGeneration, Mechanism.mlkemGeneration:
        let isSignature = type == Mechanism.mldsaGeneration
        switch template.number(Attribute.parameterSet) {
        case 2: return isSignature ? (.mldsa, 65) : (.mlkem, 768)
        case 3: return isSignature ? (.mldsa, 87) : (.mlkem, 1024)
        case nil: throw TokenError(.templateIncomplete)
        default: throw TokenError(.attributeValueInvalid)
        }
    default: throw TokenError(.mechanismInvalid)
    }
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
        // The vault keeps both halves or none.
        guard publicTemplate.isOfToken == privateTemplate.isOfToken else { throw TokenError(.templateInconsistent) }
        let (family, size) = try pair(type, publicTemplate)
        try check(privateTemplate, session)
        guard privateTemplate.isOfToken else {
            let made = try SessionKey.made(family, sizeInBits: size)
            publicKey.pointee = try TokenModule.shared.keep(
                TokenObject(made.publicHalf(family), nil, in: session, publicTemplate))
            privateKey.pointee = try TokenModule.shared.keep(privateObject(made, family, privateTemplate, session))
            return
        }
        var key = NewClientKey(.private, family.number, sizeInBits: size)
        // The enclave makes every kind of key that it can make.
        key.isInEnclave = family == .mldsa || family == .mlkem || (family == .ellipticCurve && size == 256)
        let hash = try store(key, privateTemplate, publicTemplate)
        let objects = try TokenModule.shared.refresh()
        publicKey.pointee = try handle(.publicKey, hash, objects)
        privateKey.pointee = try handle(.privateKey, hash, objects)
    }
}

private func privateObject(
    _ key: SessionKey, _ family: KeyFamily, _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> TokenObject {
    var source = try key.publicHalf(family)
    source.kind = .privateKey
    return TokenObject(source, .key(key), in: session, template)
}

@_cdecl("kc_C_GenerateKey")
func generateKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?,
    _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG, _ key: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let type = mechanism?.pointee.type, let key else { throw TokenError(.argumentsBad) }
        let isAES = type == Mechanism.aesGeneration
        var template = try AttributeList(attributes, count)
        guard isAES || type == Mechanism.secretGeneration else { throw TokenError(.mechanismInvalid) }
        guard let length = template.number(Attribute.valueLength) else { throw TokenError(.templateIncomplete) }
        guard length <= 1024 else { throw TokenError(.keySizeRange) }
        let kind = template.number(Attribute.keyType) ?? (isAES ? KeyKind.aes : KeyKind.genericSecret)
        guard (kind == KeyKind.aes) == isAES else { throw TokenError(.templateInconsistent) }
        template.set(Attribute.keyType, kind)
        var secret = [UInt8](repeating: 0, count: Int(clamping: length))
        let code = secret.withUnsafeMutableBufferPointer { room in
            answering { () throws(TokenError) in try fillWithRandom(room) }
        }
        guard code == .ok else { throw TokenError(code) }
        key.pointee = try addSecret(&secret, template, session)
    }
}

// MARK: Objects

@_cdecl("kc_C_CreateObject")
func createObject(
    _ session: CK_SESSION_HANDLE, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG,
    _ object: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let object, attributes != nil else { throw TokenError(.argumentsBad) }
        let template = try AttributeList(attributes, count)
        switch template.number(Attribute.objectClass) {
        case ObjectClass.certificate: object.pointee = try addCertificate(template, session)
        case ObjectClass.publicKey: object.pointee = try addPublicKey(template, session)
        case ObjectClass.privateKey: object.pointee = try addPrivateKey(template, session)
        case ObjectClass.secretKey:
            guard var secret = template.values[Attribute.value] else { throw TokenError(.templateIncomplete) }
            guard template.number(Attribute.keyType) != nil else { throw TokenError(.templateIncomplete) }
            object.pointee = try addSecret(&secret, template, session)
        case ObjectClass.data where !template.isOfToken:
            let source = ClientKeyObject(kind: .password, keyType: 0, sizeInBits: 0)
            object.pointee = try TokenModule.shared.keep(TokenObject(source, nil, in: session, template))
        case nil: throw TokenError(.templateIncomplete)
        default: throw TokenError(.templateInconsistent)
        }
    }
}

private func addCertificate(
    _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> CK_OBJECT_HANDLE {
    guard let value = template.values[Attribute.value] else { throw TokenError(.templateIncomplete) }
    guard template.isOfToken else {
        var source = ClientKeyObject(kind: .certificate, keyType: 0, sizeInBits: 0)
        source.certificate = value
        return try TokenModule.shared.keep(TokenObject(source, nil, in: session, template))
    }
    try check(template, session)
    // The CKA_ID of a certificate links it to its key, so the template does not choose it.
    let name = try template.labelText()
    try TokenModule.shared.asking { client throws(KeyClientError) in
        try client.store(certificate: value, label: name)
    }
    let stored = try TokenModule.shared.refresh().first { $0.value.source.certificate == value }
    guard let stored else { throw TokenError(.functionFailed) }
    return stored.key
}

/// The family of a key that a template has, and its size.
private func pair(_ template: AttributeList) throws(TokenError) -> (family: KeyFamily, size: UInt32) {
    switch template.number(Attribute.keyType) {
    case KeyKind.rsa: return (.rsa, UInt32(clamping: 8 * (template.values[Attribute.modulus]?.count ?? 0)))
    case KeyKind.ec: return (.ellipticCurve, try template.curve())
    case KeyKind.edwards:
        try checkEdwardsCurve(template)
        return (.edwards, 256)
    case nil: throw TokenError(.templateIncomplete)
    default: throw TokenError(.attributeValueInvalid)
    }
}

private func addPublicKey(
    _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> CK_OBJECT_HANDLE {
    let (family, size) = try pair(template)
    var numbers: [[UInt8]] = []
    let info: [UInt8]
    switch family {
    case .rsa:
        guard let modulus = template.values[Attribute.modulus],
            let exponent = template.values[Attribute.publicExponent]
        else { throw TokenError(.templateIncomplete) }
        numbers = [Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 })]
        info = try encoded { out in
            numbers[0].withUnsafeBytes { modulus in
                numbers[1].withUnsafeBytes { kc_rsa_info(kc_bytes(modulus), kc_bytes($0), out) }
            }
        }
    case .ellipticCurve:
        let point = try point(template, Int(size + 7) / 8 * 2 + 1)
        info = try encoded { out in point.withUnsafeBytes { kc_curve_info(size, kc_bytes($0), out) } }
    case .edwards:
        // SubjectPublicKeyInfo of RFC 8410: all but the key is the same for all.
        info = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00] + (try point(template, 32))
    case .mldsa, .mlkem, .aes, .genericSecret: throw TokenError(.templateInconsistent)
    }
    let source = try ClientKeyObject(family, keyInfo: info, numbers: numbers)
    guard template.isOfToken else {
        return try TokenModule.shared.keep(TokenObject(source, nil, in: session, template))
    }
    try check(template, session)
    // The public half of a pair is there already, if the private half came first.
    if let known = try TokenModule.shared.refresh().first(where: {
        $0.value.source.kind == .publicKey && $0.value.source.keyInfo == info
    }) {
        return known.key
    }
    var key = NewClientKey(.public, family.number, sizeInBits: UInt32(clamping: source.sizeInBits))
    key.value = family == .rsa ? try rsaPublicKey(info) : source.publicKey
    return try handle(.publicKey, store(key, template), TokenModule.shared.refresh())
}

/// Runs a function of CPKCS11 on values of a template. If it fails, they are no key: CKR_ATTRIBUTE_VALUE_INVALID.
private func encoded(_ write: (UnsafeMutablePointer<UInt8>) -> Int) throws(TokenError) -> [UInt8] {
    do throws(TokenError) { return try written(write) } catch { throw TokenError(.attributeValueInvalid) }
}

/// Returns the point in CKA_EC_POINT, where programs put it with or without the OCTET STRING around it.
private func point(_ template: AttributeList, _ size: Int) throws(TokenError) -> [UInt8] {
    guard let given = template.values[Attribute.ecPoint] else { throw TokenError(.templateIncomplete) }
    guard given.count == size || (given.count > size && given.first == 0x04) else {
        throw TokenError(.attributeValueInvalid)
    }
    return Array(given.suffix(size))
}

/// Returns the RSAPublicKey (PKCS #1) in a SubjectPublicKeyInfo, which ends with it. With a modulus of 2,048 bits or
/// more, 24 bytes come before it. The vault refuses what this cuts out of a shorter one.
private func rsaPublicKey(_ info: [UInt8]) throws(TokenError) -> [UInt8] {
    guard info.count >= 294 else { throw TokenError(.attributeValueInvalid) }
    return Array(info.dropFirst(24))
}

private func addPrivateKey(
    _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> CK_OBJECT_HANDLE {
    let (family, size) = try pair(template)
    try check(template, session)
    let key = try SessionKey(family, sizeInBits: size, template)
    guard template.isOfToken else {
        return try TokenModule.shared.keep(privateObject(key, family, template, session))
    }
    var new = NewClientKey(.private, family.number, sizeInBits: size)
    new.value = try key.secret()
    defer { new.value.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
    return try handle(.privateKey, store(new, template), TokenModule.shared.refresh())
}
