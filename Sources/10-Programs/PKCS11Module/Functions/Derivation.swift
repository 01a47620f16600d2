import CPKCS11
import KeyClient
import PlainBytes

@_cdecl("kc_C_DeriveKey")
func deriveKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ base: CK_OBJECT_HANDLE,
    _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG,
    _ handle: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let handle, let given = mechanism?.pointee else { throw TokenError(.argumentsBad) }
        let object = try key(base, for: .derive)
        let algorithm = try Mechanism(mechanism, for: .derive, by: object.kind)
        let parameters: CK_ECDH1_DERIVE_PARAMS = try Mechanism.parameter(of: given)
        let shared = try input(parameters.sharedData, parameters.sharedDataLength)
        // CKD_NULL: the secret itself. Others derive from it by a hash function.
        let hash = derivationHashes[parameters.derivation]
        guard hash != nil || (parameters.derivation == 1 && shared.isEmpty), parameters.publicDataLength <= 1024 else {
            throw TokenError(.mechanismParameterInvalid)
        }
        var peer = try input(parameters.publicData, parameters.publicDataLength)
        // The point itself, or in the OCTET STRING of CKA_EC_POINT.
        let size = object.source.publicKey.count
        if peer.count > size, peer.first == 0x04 {
            peer = UnsafeRawBufferPointer(rebasing: peer.suffix(size))
        }
        let template = try AttributeList(attributes, count)
        var secret: [UInt8]
        if case .key(let own) = object.secret {
            secret = try own.sharedSecret(with: peer)
        } else {
            secret = try TokenModule.shared.use(object, to: .derive, by: algorithm, peer)
        }
        defer { secret.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        let length = template.number(Attribute.valueLength)
        if let hash {
            guard let length, (1...1024).contains(length) else { throw TokenError(.templateIncomplete) }
            var agreed = secret
            defer { agreed.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
            secret = try derived(from: agreed, hash, shared, count: Int(clamping: length))
        } else if let length {
            // The leftmost bytes go (section 6.3.21 of version 3.2).
            guard length > 0, length <= CK_ULONG(clamping: secret.count) else {
                throw TokenError(.templateInconsistent)
            }
            var agreed = secret
            defer { agreed.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
            secret = Array(agreed.suffix(Int(clamping: length)))
        }
        handle.pointee = try addSecret(&secret, template, session)
    }
}

/// CKD_SHA1_KDF and those of SHA-2.
private let derivationHashes: [CK_ULONG: Mechanism.Hash] = Dictionary(
    uniqueKeysWithValues: zip([2, 5, 6, 7, 8], Mechanism.hashes))

/// The key derivation function of ANSI X9.63 (SEC 1, 3.6.1).
private func derived(
    from secret: [UInt8], _ hash: Mechanism.Hash, _ shared: UnsafeRawBufferPointer, count: Int
) throws(TokenError) -> [UInt8] {
    var key: [UInt8] = []
    var counter: UInt32 = 1
    while key.count < count {
        let digest = try Digest(hash)
        try digest.add(secret)
        try digest.add(counter.bigEndianBytes)
        try digest.add(shared)
        key += try digest.finish()
        counter += 1
    }
    return Array(key.prefix(count))
}

/// Makes a secret key, of the vault or of the session, from bytes that were agreed on, unwrapped, generated or given.
func addSecret(
    _ secret: inout [UInt8], _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> CK_OBJECT_HANDLE {
    defer { secret.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
    guard template.number(Attribute.objectClass) ?? ObjectClass.secretKey == ObjectClass.secretKey,
        let family = KeyFamily(secretKeyType: template.number(Attribute.keyType) ?? KeyKind.genericSecret)
    else { throw TokenError(.templateInconsistent) }
    // The vault's keys of HMAC have a limit; a session's have the same.
    guard family == .aes ? [16, 24, 32].contains(secret.count) : (1...1024).contains(secret.count) else {
        throw TokenError(.keySizeRange)
    }
    if template.values[Attribute.token] == [1] { return try store(secretKey: secret, family, template, session) }
    return try TokenModule.shared.keep(sessionObject(secret, family, template, session))
}

private func sessionObject(
    _ secret: [UInt8], _ family: KeyFamily, _ template: AttributeList, _ session: CK_SESSION_HANDLE
) throws(TokenError) -> TokenObject {
    guard let bytes = try? secret.withUnsafeBytes({ try SecretBytes(copying: $0) }) else {
        throw TokenError(.deviceMemory)
    }
    var object = TokenObject(
        .init(kind: .secretKey, keyType: family.number, sizeInBits: 8 * secret.count), .bytes(bytes), in: session,
        template)
    // A session's secret key is for every use, unless its maker says which.
    for purpose in [Mechanism.Purpose.sign, .verify, .encrypt, .decrypt, .wrap, .unwrap, .derive] {
        object.attributes.set(purpose.attribute, template.values[purpose.attribute] ?? [1])
    }
    return object
}

// MARK: Wrapping

/// Returns the bytes of a session's secret key. Throws CKR_KEY_UNEXTRACTABLE for any other key.
private func extractable(_ handle: CK_OBJECT_HANDLE) throws(TokenError) -> SecretBytes {
    let object = try TokenModule.shared.object(handle)
    guard case .bytes(let bytes) = object.secret, object.attributes.values[Attribute.extractable] == [1] else {
        throw TokenError(.keyUnextractable)
    }
    return bytes
}

private func operation(
    _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ handle: CK_OBJECT_HANDLE, _ purpose: Mechanism.Purpose
) throws(TokenError) -> KeyOperation {
    let object = try key(handle, for: purpose)
    let mechanism = try Mechanism(mechanism, for: purpose, by: object.kind)
    return KeyOperation(object: object, mechanism: mechanism, purpose: purpose == .wrap ? .encrypt : .decrypt)
}

@_cdecl("kc_C_WrapKey")
func wrapKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ wrapping: CK_OBJECT_HANDLE,
    _ key: CK_OBJECT_HANDLE, _ wrapped: Bytes?, _ count: Count?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard mechanism != nil, let count else { throw TokenError(.argumentsBad) }
        let operation = try operation(mechanism, wrapping, .wrap)
        let secret = try extractable(key)
        let size = operation.longestResult(of: secret.count)
        guard let wrapped, count.pointee >= CK_ULONG(clamping: size) else {
            count.pointee = CK_ULONG(clamping: size)
            if wrapped != nil { throw TokenError(.bufferTooSmall) }
            return
        }
        let result = try secret.withUnsafeBytes { bytes throws(TokenError) in try operation.result(of: bytes) }
        _ = try give(result, wrapped, count)
    }
}

@_cdecl("kc_C_UnwrapKey")
func unwrapKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ unwrapping: CK_OBJECT_HANDLE,
    _ wrapped: Bytes?, _ wrappedCount: CK_ULONG, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG,
    _ key: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard mechanism != nil, let key else { throw TokenError(.argumentsBad) }
        let template = try AttributeList(attributes, count)
        let operation = try operation(mechanism, unwrapping, .unwrap)
        let bytes = try input(wrapped, wrappedCount)
        var secret: [UInt8]
        do throws(TokenError) {
            secret = try operation.result(of: bytes)
        } catch {
            throw error.code == .encryptedDataInvalid ? TokenError(.wrappedKeyInvalid) : error
        }
        key.pointee = try addSecret(&secret, template, session)
    }
}

