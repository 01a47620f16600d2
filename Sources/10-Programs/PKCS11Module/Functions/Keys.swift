import CPKCS11
import KeyClient

/// The key of a handle, if it is of this half.
private func key(_ handle: CK_OBJECT_HANDLE, _ half: ClientKeyObject.Kind) throws(TokenError) -> TokenObject {
    let object = try TokenModule.shared.object(handle)
    guard object.source.kind == half else { throw TokenError(.keyTypeInconsistent) }
    return object
}

private typealias Place = any WritableKeyPath<TokenSession, KeyOperation?> & Sendable

private func begin(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ handle: CK_OBJECT_HANDLE,
    _ purpose: Mechanism.Purpose, _ place: Place
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { session throws(TokenError) in
            // A null mechanism ends what was begun (version 3.0).
            guard mechanism != nil else {
                session[keyPath: place] = nil
                return
            }
            guard session[keyPath: place] == nil else { throw TokenError(.operationActive) }
        }
        guard mechanism != nil else { return }
        let usesPrivateHalf = purpose == .sign || purpose == .decrypt
        let object = try key(handle, usesPrivateHalf ? .privateKey : .publicKey)
        let operation = KeyOperation(
            object: object, mechanism: try Mechanism(mechanism, for: purpose, by: object.kind))
        try TokenModule.shared.session(session) { session throws(TokenError) in session[keyPath: place] = operation }
    }
}

/// Takes the operation out of the session, so that no other thread goes on with it.
private func take(
    _ session: CK_SESSION_HANDLE, _ place: Place, inParts: Bool
) throws(TokenError) -> KeyOperation {
    try TokenModule.shared.session(session) { session throws(TokenError) in
        guard let operation = session[keyPath: place] else { throw TokenError(.operationNotInitialized) }
        session[keyPath: place] = nil
        // After parts, only the function that ends them.
        guard inParts || operation.parts == nil else { throw TokenError(.operationActive) }
        return operation
    }
}

private func put(_ operation: KeyOperation, _ session: CK_SESSION_HANDLE, _ place: Place) throws(TokenError) {
    try TokenModule.shared.session(session) { session throws(TokenError) in session[keyPath: place] = operation }
}

/// What a caller gave to a function that ends an operation: all of it, or nothing after parts.
private typealias Given = (bytes: Bytes?, count: CK_ULONG)?

