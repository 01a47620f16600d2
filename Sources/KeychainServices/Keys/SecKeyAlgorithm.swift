import Foundation
import KeyCryptography

/// An algorithm for one of the operations of a key.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    /// The algorithm with this name; whether there is one shows when a key is asked.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// The algorithm with this name; whether there is one shows when a key is asked.
    public init(_ rawValue: CFString) {
        name = rawValue as String
    }

    /// Apple's name, such as `algid:sign:ECDSA:message-X962:SHA256`.
    public var rawValue: CFString { name as NSString }

    /// What the name stands for; nil if that is nothing.
    var keyAlgorithm: KeyAlgorithm? { KeyAlgorithmNames.all[name] }
}

/// What keys can be asked to do.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// ``SecKeyCreateSignature(_:_:_:_:)``.
    case sign = 0
    /// ``SecKeyVerifySignature(_:_:_:_:_:)``.
    case verify = 1
    /// ``SecKeyCreateEncryptedData(_:_:_:_:)``.
    case encrypt = 2
    /// ``SecKeyCreateDecryptedData(_:_:_:_:)``.
    case decrypt = 3
    /// ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)``.
    case keyExchange = 4

    var operation: KeyOperation {
        switch self {
        case .sign: .sign
        case .verify: .verify
        case .encrypt: .encrypt
        case .decrypt: .decrypt
        case .keyExchange: .keyExchange
        }
    }
}

/// Apple's names of the algorithms.
private enum KeyAlgorithmNames {
    /// Made when the first key is used.
    static let all: [String: KeyAlgorithm] = {
        var all: [String: KeyAlgorithm] = [
            "algid:sign:RSA:raw": .signature(.rsaRaw),
            "algid:sign:RSA:digest-PKCS1v15": .signature(.rsaPKCS1(.digest(nil))),
            "algid:sign:ECDSA:RFC4754": .signature(.ecdsa(.rfc4754, .digest(nil))),
            "algid:sign:ECDSA:digest-RFC4754": .signature(.ecdsa(.rfc4754, .digest(nil))),
            "algid:sign:ECDSA:digest-X962": .signature(.ecdsa(.x962, .digest(nil))),
            "algid:encrypt:RSA:raw": .encryption(.rsaRaw),
            "algid:encrypt:RSA:PKCS1": .encryption(.rsaPKCS1),
            "algid:keyexchange:ECDH": .keyExchange(KeyExchangeAlgorithm(derivation: nil)),
            "algid:keyexchange:ECDHC": .keyExchange(KeyExchangeAlgorithm(derivation: nil)),
        ]
        for digest in DigestAlgorithm.allCases {
            add(digest, to: &all)
        }
        return all
    }()

    private static func add(_ digest: DigestAlgorithm, to all: inout [String: KeyAlgorithm]) {
        let name = digest.rawValue
        // Apple's name for SHA-224 says 24; the salt has 28 bytes all the same.
        let salt = digest == .sha224 ? 24 : digest.byteCount
        for (kind, input, isDigest) in [
            ("message", SignatureInput.message(digest), false), ("digest", .digest(digest), true),
        ] {
            all["algid:sign:RSA:\(kind)-PKCS1v15:\(name)"] = .signature(.rsaPKCS1(input))
            all["algid:sign:RSA:\(kind)-PSS:\(name):\(name):\(salt)"] = .signature(.rsaPSS(digest, isDigest: isDigest))
            all["algid:sign:ECDSA:\(kind)-RFC4754:\(name)"] = .signature(.ecdsa(.rfc4754, input))
            all["algid:sign:ECDSA:\(kind)-X962:\(name)"] = .signature(.ecdsa(.x962, input))
        }
        all["algid:encrypt:RSA:OAEP:\(name)"] = .encryption(.rsaOAEP(digest))
        all["algid:encrypt:RSA:OAEP:\(name):AESGCM"] = .encryption(.rsaOAEPWithAESGCM(digest))
        for agreement in ["ECDH", "ECDHC"] {
            let derivation = "\(agreement):KDFX963:\(name)"
            all["algid:keyexchange:\(derivation)"] = .keyExchange(KeyExchangeAlgorithm(derivation: digest))
            all["algid:encrypt:ECIES:\(derivation):AESGCM"] = .encryption(.ecies(digest, derivesNonce: false))
            // The newer family does without SHA-1.
            guard digest != .sha1 else { continue }
            all["algid:encrypt:ECIES:\(derivation):AESGCM-KDFIV"] = .encryption(.ecies(digest, derivesNonce: true))
        }
    }
}
