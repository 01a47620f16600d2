import CPKCS11
import PlainBytes

@_cdecl("kc_C_DigestInit")
func digestInit(_ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { session throws(TokenError) in
            guard let mechanism else {
                guard session.digesting != nil else { throw TokenError(.argumentsBad) }
                session.digesting = nil
                return
            }
            guard session.digesting == nil else { throw TokenError(.operationActive) }
            guard let hash = Mechanism.hashes.first(where: { $0.alone == mechanism.pointee.type }) else {
                throw TokenError(.mechanismInvalid)
            }
            guard mechanism.pointee.parameterLength == 0 else { throw TokenError(.mechanismParameterInvalid) }
            session.digesting = DigestOperation(hash: hash, digest: try Digest(hash))
        }
    }
}

/// Takes the digest out of the session: hashing does not keep other sessions waiting.
private func take(_ session: CK_SESSION_HANDLE) throws(TokenError) -> DigestOperation {
    try TokenModule.shared.session(session) { session throws(TokenError) in
        guard let operation = session.digesting else { throw TokenError(.operationNotInitialized) }
        session.digesting = nil
        return operation
    }
}

private func put(_ operation: DigestOperation, _ session: CK_SESSION_HANDLE) throws(TokenError) {
    try TokenModule.shared.session(session) { session throws(TokenError) in session.digesting = operation }
}

/// Ends a digest, after `last` if that is given.
private func finish(
    _ session: CK_SESSION_HANDLE, _ last: (bytes: Bytes?, count: CK_ULONG)?, _ room: Bytes?, _ count: Count?
) -> CK_RV {
    answering { () throws(TokenError) in
        var operation = try take(session)
        guard last == nil ? !operation.isWhole : !operation.isInParts else { throw TokenError(.operationActive) }
        guard let count else { throw TokenError(.argumentsBad) }
        operation.isWhole = last != nil
        guard room != nil, count.pointee >= operation.hash.byteCount else {
            count.pointee = operation.hash.byteCount
            try put(operation, session)
            if room != nil { throw TokenError(.bufferTooSmall) }
            return
        }
        if let last { try operation.digest.add(input(last.bytes, last.count)) }
        _ = try give(operation.digest.finish(), room, count)
    }
}

@_cdecl("kc_C_Digest")
func digest(
    _ session: CK_SESSION_HANDLE, _ data: Bytes?, _ count: CK_ULONG, _ digest: Bytes?, _ digestCount: Count?
) -> CK_RV {
    finish(session, (data, count), digest, digestCount)
}

@_cdecl("kc_C_DigestUpdate")
func digestUpdate(_ session: CK_SESSION_HANDLE, _ part: Bytes?, _ count: CK_ULONG) -> CK_RV {
    answering { () throws(TokenError) in
        var operation = try take(session)
        guard !operation.isWhole else { throw TokenError(.operationActive) }
        try operation.digest.add(input(part, count))
        operation.isInParts = true
        try put(operation, session)
    }
}

/// Hashes the value of a session's secret key. The vault does not tell the values of its own.
@_cdecl("kc_C_DigestKey")
func digestKey(_ session: CK_SESSION_HANDLE, _ key: CK_OBJECT_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in
        var operation = try take(session)
        guard !operation.isWhole else { throw TokenError(.operationActive) }
        guard case .bytes(let secret) = try TokenModule.shared.object(key).secret else {
            throw TokenError(.keyIndigestible)
        }
        let digest = operation.digest
        try secret.withUnsafeBytes { bytes throws(TokenError) in try digest.add(bytes) }
        operation.isInParts = true
        try put(operation, session)
    }
}

@_cdecl("kc_C_DigestFinal")
func digestFinal(_ session: CK_SESSION_HANDLE, _ digest: Bytes?, _ count: Count?) -> CK_RV {
    finish(session, nil, digest, count)
}
