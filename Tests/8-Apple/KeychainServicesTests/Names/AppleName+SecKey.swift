import KeychainServices

extension AppleName {
    /// Names of SecKey.h.
    static let secKey: [AppleName] = [
        .strings("SecKeyAlgorithm", SecKeyAlgorithm.self, CFString.self),
        .strings("SecKeyKeyExchangeParameter", SecKeyKeyExchangeParameter.self, CFString.self),
        .enumeration("SecKeyOperationType", SecKeyOperationType.self, CFIndex.self),
        .options("SecPadding", SecPadding.self, UInt32.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeCofactor", SecKeyAlgorithm.ecdhKeyExchangeCofactor, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA1", SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA224", SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA256", SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA384", SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA512", SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeStandard", SecKeyAlgorithm.ecdhKeyExchangeStandard, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA1", SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA224", SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256", SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA384", SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA512", SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestRFC4754", SecKeyAlgorithm.ecdsaSignatureDigestRFC4754,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA1", SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA224", SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA256", SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA384", SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA512", SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestX962", SecKeyAlgorithm.ecdsaSignatureDigestX962, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestX962SHA1", SecKeyAlgorithm.ecdsaSignatureDigestX962SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestX962SHA224", SecKeyAlgorithm.ecdsaSignatureDigestX962SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256", SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestX962SHA384", SecKeyAlgorithm.ecdsaSignatureDigestX962SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureDigestX962SHA512", SecKeyAlgorithm.ecdsaSignatureDigestX962SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA1", SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA224", SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA256", SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA384", SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA512", SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageX962SHA1", SecKeyAlgorithm.ecdsaSignatureMessageX962SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageX962SHA224", SecKeyAlgorithm.ecdsaSignatureMessageX962SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256", SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageX962SHA384", SecKeyAlgorithm.ecdsaSignatureMessageX962SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.ecdsaSignatureMessageX962SHA512", SecKeyAlgorithm.ecdsaSignatureMessageX962SHA512,
            SecKeyAlgorithm.self),
        .member("SecKeyAlgorithm.ecdsaSignatureRFC4754", SecKeyAlgorithm.ecdsaSignatureRFC4754, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA224AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA224AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA384AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA384AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA512AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA512AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorX963SHA1AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA1AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorX963SHA224AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA224AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorX963SHA256AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA256AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorX963SHA384AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA384AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionCofactorX963SHA512AESGCM",
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA512AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA224AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA224AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA384AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA384AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA512AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA512AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardX963SHA1AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA1AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardX963SHA224AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA224AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardX963SHA384AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA384AESGCM, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.eciesEncryptionStandardX963SHA512AESGCM",
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA512AESGCM, SecKeyAlgorithm.self),
        .member("SecKeyAlgorithm.rsaEncryptionOAEPSHA1", SecKeyAlgorithm.rsaEncryptionOAEPSHA1, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA1AESGCM", SecKeyAlgorithm.rsaEncryptionOAEPSHA1AESGCM,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA224", SecKeyAlgorithm.rsaEncryptionOAEPSHA224, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA224AESGCM", SecKeyAlgorithm.rsaEncryptionOAEPSHA224AESGCM,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA256", SecKeyAlgorithm.rsaEncryptionOAEPSHA256, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA256AESGCM", SecKeyAlgorithm.rsaEncryptionOAEPSHA256AESGCM,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA384", SecKeyAlgorithm.rsaEncryptionOAEPSHA384, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA384AESGCM", SecKeyAlgorithm.rsaEncryptionOAEPSHA384AESGCM,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA512", SecKeyAlgorithm.rsaEncryptionOAEPSHA512, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaEncryptionOAEPSHA512AESGCM", SecKeyAlgorithm.rsaEncryptionOAEPSHA512AESGCM,
            SecKeyAlgorithm.self),
        .member("SecKeyAlgorithm.rsaEncryptionPKCS1", SecKeyAlgorithm.rsaEncryptionPKCS1, SecKeyAlgorithm.self),
        .member("SecKeyAlgorithm.rsaEncryptionRaw", SecKeyAlgorithm.rsaEncryptionRaw, SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPKCS1v15Raw", SecKeyAlgorithm.rsaSignatureDigestPKCS1v15Raw,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA1", SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA224", SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA256", SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA384", SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA512", SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPSSSHA1", SecKeyAlgorithm.rsaSignatureDigestPSSSHA1, SecKeyAlgorithm.self
        ),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPSSSHA224", SecKeyAlgorithm.rsaSignatureDigestPSSSHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPSSSHA256", SecKeyAlgorithm.rsaSignatureDigestPSSSHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPSSSHA384", SecKeyAlgorithm.rsaSignatureDigestPSSSHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureDigestPSSSHA512", SecKeyAlgorithm.rsaSignatureDigestPSSSHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA1", SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA224", SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256", SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA384", SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA512", SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA512,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePSSSHA1", SecKeyAlgorithm.rsaSignatureMessagePSSSHA1,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePSSSHA224", SecKeyAlgorithm.rsaSignatureMessagePSSSHA224,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePSSSHA256", SecKeyAlgorithm.rsaSignatureMessagePSSSHA256,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePSSSHA384", SecKeyAlgorithm.rsaSignatureMessagePSSSHA384,
            SecKeyAlgorithm.self),
        .member(
            "SecKeyAlgorithm.rsaSignatureMessagePSSSHA512", SecKeyAlgorithm.rsaSignatureMessagePSSSHA512,
            SecKeyAlgorithm.self),
        .member("SecKeyAlgorithm.rsaSignatureRaw", SecKeyAlgorithm.rsaSignatureRaw, SecKeyAlgorithm.self),
        .member(
            "SecKeyKeyExchangeParameter.requestedSize", SecKeyKeyExchangeParameter.requestedSize,
            SecKeyKeyExchangeParameter.self),
        .member(
            "SecKeyKeyExchangeParameter.sharedInfo", SecKeyKeyExchangeParameter.sharedInfo,
            SecKeyKeyExchangeParameter.self),
        .member("SecKeyOperationType.sign", SecKeyOperationType.sign, SecKeyOperationType.self, 0),
        .member("SecKeyOperationType.verify", SecKeyOperationType.verify, SecKeyOperationType.self, 1),
        .member("SecKeyOperationType.encrypt", SecKeyOperationType.encrypt, SecKeyOperationType.self, 2),
        .member("SecKeyOperationType.decrypt", SecKeyOperationType.decrypt, SecKeyOperationType.self, 3),
        .member("SecKeyOperationType.keyExchange", SecKeyOperationType.keyExchange, SecKeyOperationType.self, 4),
        .member("SecPadding.PKCS1", SecPadding.PKCS1, SecPadding.self, 1),
        .member("SecPadding.OAEP", SecPadding.OAEP, SecPadding.self, 2),
        .member("SecPadding.sigRaw", SecPadding.sigRaw, SecPadding.self, 16384),
        .member("SecPadding.PKCS1MD2", SecPadding.PKCS1MD2, SecPadding.self, 32768),
        .member("SecPadding.PKCS1MD5", SecPadding.PKCS1MD5, SecPadding.self, 32769),
        .member("SecPadding.PKCS1SHA1", SecPadding.PKCS1SHA1, SecPadding.self, 32770),
        .member("SecPadding.PKCS1SHA224", SecPadding.PKCS1SHA224, SecPadding.self, 32771),
        .member("SecPadding.PKCS1SHA256", SecPadding.PKCS1SHA256, SecPadding.self, 32772),
        .member("SecPadding.PKCS1SHA384", SecPadding.PKCS1SHA384, SecPadding.self, 32773),
        .member("SecPadding.PKCS1SHA512", SecPadding.PKCS1SHA512, SecPadding.self, 32774),
        .constant("kSecPrivateKeyAttrs", kSecPrivateKeyAttrs, CFString.self),
        .constant("kSecPublicKeyAttrs", kSecPublicKeyAttrs, CFString.self),
        .function("SecKeyCopyAttributes", SecKeyCopyAttributes(_:), (@Sendable (SecKey) -> CFDictionary?).self),
        .function(
            "SecKeyCopyExternalRepresentation", SecKeyCopyExternalRepresentation(_:_:),
            (@Sendable (SecKey, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?).self),
        .function(
            "SecKeyCopyKeyExchangeResult", SecKeyCopyKeyExchangeResult(_:_:_:_:_:),
            (@Sendable (SecKey, SecKeyAlgorithm, SecKey, CFDictionary, UnsafeMutablePointer<Unmanaged<CFError>?>?) ->
                CFData?).self),
        .function("SecKeyCopyPublicKey", SecKeyCopyPublicKey(_:), (@Sendable (SecKey) -> SecKey?).self),
        .function(
            "SecKeyCreateDecryptedData", SecKeyCreateDecryptedData(_:_:_:_:),
            (@Sendable (SecKey, SecKeyAlgorithm, CFData, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?).self),
        .function(
            "SecKeyCreateEncryptedData", SecKeyCreateEncryptedData(_:_:_:_:),
            (@Sendable (SecKey, SecKeyAlgorithm, CFData, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?).self),
        .function(
            "SecKeyCreateRandomKey", SecKeyCreateRandomKey(_:_:),
            (@Sendable (CFDictionary, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> SecKey?).self),
        .function(
            "SecKeyCreateSignature", SecKeyCreateSignature(_:_:_:_:),
            (@Sendable (SecKey, SecKeyAlgorithm, CFData, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?).self),
        .function(
            "SecKeyCreateWithData", SecKeyCreateWithData(_:_:_:),
            (@Sendable (CFData, CFDictionary, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> SecKey?).self),
        .function(
            "SecKeyDecrypt", SecKeyDecrypt(_:_:_:_:_:_:),
            (@Sendable (
                SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>
            ) -> OSStatus).self),
        .function(
            "SecKeyEncrypt", SecKeyEncrypt(_:_:_:_:_:_:),
            (@Sendable (
                SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>
            ) -> OSStatus).self),
        .function(
            "SecKeyGeneratePair", SecKeyGeneratePair(_:_:_:),
            (@Sendable (CFDictionary, UnsafeMutablePointer<SecKey?>?, UnsafeMutablePointer<SecKey?>?) -> OSStatus).self),
        .function("SecKeyGetBlockSize", SecKeyGetBlockSize(_:), (@Sendable (SecKey) -> Int).self),
        .function("SecKeyGetTypeID", SecKeyGetTypeID, (@Sendable () -> CFTypeID).self),
        .function(
            "SecKeyIsAlgorithmSupported", SecKeyIsAlgorithmSupported(_:_:_:),
            (@Sendable (SecKey, SecKeyOperationType, SecKeyAlgorithm) -> Bool).self),
        .function(
            "SecKeyRawSign", SecKeyRawSign(_:_:_:_:_:_:),
            (@Sendable (
                SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>
            ) -> OSStatus).self),
        .function(
            "SecKeyRawVerify", SecKeyRawVerify(_:_:_:_:_:_:),
            (@Sendable (SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafePointer<UInt8>, Int) -> OSStatus).self),
        .function(
            "SecKeyVerifySignature", SecKeyVerifySignature(_:_:_:_:_:),
            (@Sendable (SecKey, SecKeyAlgorithm, CFData, CFData, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> Bool)
                .self),
    ]
}
