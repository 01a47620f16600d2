import CPKCS11

// What the module does not do. Each function is in the tables all the same, because programs call without a look.

@_cdecl("kc_C_InitToken")
func initToken(_: CK_SLOT_ID, _: Bytes?, _: CK_ULONG, _: Bytes?) -> CK_RV { unsupportedOfSlot() }

@_cdecl("kc_C_InitPIN")
func initPIN(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_SetPIN")
func setPIN(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: CK_ULONG) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_GetOperationState")
func getOperationState(_ session: CK_SESSION_HANDLE, _: Bytes?, _: Count?) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_SetOperationState")
func setOperationState(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: CK_OBJECT_HANDLE, _: CK_OBJECT_HANDLE)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_CopyObject")
func copyObject(
    _ session: CK_SESSION_HANDLE, _: CK_OBJECT_HANDLE, _: UnsafeMutablePointer<CK_ATTRIBUTE>?, _: CK_ULONG,
    _: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_EncryptUpdate")
func encryptUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_EncryptFinal")
func encryptFinal(_ session: CK_SESSION_HANDLE, _: Bytes?, _: Count?) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_DecryptUpdate")
func decryptUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_DecryptFinal")
func decryptFinal(_ session: CK_SESSION_HANDLE, _: Bytes?, _: Count?) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_DigestKey")
func digestKey(_ session: CK_SESSION_HANDLE, _: CK_OBJECT_HANDLE) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_SignRecoverInit")
func signRecoverInit(_ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE) -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_SignRecover")
func signRecover(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_VerifyRecoverInit")
func verifyRecoverInit(_ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_VerifyRecover")
func verifyRecover(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_DigestEncryptUpdate")
func digestEncryptUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_DecryptDigestUpdate")
func decryptDigestUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_SignEncryptUpdate")
func signEncryptUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_DecryptVerifyUpdate")
func decryptVerifyUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_GenerateKey")
func generateKey(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: UnsafeMutablePointer<CK_ATTRIBUTE>?,
    _: CK_ULONG, _: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_WrapKey")
func wrapKey(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE, _: CK_OBJECT_HANDLE,
    _: Bytes?, _: Count?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_UnwrapKey")
func unwrapKey(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE, _: Bytes?, _: CK_ULONG,
    _: UnsafeMutablePointer<CK_ATTRIBUTE>?, _: CK_ULONG, _: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageEncryptInit")
func messageEncryptInit(_ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_EncryptMessage")
func encryptMessage(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?,
    _: CK_ULONG, _: Bytes?, _: Count?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_EncryptMessageBegin")
func encryptMessageBegin(_ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_EncryptMessageNext")
func encryptMessageNext(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?,
    _: Count?, _: CK_FLAGS
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageEncryptFinal")
func messageEncryptFinal(_ session: CK_SESSION_HANDLE) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageDecryptInit")
func messageDecryptInit(_ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_DecryptMessage")
func decryptMessage(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?,
    _: CK_ULONG, _: Bytes?, _: Count?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_DecryptMessageBegin")
func decryptMessageBegin(_ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_DecryptMessageNext")
func decryptMessageNext(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?,
    _: Count?, _: CK_FLAGS
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageDecryptFinal")
func messageDecryptFinal(_ session: CK_SESSION_HANDLE) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageSignInit")
func messageSignInit(_ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE) -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_SignMessage")
func signMessage(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_SignMessageBegin")
func signMessageBegin(_ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_SignMessageNext")
func signMessageNext(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageSignFinal")
func messageSignFinal(_ session: CK_SESSION_HANDLE) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageVerifyInit")
func messageVerifyInit(_ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE)
    -> CK_RV
{ unsupported(session) }

@_cdecl("kc_C_VerifyMessage")
func verifyMessage(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?,
    _: CK_ULONG
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_VerifyMessageBegin")
func verifyMessageBegin(_ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_VerifyMessageNext")
func verifyMessageNext(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutableRawPointer?, _: CK_ULONG, _: Bytes?, _: CK_ULONG, _: Bytes?,
    _: CK_ULONG
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_MessageVerifyFinal")
func messageVerifyFinal(_ session: CK_SESSION_HANDLE) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_EncapsulateKey")
func encapsulateKey(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE,
    _: UnsafeMutablePointer<CK_ATTRIBUTE>?, _: CK_ULONG, _: Bytes?, _: Count?,
    _: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_DecapsulateKey")
func decapsulateKey(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE,
    _: UnsafeMutablePointer<CK_ATTRIBUTE>?, _: CK_ULONG, _: Bytes?, _: CK_ULONG,
    _: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_VerifySignatureInit")
func verifySignatureInit(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE, _: Bytes?, _: CK_ULONG
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_VerifySignature")
func verifySignature(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_VerifySignatureUpdate")
func verifySignatureUpdate(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_VerifySignatureFinal")
func verifySignatureFinal(_ session: CK_SESSION_HANDLE) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_GetSessionValidationFlags")
func getSessionValidationFlags(_ session: CK_SESSION_HANDLE, _: CK_ULONG, _: UnsafeMutablePointer<CK_FLAGS>?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_AsyncComplete")
func asyncComplete(_ session: CK_SESSION_HANDLE, _: Bytes?, _: UnsafeMutableRawPointer?) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_AsyncGetID")
func asyncGetID(_ session: CK_SESSION_HANDLE, _: Bytes?, _: Count?) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_AsyncJoin")
func asyncJoin(_ session: CK_SESSION_HANDLE, _: Bytes?, _: CK_ULONG, _: Bytes?, _: CK_ULONG) -> CK_RV {
    unsupported(session)
}

@_cdecl("kc_C_WrapKeyAuthenticated")
func wrapKeyAuthenticated(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE, _: CK_OBJECT_HANDLE,
    _: Bytes?, _: CK_ULONG, _: Bytes?, _: Count?
) -> CK_RV { unsupported(session) }

@_cdecl("kc_C_UnwrapKeyAuthenticated")
func unwrapKeyAuthenticated(
    _ session: CK_SESSION_HANDLE, _: UnsafeMutablePointer<CK_MECHANISM>?, _: CK_OBJECT_HANDLE, _: Bytes?, _: CK_ULONG,
    _: UnsafeMutablePointer<CK_ATTRIBUTE>?, _: CK_ULONG, _: Bytes?, _: CK_ULONG,
    _: UnsafeMutablePointer<CK_OBJECT_HANDLE>?
) -> CK_RV { unsupported(session) }

/// What a function that is not there returns, if it is not about a session.
private func unsupportedOfSlot() -> CK_RV {
    answering { () throws(TokenError) in
        try TokenModule.shared.requireInitialized()
        throw TokenError(.functionNotSupported)
    }
}
