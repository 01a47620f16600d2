import FoundationEssentials

/// The padding of a message to the size of the modulus.
enum RSAPadding: Equatable {
    case none
    /// PKCS#1 v1.5; for signatures with the DigestInfo of the hash function, or without one for nil.
    case pkcs1(DigestAlgorithm?)
    case pss(DigestAlgorithm)
    case oaep(DigestAlgorithm)

    /// The options of libcrypto's contexts, as in `openssl pkeyutl -pkeyopt`.
    var options: [(name: String, value: String)] {
        switch self {
        case .none:
            [("rsa_padding_mode", "none")]
        case .pkcs1(nil):
            [("rsa_padding_mode", "pkcs1")]
        case .pkcs1(let digest?):
            [("rsa_padding_mode", "pkcs1"), ("digest", digest.rawValue)]
        case .pss(let digest):
            [
                ("rsa_padding_mode", "pss"), ("digest", digest.rawValue), ("rsa_mgf1_md", digest.rawValue),
                ("rsa_pss_saltlen", "digest"),
            ]
        case .oaep(let digest):
            [
                ("rsa_padding_mode", "oaep"), ("rsa_oaep_md", digest.rawValue), ("rsa_mgf1_md", digest.rawValue),
            ]
        }
    }
}

extension SignatureAlgorithm {
    /// Returns the bytes that RSA signs for an input, and their padding.
    func rsaInput(_ input: Data, blockSize: Int) throws(KeyError) -> (input: Data, padding: RSAPadding) {
        switch self {
        case .ecdsa, .ed25519:
            throw .notForRSA
        case .rsaRaw:
            guard input.count <= blockSize else { throw .tooLong }
            return (input.paddedLeft(to: blockSize), .none)
        case .rsaPKCS1(let kind):
            return (try kind.digest(of: input), .pkcs1(kind.named))
        case .rsaPSS(let digest, let isDigest):
            let kind: SignatureInput = isDigest ? .digest(digest) : .message(digest)
            return (try kind.digest(of: input), .pss(digest))
        }
    }
}

extension SignatureInput {
    /// The hash function of the digest; nil if it is unknown.
    fileprivate var named: DigestAlgorithm? {
        switch self {
        case .message(let digest): digest
        case .digest(let digest): digest
        }
    }
}

extension EncryptionAlgorithm {
    var rsaPadding: RSAPadding {
        get throws(KeyError) {
            switch self {
            case .rsaRaw: return .none
            case .rsaPKCS1: return .pkcs1(nil)
            case .rsaOAEP(let digest), .rsaOAEPWithAESGCM(let digest): return .oaep(digest)
            case .ecies: throw .notForRSA
            }
        }
    }
}

extension Data {
    /// Returns the same number in `count` bytes.
    func paddedLeft(to count: Int) -> Data {
        self.count < count ? Data(count: count - self.count) + self : self
    }
}

extension KeyError {
    fileprivate static let notForRSA = KeyError.unsupported(reason: "RSA keys have no such algorithm.")
    static let tooLong = KeyError.invalidInput(reason: "The data is too long for the key and the padding.")
}
