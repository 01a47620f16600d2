import CPKCS11
import KeyClient
import PlainBytes

@_cdecl("kc_C_SignInit")
func signInit(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ key: CK_OBJECT_HANDLE
) -> CK_RV {
    begin(session, mechanism, key, .sign, \.signing)
}

@_cdecl("kc_C_Sign")
func sign(
    _ session: CK_SESSION_HANDLE, _ data: Bytes?, _ count: CK_ULONG, _ signature: Bytes?, _ signatureCount: Count?
) -> CK_RV {
    finish(session, \.signing, (data, count), signature, signatureCount, isExact: true)
}

@_cdecl("kc_C_SignUpdate")
func signUpdate(_ session: CK_SESSION_HANDLE, _ part: Bytes?, _ count: CK_ULONG) -> CK_RV {
    collect(session, \.signing, part, count)
}

@_cdecl("kc_C_SignFinal")
func signFinal(_ session: CK_SESSION_HANDLE, _ signature: Bytes?, _ count: Count?) -> CK_RV {
    finish(session, \.signing, nil, signature, count, isExact: true)
}

@_cdecl("kc_C_VerifyInit")
func verifyInit(
    _ session: CK_SESSION_HANDLE, _ mechanism: UnsafeMutablePointer<CK_MECHANISM>?, _ key: CK_OBJECT_HANDLE
) -> CK_RV {
    begin(session, mechanism, key, .verify, \.verifying)
}

extension KeyOperation {
    fileprivate func isValid(
        _ signature: UnsafeRawBufferPointer, of data: UnsafeRawBufferPointer
    ) throws(TokenError) -> Bool {
        switch mechanism.scheme {
        case KC_HMAC:
            let code = try result(of: data)
            return code.withUnsafeBytes { isEqualInConstantTime($0, signature) }
        case KC_ML_DSA:
            return object.source.publicKey.withUnsafeBytes { key in
                mechanism.context.withUnsafeBytes { context in
                    kc_is_valid_mldsa(
                        UInt32(clamping: object.source.sizeInBits), kc_bytes(key), kc_bytes(data), kc_bytes(context),
                        kc_bytes(signature)) == 1
                }
            }
        default:
            try check(data)
            return object.source.keyInfo.withUnsafeBytes { key in
                kc_is_valid(
                    mechanism.scheme, mechanism.hash?.function ?? KC_NO_HASH, kc_bytes(key), kc_bytes(data),
                    kc_bytes(signature)) == 1
            }
        }
    }
}

private func verify(_ session: CK_SESSION_HANDLE, _ given: Given, _ signature: Bytes?, _ count: CK_ULONG) -> CK_RV {
    answering { () throws(TokenError) in
        let operation = try take(session, \.verifying, inParts: given == nil)
        let signature = try input(signature, count)
        guard signature.count == operation.longestResult(of: 0) else { throw TokenError(.signatureLengthRange) }
        let isValid = try operation.withData(given) { data throws(TokenError) in
            try operation.isValid(signature, of: data)
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
