import KeychainServices

extension ConformanceStringConstants {
    /// The algorithms of keys and the parameters of key exchange, under the names that they have in C.
    static let keyAlgorithms: [String: String] = [
        "kSecKeyAlgorithmRSASignatureRaw": SecKeyAlgorithm.rsaSignatureRaw.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPKCS1v15Raw":
            SecKeyAlgorithm.rsaSignatureDigestPKCS1v15Raw.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA1":
            SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA1.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA224":
            SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA224.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA256":
            SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA256.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA384":
            SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA384.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPKCS1v15SHA512":
            SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA512.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPSSSHA1": SecKeyAlgorithm.rsaSignatureDigestPSSSHA1.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPSSSHA224": SecKeyAlgorithm.rsaSignatureDigestPSSSHA224.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPSSSHA256": SecKeyAlgorithm.rsaSignatureDigestPSSSHA256.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPSSSHA384": SecKeyAlgorithm.rsaSignatureDigestPSSSHA384.rawValue as String,
        "kSecKeyAlgorithmRSASignatureDigestPSSSHA512": SecKeyAlgorithm.rsaSignatureDigestPSSSHA512.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA1":
            SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA1.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA224":
            SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA224.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA256":
            SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA384":
            SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA384.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePKCS1v15SHA512":
            SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA512.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePSSSHA1": SecKeyAlgorithm.rsaSignatureMessagePSSSHA1.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePSSSHA224": SecKeyAlgorithm.rsaSignatureMessagePSSSHA224.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePSSSHA256": SecKeyAlgorithm.rsaSignatureMessagePSSSHA256.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePSSSHA384": SecKeyAlgorithm.rsaSignatureMessagePSSSHA384.rawValue as String,
        "kSecKeyAlgorithmRSASignatureMessagePSSSHA512": SecKeyAlgorithm.rsaSignatureMessagePSSSHA512.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureRFC4754": SecKeyAlgorithm.ecdsaSignatureRFC4754.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestRFC4754": SecKeyAlgorithm.ecdsaSignatureDigestRFC4754.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA1":
            SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA1.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA224":
            SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA224.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA256":
            SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA256.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA384":
            SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA384.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestRFC4754SHA512":
            SecKeyAlgorithm.ecdsaSignatureDigestRFC4754SHA512.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA1":
            SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA1.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA224":
            SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA224.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA256":
            SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA256.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA384":
            SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA384.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageRFC4754SHA512":
            SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA512.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestX962": SecKeyAlgorithm.ecdsaSignatureDigestX962.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestX962SHA1": SecKeyAlgorithm.ecdsaSignatureDigestX962SHA1.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestX962SHA224":
            SecKeyAlgorithm.ecdsaSignatureDigestX962SHA224.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestX962SHA256":
            SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestX962SHA384":
            SecKeyAlgorithm.ecdsaSignatureDigestX962SHA384.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureDigestX962SHA512":
            SecKeyAlgorithm.ecdsaSignatureDigestX962SHA512.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageX962SHA1":
            SecKeyAlgorithm.ecdsaSignatureMessageX962SHA1.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageX962SHA224":
            SecKeyAlgorithm.ecdsaSignatureMessageX962SHA224.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageX962SHA256":
            SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageX962SHA384":
            SecKeyAlgorithm.ecdsaSignatureMessageX962SHA384.rawValue as String,
        "kSecKeyAlgorithmECDSASignatureMessageX962SHA512":
            SecKeyAlgorithm.ecdsaSignatureMessageX962SHA512.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionRaw": SecKeyAlgorithm.rsaEncryptionRaw.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionPKCS1": SecKeyAlgorithm.rsaEncryptionPKCS1.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA1": SecKeyAlgorithm.rsaEncryptionOAEPSHA1.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA224": SecKeyAlgorithm.rsaEncryptionOAEPSHA224.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA256": SecKeyAlgorithm.rsaEncryptionOAEPSHA256.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA384": SecKeyAlgorithm.rsaEncryptionOAEPSHA384.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA512": SecKeyAlgorithm.rsaEncryptionOAEPSHA512.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA1AESGCM": SecKeyAlgorithm.rsaEncryptionOAEPSHA1AESGCM.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA224AESGCM":
            SecKeyAlgorithm.rsaEncryptionOAEPSHA224AESGCM.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA256AESGCM":
            SecKeyAlgorithm.rsaEncryptionOAEPSHA256AESGCM.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA384AESGCM":
            SecKeyAlgorithm.rsaEncryptionOAEPSHA384AESGCM.rawValue as String,
        "kSecKeyAlgorithmRSAEncryptionOAEPSHA512AESGCM":
            SecKeyAlgorithm.rsaEncryptionOAEPSHA512AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardX963SHA1AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA1AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardX963SHA224AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA224AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardX963SHA256AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardX963SHA384AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA384AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardX963SHA512AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardX963SHA512AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorX963SHA1AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA1AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorX963SHA224AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA224AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorX963SHA256AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA256AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorX963SHA384AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA384AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorX963SHA512AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorX963SHA512AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA224AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA224AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA256AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA384AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA384AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionStandardVariableIVX963SHA512AESGCM":
            SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA512AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA224AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA224AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA256AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA384AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA384AESGCM.rawValue as String,
        "kSecKeyAlgorithmECIESEncryptionCofactorVariableIVX963SHA512AESGCM":
            SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA512AESGCM.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeStandard": SecKeyAlgorithm.ecdhKeyExchangeStandard.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA1":
            SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA1.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA224":
            SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA224.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA256":
            SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA384":
            SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA384.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeStandardX963SHA512":
            SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA512.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeCofactor": SecKeyAlgorithm.ecdhKeyExchangeCofactor.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA1":
            SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA1.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA224":
            SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA224.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA256":
            SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA256.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA384":
            SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA384.rawValue as String,
        "kSecKeyAlgorithmECDHKeyExchangeCofactorX963SHA512":
            SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA512.rawValue as String,
        "kSecKeyKeyExchangeParameterRequestedSize": SecKeyKeyExchangeParameter.requestedSize.rawValue as String,
        "kSecKeyKeyExchangeParameterSharedInfo": SecKeyKeyExchangeParameter.sharedInfo.rawValue as String,
    ]
}
