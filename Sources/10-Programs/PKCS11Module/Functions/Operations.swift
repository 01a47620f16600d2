import CAEAD
import CPKCS11
import KeyClient
import PlainBytes

typealias Place = any WritableKeyPath<TokenSession, KeyOperation?> & Sendable

/// Returns the key of a handle. Throws if its class is not for this purpose, or if its maker did not permit it.
func key(_ handle: CK_OBJECT_HANDLE, for purpose: Mechanism.Purpose) throws(TokenError) -> TokenObject {
    let object = try TokenModule.shared.object(handle)
    guard object.source.kind == .secretKey || object.source.kind == (purpose.takesPublicKey ? .publicKey : .privateKey)
    else { throw TokenError(.keyTypeInconsistent) }
    // The vault decides about its own keys; of a session's key, the template of its maker does.
    guard object.session == nil || object.attributes.values[purpose.attribute] != [0] else {
        throw TokenError(.keyFunctionNotPermitted)
    }
    return object
}

func begin(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ handle: CK_OBJECT_HANDLE,
    _ purpose: Mechanism.Purpose, _ place: Place
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { session throws(TokenError) in
            // A null mechanism ends what was begun (version 3.0).
            guard mechanism != nil else {
                guard session[keyPath: place] != nil else { throw TokenError(.argumentsBad) }
                session[keyPath: place] = nil
                return
            }
            guard session[keyPath: place] == nil else { throw TokenError(.operationActive) }
        }
        guard mechanism != nil else { return }
        let object = try key(handle, for: purpose)
        let operation = KeyOperation(
            object: object, mechanism: try Mechanism(mechanism, for: purpose, by: object.kind), purpose: purpose)
        try TokenModule.shared.session(session) { session throws(TokenError) in session[keyPath: place] = operation }
    }
}

/// Takes the operation out of the session, so that no other thread goes on with it.
func take(
    _ session: CK_SESSION_HANDLE, _ place: Place, inParts: Bool
) throws(TokenError) -> KeyOperation {
    try TokenModule.shared.session(session) { session throws(TokenError) in
        guard let operation = session[keyPath: place] else { throw TokenError(.operationNotInitialized) }
        session[keyPath: place] = nil
        // After parts, only the function that ends them; after the length for the whole, only the whole.
        guard inParts ? !operation.isWhole : operation.parts == nil else { throw TokenError(.operationActive) }
        return operation
    }
}

func put(_ operation: KeyOperation, _ session: CK_SESSION_HANDLE, _ place: Place) throws(TokenError) {
    try TokenModule.shared.session(session) { session throws(TokenError) in session[keyPath: place] = operation }
}

/// What a caller gave to a function that ends an operation: the whole message, or nil if it gave the message in parts.
typealias Given = (bytes: Bytes?, count: CK_ULONG)?

