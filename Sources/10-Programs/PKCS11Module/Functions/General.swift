import CPKCS11

/// The version that C_GetInfo returns: that of the table that C_GetFunctionList returns.
private let oldInterface = CK_VERSION(major: 2, minor: 40)
private let manufacturer = "swift-keychain"

@_cdecl("kc_C_Initialize")
func initialize(_ arguments: UnsafeMutableRawPointer?) -> CK_RV {
    answering { () throws(TokenError) in
        if let given = arguments?.assumingMemoryBound(to: CK_C_INITIALIZE_ARGS.self).pointee {
            guard given.reserved == nil else { throw TokenError(.argumentsBad) }
            let mutexes = [
                given.createMutex != nil, given.destroyMutex != nil, given.lockMutex != nil, given.unlockMutex != nil,
            ]
            guard Set(mutexes).count == 1 else { throw TokenError(.argumentsBad) }
            // The module locks with the system's own mutexes, and cannot do with the caller's alone.
            guard !mutexes[0] || given.flags & Flag.osLockingOK != 0 else { throw TokenError(.cantLock) }
        }
        try TokenModule.shared.initialize()
    }
}

@_cdecl("kc_C_Finalize")
func finalize(_ reserved: UnsafeMutableRawPointer?) -> CK_RV {
    answering { () throws(TokenError) in
        guard reserved == nil else { throw TokenError(.argumentsBad) }
        try TokenModule.shared.finalize()
    }
}

@_cdecl("kc_C_GetInfo")
func getInfo(_ info: UnsafeMutablePointer<CK_INFO>?) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.requireInitialized()
        guard let info else { throw TokenError(.argumentsBad) }
        var told = CK_INFO()
        told.cryptokiVersion = oldInterface
        fill(&told.manufacturerID, manufacturer)
        fill(&told.libraryDescription, "Keychain of this machine")
        told.libraryVersion = CK_VERSION(major: 0, minor: 2)
        info.pointee = told
    }
}

@_cdecl("kc_C_GetFunctionList")
func getFunctionList(_ list: UnsafeMutablePointer<UnsafeMutablePointer<CK_FUNCTION_LIST>?>?) -> CK_RV {
    guard let list else { return .argumentsBad }
    list.pointee = kc_old_table()
    return .ok
}

@_cdecl("kc_C_GetInterfaceList")
func getInterfaceList(_ interfaces: UnsafeMutablePointer<CK_INTERFACE>?, _ count: Count?) -> CK_RV {
    answering { () throws(TokenError) in
        try give((0..<kc_interface_count()).compactMap { kc_interface($0)?.pointee }, interfaces, count)
    }
}

@_cdecl("kc_C_GetInterface")
func getInterface(
    _ name: Bytes?, _ version: UnsafeMutablePointer<CK_VERSION>?,
    _ interface: UnsafeMutablePointer<UnsafeMutablePointer<CK_INTERFACE>?>?, _ flags: CK_FLAGS
) -> CK_RV {
    guard let interface else { return .argumentsBad }
    for index in 0..<kc_interface_count() {
        guard let candidate = kc_interface(index), let own = candidate.pointee.name,
            let table = candidate.pointee.functions
        else { continue }
        let spoken = table.assumingMemoryBound(to: CK_VERSION.self).pointee
        if let name, kc_is_equal(name, own) == 0 { continue }
        if let version, version.pointee.major != spoken.major || version.pointee.minor != spoken.minor { continue }
        guard candidate.pointee.flags & flags == flags else { continue }
        interface.pointee = candidate
        return .ok
    }
    return .argumentsBad
}

// MARK: The slot and the token

@_cdecl("kc_C_GetSlotList")
func getSlotList(_ withToken: CK_BBOOL, _ slots: UnsafeMutablePointer<CK_SLOT_ID>?, _ count: Count?) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.requireInitialized()
        // Looks for a socket or a folder, and talks to nobody: every program that uses GnuTLS asks this.
        let isPresent = withToken == 0 || VaultSockets.mayHaveVault()
        try give(isPresent ? [TokenModule.slot] : [], slots, count)
    }
}