// MARK: Encapsulation

@_cdecl("kc_C_EncapsulateKey")
func encapsulateKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ publicKey: CK_OBJECT_HANDLE,
    _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG, _ capsule: Bytes?, _ capsuleCount: Count?,
    _ made: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard mechanism != nil, let capsuleCount else { throw TokenError(.argumentsBad) }
        let object = try key(publicKey, for: .encapsulate)
        _ = try Mechanism(mechanism, for: .encapsulate, by: object.kind)
        let template = try AttributeList(attributes, count)
        // FIPS 203.
        let size: CK_ULONG = object.source.sizeInBits == 768 ? 1088 : 1568
        guard let capsule, capsuleCount.pointee >= size else {
            capsuleCount.pointee = size
            if capsule != nil { throw TokenError(.bufferTooSmall) }
            return
        }
        guard let made else { throw TokenError(.argumentsBad) }
        var secret = [UInt8](repeating: 0, count: 32)
        let bytes = try written { out in
            object.source.publicKey.withUnsafeBytes { key in
                kc_encapsulate(UInt32(clamping: object.source.sizeInBits), kc_bytes(key), out, &secret)
            }
        }
        made.pointee = try addSecret(&secret, template, session)
        _ = try give(bytes, capsule, capsuleCount)
    }
}

@_cdecl("kc_C_DecapsulateKey")
func decapsulateKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ privateKey: CK_OBJECT_HANDLE,
    _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG, _ capsule: Bytes?, _ capsuleCount: CK_ULONG,
    _ made: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard mechanism != nil, let made else { throw TokenError(.argumentsBad) }
        let object = try key(privateKey, for: .decapsulate)
        let algorithm = try Mechanism(mechanism, for: .decapsulate, by: object.kind)
        let template = try AttributeList(attributes, count)
        let bytes = try input(capsule, capsuleCount)
        var secret = try TokenModule.shared.use(object, to: .decapsulate, by: algorithm, bytes)
        made.pointee = try addSecret(&secret, template, session)
    }
}