extension KeyOperation {
    /// Runs `body` with what is signed, decrypted or encrypted.
    func withData<Result>(
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

    /// How many bytes the parts so far have.
    var collectedCount: Int {
        if case .bytes(let collected) = parts { collected.count } else { 0 }
    }

    /// Throws for a message that is too long for the vault or for BoringSSL, before memory is taken for it.
    func check(count: Int) throws(TokenError) {
        let isOfVault = object.secret == nil && object.source.kind != .publicKey
        guard mechanism.hashesMessage || count <= (isOfVault ? Self.mostBytes : Self.mostBytesHere) else {
            throw TokenError(purpose == .decrypt ? .encryptedDataLengthRange : .dataLengthRange)
        }
    }

    /// The length of a signature or ciphertext, or the most bytes of a plaintext, for input of this length.
    func longestResult(of count: Int) -> Int {
        let size = (object.source.sizeInBits + 7) / 8
        return switch mechanism.scheme {
        case KC_ECDSA, KC_EDDSA: 2 * size
        // FIPS 204.
        case KC_ML_DSA: object.source.sizeInBits == 65 ? 3309 : 4627
        case KC_HMAC: Int(clamping: mechanism.hash?.byteCount ?? 0)
        case KC_AES_GCM: purpose == .encrypt ? count + mechanism.tagSize : max(count - mechanism.tagSize, 0)
        case KC_AES_CBC: count
        case KC_AES_CBC_PADDED: purpose == .encrypt ? count / 16 * 16 + 16 : count
        case KC_AES_WRAP, KC_AES_WRAP_PADDED: purpose == .encrypt ? (count + 7) / 8 * 8 + 8 : max(count - 8, 0)
        default: size
        }
    }

    /// Whether what is signed or encrypted has a length that the mechanism takes.
    func check(_ data: UnsafeRawBufferPointer) throws(TokenError) {
        let most = longestResult(of: data.count)
        let takes =
            switch (mechanism.scheme, purpose) {
            case (KC_RSA_PKCS1, .decrypt), (KC_RSA_OAEP, .decrypt), (KC_RSA_RAW, .decrypt): data.count == most
            case (KC_RSA_PKCS1, _) where mechanism.hash == nil: data.count <= most - 11
            case (KC_RSA_RAW, _): data.count <= most
            case (KC_RSA_PKCS1, _), (KC_RSA_PSS, _):
                mechanism.hash.map { data.count == Int(clamping: $0.byteCount) } ?? false
            case (KC_ECDSA, _): (1...64).contains(data.count)
            case (KC_AES_CBC, _): data.count % 16 == 0
            case (KC_AES_CBC_PADDED, .decrypt): data.count % 16 == 0 && data.count > 0
            case (KC_AES_GCM, .decrypt): data.count >= mechanism.tagSize
            case (KC_AES_WRAP, _): data.count % 8 == 0 && data.count >= 16
            case (KC_AES_WRAP_PADDED, .decrypt): data.count % 8 == 0 && data.count >= 16
            case (KC_AES_WRAP_PADDED, _): data.count > 0
            default: true
            }
        guard takes else { throw TokenError(purpose == .decrypt ? .encryptedDataLengthRange : .dataLengthRange) }
    }

    /// Signs, encrypts or decrypts: here with a key of the session or a public key, and else in the vault.
    func result(of data: UnsafeRawBufferPointer) throws(TokenError) -> [UInt8] {
        try check(count: data.count)
        try check(data)
        switch object.secret {
        case .bytes(let secret): return try result(of: data, secret)
        case .key(let key):
            return try purpose == .sign ? key.signature(mechanism, data) : key.plaintext(mechanism, data)
        case nil: break
        }
        // With the vault's public key, in this process.
        if object.source.kind == .publicKey { return try ciphertext(of: data) }
        return try TokenModule.shared.use(object, to: purpose, by: mechanism, data)
    }

    private func result(of data: UnsafeRawBufferPointer, _ secret: SecretBytes) throws(TokenError) -> [UInt8] {
        guard let cipher = mechanism.secretCipher else {
            guard let hash = mechanism.hash else { throw TokenError(.mechanismInvalid) }
            return try written { code in
                secret.withUnsafeBytes {
                    secret_key_authenticate(hash.secretFunction, secret_bytes($0), data.baseAddress, data.count, code)
                }
            }
        }
        var count = data.count + SECRET_GROWTH
        var out = [UInt8](repeating: 0, count: count)
        let outcome = secret.withUnsafeBytes { key in
            mechanism.context.withUnsafeBytes { context in
                mechanism.binding.withUnsafeBytes { binding in
                    var message = secret_message(
                        text: secret_bytes(data), vector: secret_bytes(context), binding: secret_bytes(binding),
                        tag_count: mechanism.tagSize)
                    return secret_key_transform(cipher, purpose == .encrypt, secret_bytes(key), &message, &out, &count)
                }
            }
        }
        switch outcome {
        case SECRET_DONE: return Array(out.prefix(count))
        case SECRET_DAMAGED: throw TokenError(.encryptedDataInvalid)
        case SECRET_REFUSED: throw TokenError(purpose == .decrypt ? .encryptedDataLengthRange : .dataLengthRange)
        default: throw TokenError(.deviceMemory)
        }
    }

    private func ciphertext(of data: UnsafeRawBufferPointer) throws(TokenError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: longestResult(of: data.count))
        var count = result.count
        let isDone = object.source.keyInfo.withUnsafeBytes { key in
            kc_encrypt(
                mechanism.scheme, mechanism.hash?.function ?? KC_NO_HASH, kc_bytes(key), kc_bytes(data), &result,
                &count) == 1
        }
        guard isDone else { throw TokenError(.dataLengthRange) }
        return Array(result.prefix(count))
    }
}