extension KeyOperation {
    /// Runs `body` with what is signed, decrypted or encrypted.
    fileprivate func withData<Result>(
        _ given: Given, _ body: (UnsafeRawBufferPointer) throws(TokenError) -> Result
    ) throws(TokenError) -> Result {
        let bytes: [UInt8]
        if let given {
            let data = try input(given.bytes, given.count)
            guard mechanism.hashesMessage, let hash = mechanism.hash else { return try body(data) }
            let digest = try Digest(hash)
            try digest.add(data)
            bytes = try digest.finish()
        } else {
            switch parts {
            case .digest(let digest): bytes = try digest.finish()
            case .bytes(let collected): bytes = collected
            case nil: bytes = try mechanism.hashesMessage ? mechanism.hash.map(Digest.init)?.finish() ?? [] : []
            }
        }
        let outcome = bytes.withUnsafeBytes { bytes -> Swift.Result<Result, TokenError> in
            do throws(TokenError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// The length of a signature, or the most bytes of a plaintext or ciphertext.
    fileprivate var longestResult: Int {
        let bytes = (object.source.sizeInBits + 7) / 8
        return object.kind == .rsa ? bytes : 2 * bytes
    }

    /// Whether a digest that is signed, or data that is padded, has a length that the mechanism takes.
    fileprivate func check(_ data: UnsafeRawBufferPointer) throws(TokenError) {
        let most = longestResult
        let takes =
            switch mechanism.scheme {
            case KC_RSA_PKCS1 where mechanism.hash == nil: data.count <= most - 11
            case KC_RSA_RAW: data.count <= most
            case KC_RSA_PKCS1, KC_RSA_PSS: mechanism.hash.map { data.count == Int(clamping: $0.byteCount) } ?? false
            case KC_ECDSA: (1...64).contains(data.count)
            default: true
            }
        guard takes else { throw TokenError(.dataLengthRange) }
    }
}

/// Ends an operation: tells the length, or has the result made and hands it out.
private func finish(
    _ session: CK_SESSION_HANDLE, _ place: Place, _ given: Given, _ room: Bytes?, _ count: Count?, isExact: Bool,
    _ make: (KeyOperation, UnsafeRawBufferPointer) throws(TokenError) -> [UInt8]
) -> CK_RV {
    answering { () throws(TokenError) in
        var operation = try take(session, place, inParts: given == nil)
        guard let count else { throw TokenError(.argumentsBad) }
        let size = operation.longestResult
        guard let room else {
            count.pointee = CK_ULONG(operation.result?.count ?? size)
            return try put(operation, session, place)
        }
        // A person is not asked for what there is no room for.
        guard !isExact || count.pointee >= CK_ULONG(size) else {
            count.pointee = CK_ULONG(size)
            try put(operation, session, place)
            throw TokenError(.bufferTooSmall)
        }
        let result =
            if let earlier = operation.result {
                earlier
            } else {
                try operation.withData(given) { data throws(TokenError) in try make(operation, data) }
            }
        do throws(TokenError) {
            _ = try give(result, room, count)
        } catch {
            if error.code == .bufferTooSmall {
                operation.result = result
                try put(operation, session, place)
            }
            throw error
        }
    }
}

private func collect(
    _ session: CK_SESSION_HANDLE, _ place: Place, _ part: Bytes?, _ count: CK_ULONG
) -> CK_RV {
    answering { () throws(TokenError) in
        // An error ends what was begun.
        var operation = try take(session, place, inParts: true)
        let bytes = try input(part, count)
        switch operation.parts {
        case .digest(let digest): try digest.add(bytes)
        case .bytes(var collected):
            // The only reference, so that the bytes are not copied each time.
            operation.parts = nil
            try append(bytes, to: &collected)
            operation.parts = .bytes(collected)
        case nil:
            if operation.mechanism.hashesMessage, let hash = operation.mechanism.hash {
                let digest = try Digest(hash)
                try digest.add(bytes)
                operation.parts = .digest(digest)
            } else {
                var collected: [UInt8] = []
                try append(bytes, to: &collected)
                operation.parts = .bytes(collected)
            }
        }
        try put(operation, session, place)
    }
}

private func append(_ bytes: UnsafeRawBufferPointer, to collected: inout [UInt8]) throws(TokenError) {
    guard bytes.count <= KeyOperation.mostBytes - collected.count else { throw TokenError(.dataLengthRange) }
    collected.append(contentsOf: bytes)
}

// MARK: Signatures

@_cdecl("kc_C_SignInit")
func signInit(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ key: CK_OBJECT_HANDLE
) -> CK_RV {
    begin(session, mechanism, key, .sign, \.signing)
}

private func signed(_ operation: KeyOperation, _ data: UnsafeRawBufferPointer) throws(TokenError) -> [UInt8] {
    try operation.check(data)
    return try TokenModule.shared.use(
        operation.object, to: .sign, by: operation.mechanism.algorithm(for: .sign), data)
}

@_cdecl("kc_C_Sign")
func sign(
    _ session: CK_SESSION_HANDLE, _ data: Bytes?, _ count: CK_ULONG, _ signature: Bytes?, _ signatureCount: Count?
) -> CK_RV {
    finish(session, \.signing, (data, count), signature, signatureCount, isExact: true, signed)
}

@_cdecl("kc_C_SignUpdate")
func signUpdate(_ session: CK_SESSION_HANDLE, _ part: Bytes?, _ count: CK_ULONG) -> CK_RV {
    collect(session, \.signing, part, count)
}

@_cdecl("kc_C_SignFinal")
func signFinal(_ session: CK_SESSION_HANDLE, _ signature: Bytes?, _ count: Count?) -> CK_RV {
    finish(session, \.signing, nil, signature, count, isExact: true, signed)
}

// MARK: Verification

@_cdecl("kc_C_VerifyInit")
func verifyInit(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ key: CK_OBJECT_HANDLE
) -> CK_RV {
    begin(session, mechanism, key, .verify, \.verifying)
}

private func verify(_ session: CK_SESSION_HANDLE, _ given: Given, _ signature: Bytes?, _ count: CK_ULONG) -> CK_RV {
    answering { () throws(TokenError) in
        let operation = try take(session, \.verifying, inParts: given == nil)
        let signature = try input(signature, count)
        guard signature.count == operation.longestResult else { throw TokenError(.signatureLengthRange) }
        let isValid = try operation.withData(given) { data throws(TokenError) in
            try operation.check(data)
            return operation.object.source.keyInfo.withUnsafeBytes { key in
                kc_is_valid(
                    operation.mechanism.scheme, operation.mechanism.hash?.function ?? KC_NO_HASH, kc_bytes(key),
                    kc_bytes(data), kc_bytes(signature)) == 1
            }
        }
        guard isValid else { throw TokenError(.signatureInvalid) }
    }
}

@_cdecl("kc_C_Verify")
func verify(
    _ session: CK_SESSION_HANDLE, _ data: Bytes?, _ count: CK_ULONG, _ signature: Bytes?, _ signatureCount: CK_ULONG
) -> CK_RV {
    verify(session, (data, count), signature, signatureCount)
}

@_cdecl("kc_C_VerifyUpdate")
func verifyUpdate(_ session: CK_SESSION_HANDLE, _ part: Bytes?, _ count: CK_ULONG) -> CK_RV {
    collect(session, \.verifying, part, count)
}

@_cdecl("kc_C_VerifyFinal")
func verifyFinal(_ session: CK_SESSION_HANDLE, _ signature: Bytes?, _ count: CK_ULONG) -> CK_RV {
    verify(session, nil, signature, count)
}

extension kc_bytes {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

// MARK: Encryption

@_cdecl("kc_C_EncryptInit")
func encryptInit(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ key: CK_OBJECT_HANDLE
) -> CK_RV {
    begin(session, mechanism, key, .encrypt, \.encrypting)
}

@_cdecl("kc_C_Encrypt")
func encrypt(
    _ session: CK_SESSION_HANDLE, _ data: Bytes?, _ count: CK_ULONG, _ encrypted: Bytes?, _ encryptedCount: Count?
) -> CK_RV {
    finish(session, \.encrypting, (data, count), encrypted, encryptedCount, isExact: true) {
        operation, data throws(TokenError) in
        var result = [UInt8](repeating: 0, count: operation.longestResult)
        var count = result.count
        let isDone = operation.object.source.keyInfo.withUnsafeBytes { key in
            kc_encrypt(
                operation.mechanism.scheme, operation.mechanism.hash?.function ?? KC_NO_HASH, kc_bytes(key),
                kc_bytes(data), &result, &count) == 1
        }
        guard isDone else { throw TokenError(.dataLengthRange) }
        return Array(result.prefix(count))
    }
}

@_cdecl("kc_C_DecryptInit")
func decryptInit(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ key: CK_OBJECT_HANDLE
) -> CK_RV {
    begin(session, mechanism, key, .decrypt, \.decrypting)
}

@_cdecl("kc_C_Decrypt")
func decrypt(
    _ session: CK_SESSION_HANDLE, _ encrypted: Bytes?, _ count: CK_ULONG, _ data: Bytes?, _ dataCount: Count?
) -> CK_RV {
    finish(session, \.decrypting, (encrypted, count), data, dataCount, isExact: false) {
        operation, encrypted throws(TokenError) in
        guard encrypted.count == operation.longestResult else { throw TokenError(.encryptedDataLengthRange) }
        do throws(TokenError) {
            return try TokenModule.shared.use(
                operation.object, to: .decrypt, by: operation.mechanism.algorithm(for: .decrypt), encrypted)
        } catch {
            throw error.code == .dataInvalid ? TokenError(.encryptedDataInvalid) : error
        }
    }
}

// MARK: Agreement

@_cdecl("kc_C_DeriveKey")
func deriveKey(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ base: CK_OBJECT_HANDLE,
    _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG,
    _ derived: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let derived, let given = mechanism?.pointee else { throw TokenError(.argumentsBad) }
        let object = try key(base, .privateKey)
        let algorithm = try Mechanism(mechanism, for: .derive, by: object.kind)
        let parameters: CK_ECDH1_DERIVE_PARAMS = try Mechanism.parameter(of: given)
        // CKD_NULL: the secret itself.
        guard parameters.derivation == 1, parameters.sharedDataLength == 0, parameters.publicDataLength <= 1024 else {
            throw TokenError(.mechanismParameterInvalid)
        }
        var peer = try input(parameters.publicData, parameters.publicDataLength)
        // The point itself, or in the OCTET STRING of CKA_EC_POINT.
        let size = object.source.publicKey.count
        if peer.count > size, peer.first == 0x04 {
            peer = UnsafeRawBufferPointer(rebasing: peer.suffix(size))
        }
        let template = try AttributeList(attributes, count)
        var secret = try TokenModule.shared.use(object, to: .agree, by: algorithm.algorithm(for: .derive), peer)
        if let length = template.number(Attribute.valueLength) {
            // The leftmost bytes go (section 6.3.21 of version 3.2).
            guard length > 0, length <= CK_ULONG(secret.count) else { throw TokenError(.templateInconsistent) }
            secret = Array(secret.suffix(Int(clamping: length)))
        }
        guard template.number(Attribute.objectClass) ?? ObjectClass.secretKey == ObjectClass.secretKey,
            template.values[Attribute.token] != [1]
        else { throw TokenError(.templateInconsistent) }
        var list = template
        list.set(Attribute.objectClass, ObjectClass.secretKey)
        list.set(Attribute.keyType, template.number(Attribute.keyType) ?? KeyKind.genericSecret)
        list.set(Attribute.token, false)
        list.set(Attribute.value, secret)
        list.set(Attribute.valueLength, CK_ULONG(secret.count))
        derived.pointee = try TokenModule.shared.keep(SessionSecret(session: session, attributes: list))
    }
}