private func check(_ slot: CK_SLOT_ID) throws(TokenError) {
    try TokenModule.shared.requireInitialized()
    guard slot == TokenModule.slot else { throw TokenError(.slotInvalid) }
}

@_cdecl("kc_C_GetSlotInfo")
func getSlotInfo(_ slot: CK_SLOT_ID, _ info: UnsafeMutablePointer<CK_SLOT_INFO>?) -> CK_RV {
    answering { () throws(TokenError) in
        try check(slot)
        guard let info else { throw TokenError(.argumentsBad) }
        var told = CK_SLOT_INFO()
        fill(&told.slotDescription, "Keychain")
        fill(&told.manufacturerID, manufacturer)
        told.flags = VaultSockets.mayHaveVault() ? Flag.tokenPresent : 0
        info.pointee = told
    }
}

@_cdecl("kc_C_GetTokenInfo")
func getTokenInfo(_ slot: CK_SLOT_ID, _ info: UnsafeMutablePointer<CK_TOKEN_INFO>?) -> CK_RV {
    answering { () throws(TokenError) in
        try check(slot)
        guard let info else { throw TokenError(.argumentsBad) }
        guard VaultSockets.mayHaveVault() else { throw TokenError(.tokenNotPresent) }
        let counts = try TokenModule.shared.counts()
        var told = CK_TOKEN_INFO()
        fill(&told.label, "keychain")
        fill(&told.manufacturerID, manufacturer)
        fill(&told.model, "vault")
        fill(&told.serialNumber, "1")
        fill(&told.utcTime, "")
        told.flags = Flag.randomGenerator | Flag.tokenInitialized | Flag.protectedAuthenticationPath
        told.maxSessionCount = 0
        told.sessionCount = CK_ULONG(clamping: counts.all)
        told.rwSessionCount = CK_ULONG(clamping: counts.readWrite)
        (told.totalPublicMemory, told.freePublicMemory) = (unavailable, unavailable)
        (told.totalPrivateMemory, told.freePrivateMemory) = (unavailable, unavailable)
        info.pointee = told
    }
}

@_cdecl("kc_C_GetMechanismList")
func getMechanismList(
    _ slot: CK_SLOT_ID, _ mechanisms: UnsafeMutablePointer<CK_MECHANISM_TYPE>?, _ count: Count?
) -> CK_RV {
    answering { () throws(TokenError) in
        try check(slot)
        try give(Mechanism.all.map(\.type), mechanisms, count)
    }
}

@_cdecl("kc_C_GetMechanismInfo")
func getMechanismInfo(
    _ slot: CK_SLOT_ID, _ type: CK_MECHANISM_TYPE, _ info: UnsafeMutablePointer<CK_MECHANISM_INFO>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try check(slot)
        guard let info else { throw TokenError(.argumentsBad) }
        guard let entry = Mechanism.all.first(where: { $0.type == type }) else { throw TokenError(.mechanismInvalid) }
        info.pointee = entry.info
    }
}

@_cdecl("kc_C_InitToken")
func initToken(_: CK_SLOT_ID, _: Bytes?, _: CK_ULONG, _: Bytes?) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.requireInitialized()
        // Nobody empties the vault through this interface.
        throw TokenError(.functionNotSupported)
    }
}

@_cdecl("kc_C_WaitForSlotEvent")
func waitForSlotEvent(
    _ flags: CK_FLAGS, _ slot: UnsafeMutablePointer<CK_SLOT_ID>?, _ reserved: UnsafeMutableRawPointer?
) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.requireInitialized()
        guard slot != nil, reserved == nil else { throw TokenError(.argumentsBad) }
        throw TokenError(flags & Flag.dontBlock != 0 ? .noEvent : .functionNotSupported)
    }
}

// MARK: Sessions

