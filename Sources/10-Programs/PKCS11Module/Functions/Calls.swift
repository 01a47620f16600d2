import CPKCS11

typealias Bytes = UnsafeMutablePointer<CK_BYTE>
typealias Count = UnsafeMutablePointer<CK_ULONG>

/// Runs the body of a function, and returns its code.
func answering(_ body: () throws(TokenError) -> Void) -> CK_RV {
    do {
        try body()
        return .ok
    } catch {
        return error.code
    }
}

/// Returns CKR_FUNCTION_NOT_SUPPORTED for a function that the module does not have, if the session is there.
@_cdecl("kc_unsupported")
func unsupported(_ session: CK_SESSION_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        throw TokenError(.functionNotSupported)
    }
}

/// The bytes that a caller gave.
///
/// - Throws: CKR_ARGUMENTS_BAD for a null pointer with a length, or for an impossible length.
func input(_ bytes: Bytes?, _ count: CK_ULONG) throws(TokenError) -> UnsafeRawBufferPointer {
    guard count <= CK_ULONG(Int.max), bytes != nil || count == 0 else { throw TokenError(.argumentsBad) }
    return UnsafeRawBufferPointer(start: bytes, count: Int(clamping: count))
}

/// Hands out bytes by the convention of section 5.2 of the standard: without `room`, it only tells their number.
///
/// - Returns: Whether they were handed out; false if the caller asked for their number alone.
/// - Throws: CKR_BUFFER_TOO_SMALL, after the number was told.
func give(_ bytes: [UInt8], _ room: Bytes?, _ count: Count?) throws(TokenError) -> Bool {
    guard let count else { throw TokenError(.argumentsBad) }
    let available = count.pointee
    count.pointee = CK_ULONG(bytes.count)
    guard let room else { return false }
    guard available >= CK_ULONG(bytes.count) else { throw TokenError(.bufferTooSmall) }
    UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyBytes(from: bytes)
    return true
}

/// Hands out numbers in the same way.
func give<Number: BitwiseCopyable>(
    _ numbers: [Number], _ room: UnsafeMutablePointer<Number>?, _ count: Count?
) throws(TokenError) {
    guard let count else { throw TokenError(.argumentsBad) }
    let available = count.pointee
    count.pointee = CK_ULONG(numbers.count)
    guard let room else { return }
    guard available >= CK_ULONG(numbers.count) else { throw TokenError(.bufferTooSmall) }
    for (index, number) in numbers.enumerated() { room[index] = number }
}

/// Fills a field of a structure with text and blanks.
func fill<Field>(_ field: inout Field, _ text: String) {
    withUnsafeMutableBytes(of: &field) { room in
        room.initializeMemory(as: UInt8.self, repeating: 0x20)
        for (index, byte) in text.utf8.prefix(room.count).enumerated() { room[index] = byte }
    }
}
