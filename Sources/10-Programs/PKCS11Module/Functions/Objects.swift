import CLibrary
import CPKCS11
import KeyClient

@_cdecl("kc_C_FindObjectsInit")
func findObjectsInit(
    _ session: CK_SESSION_HANDLE, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        try TokenModule.shared.find(AttributeList(attributes, count), in: session)
    }
}

/// C_FindObjectsInit of version 2.40: leaves out keys whose type that version has no name for.
@_cdecl("kc_old_FindObjectsInit")
func oldFindObjectsInit(
    _ session: CK_SESSION_HANDLE, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?, _ count: CK_ULONG
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        try TokenModule.shared.find(AttributeList(attributes, count), in: session) { $0.kind?.isOld ?? true }
    }
}

@_cdecl("kc_C_FindObjects")
func findObjects(
    _ session: CK_SESSION_HANDLE, _ objects: UnsafeMutablePointer<CK_OBJECT_HANDLE>?, _ most: CK_ULONG, _ count: Count?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { session throws(TokenError) in
            guard let count, objects != nil || most == 0 else { throw TokenError(.argumentsBad) }
            guard let found = session.found else { throw TokenError(.operationNotInitialized) }
            let next = found.prefix(Int(clamping: most))
            for (index, handle) in next.enumerated() { objects?[index] = handle }
            count.pointee = CK_ULONG(next.count)
            session.found = found.dropFirst(next.count)
        }
    }
}

@_cdecl("kc_C_FindObjectsFinal")
func findObjectsFinal(_ session: CK_SESSION_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { session throws(TokenError) in
            guard session.found != nil else { throw TokenError(.operationNotInitialized) }
            session.found = nil
        }
    }
}

@_cdecl("kc_C_GetAttributeValue")
func getAttributeValue(
    _ session: CK_SESSION_HANDLE, _ object: CK_OBJECT_HANDLE, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?,
    _ count: CK_ULONG
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        var list = try TokenModule.shared.attributes(of: object)
        guard let attributes, count > 0, count <= 1 << 16 else { throw TokenError(.argumentsBad) }
        let asked = UnsafeBufferPointer(start: attributes, count: Int(clamping: count))
        let isPassword = list.number(Attribute.objectClass) == ObjectClass.data && list.values[Attribute.value] == nil
        if isPassword, let value = asked.first(where: { $0.type == Attribute.value }) {
            list.set(Attribute.value, try password(object, session, isLast: value.value != nil))
        }
        let hasSecret = [ObjectClass.privateKey, ObjectClass.secretKey].contains(list.number(Attribute.objectClass))
        // The standard wants all attributes answered; the error is that of the last one that was not.
        var failure: CK_RV?
        for index in 0..<Int(clamping: count) {
            let type = attributes[index].type
            let room = attributes[index].length
            guard let bytes = list.values[type] else {
                attributes[index].length = unavailable
                let isSecret =
                    hasSecret
                    && ([Attribute.value, Attribute.privateExponent, Attribute.seed].contains(type)
                        || Attribute.primes.contains(type))
                failure = isSecret ? .attributeSensitive : .attributeTypeInvalid
                continue
            }
            guard let value = attributes[index].value else {
                attributes[index].length = CK_ULONG(bytes.count)
                continue
            }
            guard room >= CK_ULONG(bytes.count) else {
                attributes[index].length = unavailable
                failure = .bufferTooSmall
                continue
            }
            UnsafeMutableRawBufferPointer(start: value, count: bytes.count).copyBytes(from: bytes)
            attributes[index].length = CK_ULONG(bytes.count)
        }
        if let failure { throw TokenError(failure) }
    }
}

/// The value of a password. A program asks for the length first, and then for the value: the vault is asked once.
///
/// - Parameter isLast: Whether the program has room for the value.
private func password(
    _ handle: CK_OBJECT_HANDLE, _ session: CK_SESSION_HANDLE, isLast: Bool
) throws(TokenError) -> [UInt8] {
    let known = try TokenModule.shared.session(session) { session throws(TokenError) in
        defer { session.password = nil }
        return session.password
    }
    if let known, known.handle == handle, isLast { return known.value }
    let object = try TokenModule.shared.object(handle)
    let value = try TokenModule.shared.asking { client throws(KeyClientError) in
        try client.value(of: object.source)
    }
    if !isLast {
        try TokenModule.shared.session(session) { session throws(TokenError) in session.password = (handle, value) }
    }
    return value
}

@_cdecl("kc_C_SetAttributeValue")
func setAttributeValue(
    _ session: CK_SESSION_HANDLE, _ object: CK_OBJECT_HANDLE, _ attributes: UnsafeMutablePointer<CK_ATTRIBUTE>?,
    _ count: CK_ULONG
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        _ = try TokenModule.shared.attributes(of: object)
        throw TokenError(.actionProhibited)
    }
}

@_cdecl("kc_C_GetObjectSize")
func getObjectSize(_ session: CK_SESSION_HANDLE, _ object: CK_OBJECT_HANDLE, _ size: Count?) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        let list = try TokenModule.shared.attributes(of: object)
        guard let size else { throw TokenError(.argumentsBad) }
        size.pointee = CK_ULONG(list.values.values.reduce(0) { $0 + $1.count })
    }
}

@_cdecl("kc_C_DestroyObject")
func destroyObject(_ session: CK_SESSION_HANDLE, _ object: CK_OBJECT_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        try TokenModule.shared.destroy(object, in: session)
    }
}

@_cdecl("kc_C_GenerateRandom")
func generateRandom(_ session: CK_SESSION_HANDLE, _ random: Bytes?, _ count: CK_ULONG) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        guard let random, count <= CK_ULONG(Int.max) else {
            if count == 0 { return }
            throw TokenError(.argumentsBad)
        }
        try fillWithRandom(UnsafeMutableBufferPointer(start: random, count: Int(clamping: count)))
    }
}

func fillWithRandom(_ room: UnsafeMutableBufferPointer<UInt8>) throws(TokenError) {
    guard let base = room.baseAddress else { return }
    var done = 0
    while done < room.count {
        let part = min(256, room.count - done)
        // At most 256 bytes at once, which the kernel gives whole (getentropy(3)).
        guard getentropy(base + done, part) == 0 else { throw TokenError(.functionFailed) }
        done += part
    }
}

@_cdecl("kc_C_SeedRandom")
func seedRandom(_ session: CK_SESSION_HANDLE, _ seed: Bytes?, _ count: CK_ULONG) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        _ = try input(seed, count)
        throw TokenError(.randomSeedNotSupported)
    }
}
