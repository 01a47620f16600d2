import CPKCS11

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
    finish(session, \.encrypting, (data, count), encrypted, encryptedCount, isExact: true)
}

@_cdecl("kc_C_EncryptUpdate")
func encryptUpdate(
    _ session: CK_SESSION_HANDLE, _ part: Bytes?, _ count: CK_ULONG, _ encrypted: Bytes?, _ encryptedCount: Count?
) -> CK_RV {
    update(session, \.encrypting, part, count, encrypted, encryptedCount)
}

@_cdecl("kc_C_EncryptFinal")
func encryptFinal(_ session: CK_SESSION_HANDLE, _ encrypted: Bytes?, _ count: Count?) -> CK_RV {
    finish(session, \.encrypting, nil, encrypted, count, isExact: true)
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
    finish(session, \.decrypting, (encrypted, count), data, dataCount, isExact: false)
}

@_cdecl("kc_C_DecryptUpdate")
func decryptUpdate(
    _ session: CK_SESSION_HANDLE, _ encrypted: Bytes?, _ count: CK_ULONG, _ data: Bytes?, _ dataCount: Count?
) -> CK_RV {
    update(session, \.decrypting, encrypted, count, data, dataCount)
}

@_cdecl("kc_C_DecryptFinal")
func decryptFinal(_ session: CK_SESSION_HANDLE, _ data: Bytes?, _ count: Count?) -> CK_RV {
    finish(session, \.decrypting, nil, data, count, isExact: false)
}

/// Takes a part. CBC hands out whole blocks as they come; what other mechanisms make is handed out at the end, after
/// the tag has shown that it is right.
private func update(
    _ session: CK_SESSION_HANDLE, _ place: Place, _ part: Bytes?, _ count: CK_ULONG, _ room: Bytes?, _ roomCount: Count?
) -> CK_RV {
    answering { () throws(TokenError) in
        var operation = try take(session, place, inParts: true)
        guard let roomCount else { throw TokenError(.argumentsBad) }
        let bytes = try input(part, count)
        guard operation.mechanism.isChained else {
            try operation.append(bytes)
            roomCount.pointee = 0
            return try put(operation, session, place)
        }
        try operation.check(count: bytes.count)
        let blocks = operation.wholeBlocks(with: bytes.count)
        guard let room, roomCount.pointee >= CK_ULONG(clamping: blocks) else {
            roomCount.pointee = CK_ULONG(clamping: blocks)
            try put(operation, session, place)
            if room != nil { throw TokenError(.bufferTooSmall) }
            return
        }
        _ = try give(operation.transformed(bytes, blocks), room, roomCount)
        try put(operation, session, place)
    }
}

extension KeyOperation {
    /// How many of the bytes so far, and of `count` more, CBC can be done with.
    fileprivate func wholeBlocks(with count: Int) -> Int {
        let all = collectedCount + count
        // The last block of what is decrypted may be padding.
        let waits = purpose == .decrypt && mechanism.scheme == KC_AES_CBC_PADDED
        return (waits ? max(all - 1, 0) : all) / 16 * 16
    }

    /// Encrypts or decrypts whole blocks, and keeps what is left.
    fileprivate mutating func transformed(
        _ bytes: UnsafeRawBufferPointer, _ count: Int
    ) throws(TokenError) -> [UInt8] {
        try append(bytes)
        guard count > 0, case .bytes(let collected) = parts else { return [] }
        var blocks = self
        blocks.mechanism.scheme = KC_AES_CBC
        let given = Array(collected.prefix(count))
        let made = try blocks.with(given)
        mechanism.context = Array((purpose == .encrypt ? made : given).suffix(16))
        parts = .bytes(Array(collected.dropFirst(count)))
        return made
    }

    private func with(_ data: [UInt8]) throws(TokenError) -> [UInt8] {
        var operation = self
        operation.parts = .bytes(data)
        return try operation.withData(nil) { data throws(TokenError) in try operation.result(of: data) }
    }
}
