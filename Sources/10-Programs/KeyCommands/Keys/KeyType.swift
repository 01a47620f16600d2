import ArgumentParser
import Certificates
import KeychainModel

/// The kinds of keys that can be made, by names that say the algorithm and the size.
enum KeyType: String, CaseIterable, ExpressibleByArgument {
    case p256, p384, p521, ed25519, rsa2048, rsa3072, rsa4096, mldsa65, mldsa87, mlkem768, mlkem1024

    /// As in `kSecAttrKeyType`; nil for keys that only an enclave has.
    var type: KeyData.KeyType? {
        switch self {
        case .p256, .p384, .p521: .ellipticCurve
        case .ed25519: .ed25519
        case .rsa2048, .rsa3072, .rsa4096: .rsa
        case .mldsa65, .mldsa87, .mlkem768, .mlkem1024: nil
        }
    }

    /// The parameter set of ML-DSA or ML-KEM; nil for other keys.
    var postQuantum: PostQuantumKind? { PostQuantumKind(rawValue: rawValue) }

    var sizeInBits: Int {
        switch self {
        case .p256, .ed25519: 256
        case .p384: 384
        case .p521: 521
        case .rsa2048: 2048
        case .rsa3072: 3072
        case .rsa4096: 4096
        case .mldsa65, .mldsa87, .mlkem768, .mlkem1024: Int(clamping: postQuantum?.keySize ?? 0)
        }
    }

    /// Returns the name of a key, also of a kind that is not made here.
    static func name(_ type: KeyData.KeyType, sizeInBits: Int) -> String {
        switch type {
        case .rsa: "rsa\(sizeInBits)"
        case .ellipticCurve: "p\(sizeInBits)"
        case .ed25519: "ed25519"
        }
    }

    /// The name of the key with these attributes.
    static func name(_ attributes: ItemAttributes) -> String {
        if let kind = PostQuantumKind(attributes) { return kind.rawValue }
        if attributes[.keyClass] == .number(2), case .number(let size) = attributes["bsiz"] {
            // kSecAttrKeyTypeAES
            return attributes[.type] == .number(0x8000_0001) ? "aes\(size)" : "hmac\(size)"
        }
        guard case .number(let type) = attributes[.type], case .number(let size) = attributes["bsiz"],
            let known = Int(exactly: type).flatMap(KeyData.KeyType.init(rawValue:))
        else { return "unknown" }
        return name(known, sizeInBits: Int(truncatingIfNeeded: size))
    }
}
