import ArgumentParser
import Certificates
import Foundation
import KeychainServices

/// The algorithms that signatures are made with, by short names.
enum SignatureName: String, CaseIterable {
    case ecdsaSHA256 = "ecdsa-sha256"
    case ecdsaSHA384 = "ecdsa-sha384"
    case ecdsaSHA512 = "ecdsa-sha512"
    case ecdsaRawSHA256 = "ecdsa-raw-sha256"
    case ecdsaRawSHA384 = "ecdsa-raw-sha384"
    case ecdsaRawSHA512 = "ecdsa-raw-sha512"
    case pkcs1SHA256 = "rsa-pkcs1-sha256"
    case pkcs1SHA384 = "rsa-pkcs1-sha384"
    case pkcs1SHA512 = "rsa-pkcs1-sha512"
    case pssSHA256 = "rsa-pss-sha256"
    case pssSHA384 = "rsa-pss-sha384"
    case pssSHA512 = "rsa-pss-sha512"

    /// The usual one for a key.
    init(for key: KeyData) {
        self =
            switch (key.type, key.sizeInBits) {
            case (.rsa, _): .pkcs1SHA256
            case (.ellipticCurve, ...256): .ecdsaSHA256
            case (.ellipticCurve, ...384): .ecdsaSHA384
            case (.ellipticCurve, _): .ecdsaSHA512
            }
    }

    /// - Parameter isDigest: Whether a digest is given and not the message.
    func algorithm(isDigest: Bool) -> SecKeyAlgorithm {
        switch self {
        case .ecdsaSHA256: isDigest ? .ecdsaSignatureDigestX962SHA256 : .ecdsaSignatureMessageX962SHA256
        case .ecdsaSHA384: isDigest ? .ecdsaSignatureDigestX962SHA384 : .ecdsaSignatureMessageX962SHA384
        case .ecdsaSHA512: isDigest ? .ecdsaSignatureDigestX962SHA512 : .ecdsaSignatureMessageX962SHA512
        case .ecdsaRawSHA256: isDigest ? .ecdsaSignatureDigestRFC4754SHA256 : .ecdsaSignatureMessageRFC4754SHA256
        case .ecdsaRawSHA384: isDigest ? .ecdsaSignatureDigestRFC4754SHA384 : .ecdsaSignatureMessageRFC4754SHA384
        case .ecdsaRawSHA512: isDigest ? .ecdsaSignatureDigestRFC4754SHA512 : .ecdsaSignatureMessageRFC4754SHA512
        case .pkcs1SHA256: isDigest ? .rsaSignatureDigestPKCS1v15SHA256 : .rsaSignatureMessagePKCS1v15SHA256
        case .pkcs1SHA384: isDigest ? .rsaSignatureDigestPKCS1v15SHA384 : .rsaSignatureMessagePKCS1v15SHA384
        case .pkcs1SHA512: isDigest ? .rsaSignatureDigestPKCS1v15SHA512 : .rsaSignatureMessagePKCS1v15SHA512
        case .pssSHA256: isDigest ? .rsaSignatureDigestPSSSHA256 : .rsaSignatureMessagePSSSHA256
        case .pssSHA384: isDigest ? .rsaSignatureDigestPSSSHA384 : .rsaSignatureMessagePSSSHA384
        case .pssSHA512: isDigest ? .rsaSignatureDigestPSSSHA512 : .rsaSignatureMessagePSSSHA512
        }
    }
}

/// The algorithms that data is encrypted with, by short names.
enum EncryptionName: String, CaseIterable {
    case eciesSHA256 = "ecies-sha256"
    case eciesSHA384 = "ecies-sha384"
    case eciesSHA512 = "ecies-sha512"
    case oaepSHA256WithAES = "rsa-oaep-sha256-aesgcm"
    case oaepSHA512WithAES = "rsa-oaep-sha512-aesgcm"
    case oaepSHA1 = "rsa-oaep-sha1"
    case oaepSHA256 = "rsa-oaep-sha256"
    case oaepSHA512 = "rsa-oaep-sha512"
    case pkcs1 = "rsa-pkcs1"

    /// One for data of any length.
    init(for key: KeyData) {
        self =
            switch (key.type, key.sizeInBits) {
            case (.rsa, _): .oaepSHA256WithAES
            case (.ellipticCurve, ...256): .eciesSHA256
            case (.ellipticCurve, ...384): .eciesSHA384
            case (.ellipticCurve, _): .eciesSHA512
            }
    }

    var algorithm: SecKeyAlgorithm {
        switch self {
        case .eciesSHA256: .eciesEncryptionCofactorVariableIVX963SHA256AESGCM
        case .eciesSHA384: .eciesEncryptionCofactorVariableIVX963SHA384AESGCM
        case .eciesSHA512: .eciesEncryptionCofactorVariableIVX963SHA512AESGCM
        case .oaepSHA256WithAES: .rsaEncryptionOAEPSHA256AESGCM
        case .oaepSHA512WithAES: .rsaEncryptionOAEPSHA512AESGCM
        case .oaepSHA1: .rsaEncryptionOAEPSHA1
        case .oaepSHA256: .rsaEncryptionOAEPSHA256
        case .oaepSHA512: .rsaEncryptionOAEPSHA512
        case .pkcs1: .rsaEncryptionPKCS1
        }
    }
}

/// An algorithm by its short name, or by Apple's.
struct AlgorithmChoice {
    /// As it was given.
    let name: String
    let algorithm: SecKeyAlgorithm

    static func signature(
        _ given: String?, isDigest: Bool, for key: SecKey, _ operation: SecKeyOperationType
    ) throws(Failure) -> AlgorithmChoice {
        let name = given ?? SignatureName(for: key.keyData).rawValue
        let known = SignatureName.allCases.map { ($0.rawValue, $0.algorithm(isDigest: isDigest)) }
        return try choose(name, known, for: key, operation)
    }

    static func encryption(
        _ given: String?, for key: SecKey, _ operation: SecKeyOperationType
    ) throws(Failure) -> AlgorithmChoice {
        let name = given ?? EncryptionName(for: key.keyData).rawValue
        return try choose(name, EncryptionName.allCases.map { ($0.rawValue, $0.algorithm) }, for: key, operation)
    }

    private static func choose(
        _ name: String, _ known: [(name: String, algorithm: SecKeyAlgorithm)], for key: SecKey,
        _ operation: SecKeyOperationType
    ) throws(Failure) -> AlgorithmChoice {
        let named = known.first { $0.name == name }?.algorithm
        let algorithm = named ?? SecKeyAlgorithm(rawValue: NSString(string: name))
        guard named != nil || name.hasPrefix("algid:"), SecKeyIsAlgorithmSupported(key, operation, algorithm) else {
            let possible = known.filter { SecKeyIsAlgorithmSupported(key, operation, $0.algorithm) }.map(\.name)
            throw Failure.usage(
                "the key cannot use '\(name.escapedForTerminal)': it can use \(possible.joined(separator: ", ")), or one "
                    + "of Apple's names, such as \(known.first?.algorithm.rawValue ?? "algid:")")
        }
        return AlgorithmChoice(name: name, algorithm: algorithm)
    }
}