@_cdecl("kc_C_OpenSession")
func openSession(
    _ slot: CK_SLOT_ID, _ flags: CK_FLAGS, _ application: UnsafeMutableRawPointer?, _ notify: CK_NOTIFY?,
    _ session: UnsafeMutablePointer<CK_SESSION_HANDLE>?
) -> CK_RV {
    answering { () throws(TokenError) in
        try check(slot)
        guard let session else { throw TokenError(.argumentsBad) }
        guard flags & Flag.serialSession != 0 else { throw TokenError(.sessionParallelNotSupported) }
        session.pointee = try TokenModule.shared.open(readWrite: flags & Flag.readWriteSession != 0)
    }
}

@_cdecl("kc_C_CloseSession")
func closeSession(_ session: CK_SESSION_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in try TokenModule.shared.close(session) }
}

@_cdecl("kc_C_CloseAllSessions")
func closeAllSessions(_ slot: CK_SLOT_ID) -> CK_RV {
    answering { () throws(TokenError) in
        try check(slot)
        try TokenModule.shared.closeAll()
    }
}

@_cdecl("kc_C_GetSessionInfo")
func getSessionInfo(_ session: CK_SESSION_HANDLE, _ info: UnsafeMutablePointer<CK_SESSION_INFO>?) -> CK_RV {
    answering { () throws(TokenError) in
        let isReadWrite = try TokenModule.shared.session(session) { session throws(TokenError) in session.isReadWrite }
        guard let info else { throw TokenError(.argumentsBad) }
        // CKS_RO_PUBLIC_SESSION and CKS_RW_PUBLIC_SESSION, and one more for a user who is logged in.
        let isLoggedIn = try TokenModule.shared.isLoggedIn()
        info.pointee = CK_SESSION_INFO(
            slot: TokenModule.slot, state: (isReadWrite ? 2 : 0) + (isLoggedIn ? 1 : 0),
            flags: Flag.serialSession | (isReadWrite ? Flag.readWriteSession : 0), deviceError: 0)
    }
}

@_cdecl("kc_C_Login")
func login(_ session: CK_SESSION_HANDLE, _ user: CK_USER_TYPE, _ pin: Bytes?, _ count: CK_ULONG) -> CK_RV {
    answering { () throws(TokenError) in
        // CKU_USER and CKU_CONTEXT_SPECIFIC. Nobody administers the vault through this interface.
        guard user == 1 || user == 2 else {
            try TokenModule.shared.session(session) { _ throws(TokenError) in }
            throw TokenError(.userTypeInvalid)
        }
        if user == 1 { try TokenModule.shared.log(in: true, session) }
    }
}

@_cdecl("kc_C_LoginUser")
func loginUser(
    _ session: CK_SESSION_HANDLE, _ user: CK_USER_TYPE, _ pin: Bytes?, _ count: CK_ULONG, _ name: Bytes?,
    _ nameCount: CK_ULONG
) -> CK_RV {
    login(session, user, pin, count)
}

@_cdecl("kc_C_Logout")
func logout(_ session: CK_SESSION_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in try TokenModule.shared.log(in: false, session) }
}

@_cdecl("kc_C_SessionCancel")
func sessionCancel(_ session: CK_SESSION_HANDLE, _ flags: CK_FLAGS) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { session throws(TokenError) in
            if flags & Flag.findObjects != 0 { session.found = nil }
            if flags & Flag.sign != 0 { session.signing = nil }
            if flags & Flag.verify != 0 { session.verifying = nil }
            if flags & Flag.encrypt != 0 { session.encrypting = nil }
            if flags & Flag.decrypt != 0 { session.decrypting = nil }
            if flags & Flag.digest != 0 { session.digesting = nil }
        }
    }
}

@_cdecl("kc_C_GetFunctionStatus")
func getFunctionStatus(_ session: CK_SESSION_HANDLE) -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.session(session) { _ throws(TokenError) in }
        throw TokenError(.functionNotParallel)
    }
}

@_cdecl("kc_C_CancelFunction")
func cancelFunction(_ session: CK_SESSION_HANDLE) -> CK_RV { getFunctionStatus(session) }