extension TokenModule {
    /// Has the vault use a private or secret key.
    func use(
        _ object: TokenObject, to purpose: Mechanism.Purpose, by mechanism: Mechanism, _ data: UnsafeRawBufferPointer
    ) throws(TokenError) -> [UInt8] {
        guard data.count <= KeyOperation.mostBytes else { throw TokenError(.dataLengthRange) }
        do throws(TokenError) {
            return try asking { client throws(KeyClientError) in
                try client.use(
                    object.source, to: purpose.client, by: mechanism.algorithm(for: purpose), data,
                    context: mechanism.context, binding: mechanism.binding)
            }
        } catch {
            throw error.code == .dataInvalid && purpose == .decrypt ? TokenError(.encryptedDataInvalid) : error
        }
    }
}

extension Mechanism.Purpose {
    fileprivate var client: ClientKeyPurpose {
        switch self {
        case .sign, .verify: .sign
        case .decrypt, .unwrap: .decrypt
        case .encrypt, .wrap: .encrypt
        case .derive: .agree
        case .encapsulate, .decapsulate: .decapsulate
        }
    }
}

extension secret_bytes {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

/// Ends an operation: tells the length of the result, or makes the result and hands it out.
func finish(
    _ session: CK_SESSION_HANDLE, _ place: Place, _ given: Given, _ room: Bytes?, _ count: Count?, isExact: Bool
) -> CK_RV {
    answering { () throws(TokenError) in
        var operation = try take(session, place, inParts: given == nil)
        guard let count else { throw TokenError(.argumentsBad) }
        operation.isWhole = given != nil
        let whole = given.map { Int(clamping: $0.count) } ?? operation.collectedCount
        try operation.check(count: whole)
        let size = operation.longestResult(of: whole)
        guard let room else {
            count.pointee = CK_ULONG(clamping: operation.result?.count ?? size)
            return try put(operation, session, place)
        }
        // Before the key is used: without room for the result, a person would be asked in vain.
        guard !isExact || count.pointee >= CK_ULONG(clamping: size) else {
            count.pointee = CK_ULONG(clamping: size)
            try put(operation, session, place)
            throw TokenError(.bufferTooSmall)
        }
        let result =
            if let earlier = operation.result {
                earlier
            } else {
                try operation.withData(given) { data throws(TokenError) in try operation.result(of: data) }
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

func collect(
    _ session: CK_SESSION_HANDLE, _ place: Place, _ part: Bytes?, _ count: CK_ULONG
) -> CK_RV {
    answering { () throws(TokenError) in
        // The standard has an error end the operation, so it is put back only at the end.
        var operation = try take(session, place, inParts: true)
        try operation.append(input(part, count))
        try put(operation, session, place)
    }
}

extension KeyOperation {
    /// Takes a part: into the digest, or to what was collected.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(TokenError) {
        switch parts {
        case .digest(let digest): try digest.add(bytes)
        case .bytes(var collected):
            // The only reference, so that the bytes are not copied each time.
            parts = nil
            guard bytes.count <= Self.mostBytes - collected.count else { throw TokenError(.dataLengthRange) }
            collected.append(contentsOf: bytes)
            parts = .bytes(collected)
        case nil:
            if mechanism.hashesMessage, let hash = mechanism.hash {
                let digest = try Digest(hash)
                try digest.add(bytes)
                parts = .digest(digest)
            } else {
                guard bytes.count <= Self.mostBytes else { throw TokenError(.dataLengthRange) }
                parts = .bytes(Array(bytes))
            }
        }
    }
}
