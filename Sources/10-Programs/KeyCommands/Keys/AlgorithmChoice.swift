import ArgumentParser
import Certificates
import CommandKit
import KeyCryptography
import VaultKeys

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
    case ed25519

    /// The default for a key.
    init(for key: KeyData) {
        self =
            switch (key.type, key.sizeInBits) {
            case (.rsa, _): .pkcs1SHA256
            case (.ed25519, _): .ed25519
            case (.ellipticCurve, ...256): .ecdsaSHA256
            case (.ellipticCurve, ...384): .ecdsaSHA384
            case (.ellipticCurve, _): .ecdsaSHA512
            }
    }

    /// - Parameter isDigest: Whether a digest is given and not the message.
    func algorithm(isDigest: Bool) -> KeyAlgorithmName {
        let kind = isDigest ? "digest" : "message"
        let name =
            switch self {
            case .ecdsaSHA256: "ECDSA:\(kind)-X962:SHA256"
            case .ecdsaSHA384: "ECDSA:\(kind)-X962:SHA384"
            case .ecdsaSHA512: "ECDSA:\(kind)-X962:SHA512"
            case .ecdsaRawSHA256: "ECDSA:\(kind)-RFC4754:SHA256"
            case .ecdsaRawSHA384: "ECDSA:\(kind)-RFC4754:SHA384"
            case .ecdsaRawSHA512: "ECDSA:\(kind)-RFC4754:SHA512"
            case .pkcs1SHA256: "RSA:\(kind)-PKCS1v15:SHA256"
            case .pkcs1SHA384: "RSA:\(kind)-PKCS1v15:SHA384"
            case .pkcs1SHA512: "RSA:\(kind)-PKCS1v15:SHA512"
            case .pssSHA256: "RSA:\(kind)-PSS:SHA256:SHA256:32"
            case .pssSHA384: "RSA:\(kind)-PSS:SHA384:SHA384:48"
            case .pssSHA512: "RSA:\(kind)-PSS:SHA512:SHA512:64"
            case .ed25519: "EdDSA:\(kind)-Curve25519:SHA512"
            }
        return KeyAlgorithmName(rawValue: "algid:sign:" + name)
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

    /// The default for a key, which takes data of any length.
    init(for key: KeyData) {
        self =
            switch (key.type, key.sizeInBits) {
            case (.rsa, _): .oaepSHA256WithAES
            // It has no algorithm to encrypt with, which the choice then says.
            case (.ed25519, _): .eciesSHA256
            case (.ellipticCurve, ...256): .eciesSHA256
            case (.ellipticCurve, ...384): .eciesSHA384
            case (.ellipticCurve, _): .eciesSHA512
            }
    }

    var algorithm: KeyAlgorithmName {
        let name =
            switch self {
            case .eciesSHA256: "ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"
            case .eciesSHA384: "ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"
            case .eciesSHA512: "ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"
            case .oaepSHA256WithAES: "RSA:OAEP:SHA256:AESGCM"
            case .oaepSHA512WithAES: "RSA:OAEP:SHA512:AESGCM"
            case .oaepSHA1: "RSA:OAEP:SHA1"
            case .oaepSHA256: "RSA:OAEP:SHA256"
            case .oaepSHA512: "RSA:OAEP:SHA512"
            case .pkcs1: "RSA:PKCS1"
            }
        return KeyAlgorithmName(rawValue: "algid:encrypt:" + name)
    }
}

/// An algorithm by its short name, or by Apple's.
struct AlgorithmChoice {
    /// As it was given.
    let name: String
    let algorithm: KeyAlgorithmName

    static func signature(
        _ given: String?, isDigest: Bool, for key: VaultKey, _ operation: KeyOperation
    ) throws -> AlgorithmChoice {
        let name = given ?? SignatureName(for: key.keyData).rawValue
        let known = SignatureName.allCases.map { ($0.rawValue, $0.algorithm(isDigest: isDigest)) }
        return try choose(name, known, for: key, operation)
    }

    static func encryption(
        _ given: String?, for key: VaultKey, _ operation: KeyOperation
    ) throws -> AlgorithmChoice {
        let name = given ?? EncryptionName(for: key.keyData).rawValue
        return try choose(name, EncryptionName.allCases.map { ($0.rawValue, $0.algorithm) }, for: key, operation)
    }

    private static func choose(
        _ name: String, _ known: [(name: String, algorithm: KeyAlgorithmName)], for key: VaultKey,
        _ operation: KeyOperation
    ) throws -> AlgorithmChoice {
        let named = known.first { $0.name == name }?.algorithm
        let algorithm = named ?? KeyAlgorithmName(rawValue: name)
        guard named != nil || name.hasPrefix("algid:"), key.supports(algorithm, for: operation) else {
            let possible = known.filter { key.supports($0.algorithm, for: operation) }.map(\.name)
            guard !possible.isEmpty else {
                throw Failure.usage("a key of type ed25519 signs and verifies, and does nothing else")
            }
            throw Failure.usage(
                "the key cannot use '\(name.escapedForTerminal)': it can use \(possible.joined(separator: ", ")), or "
                    + "one of Apple's names, such as \(known.first?.algorithm.rawValue ?? "algid:")")
        }
        return AlgorithmChoice(name: name, algorithm: algorithm)
    }
}
