import CPKCS11

/// The families of keys, by Apple's numbers.
enum KeyFamily: Sendable {
    case rsa, ellipticCurve, edwards, mldsa, mlkem, aes, genericSecret

    init?(_ number: Int64) {
        switch number {
        case 42: self = .rsa
        case 73: self = .ellipticCurve
        case 105: self = .edwards
        case 110: self = .mlkem
        case 111: self = .mldsa
        case 0x8000_0001: self = .aes
        case 0: self = .genericSecret
        default: return nil
        }
    }

    /// Apple's number.
    var number: Int64 {
        switch self {
        case .rsa: 42
        case .ellipticCurve: 73
        case .edwards: 105
        case .mlkem: 110
        case .mldsa: 111
        case .aes: 0x8000_0001
        case .genericSecret: 0
        }
    }

    /// The family of secret keys of a type; nil for another type.
    init?(secretKeyType: CK_ULONG) {
        if secretKeyType == KeyKind.aes {
            self = .aes
        } else if secretKeyType == KeyKind.genericSecret || KeyKind.hmac.contains(secretKeyType) {
            self = .genericSecret
        } else {
            return nil
        }
    }

    /// Whether version 2.40 of the standard has a name for it.
    var isOld: Bool { self != .edwards && self != .mldsa && self != .mlkem }

    /// CKK_…
    var keyType: CK_ULONG {
        switch self {
        case .rsa: KeyKind.rsa
        case .ellipticCurve: KeyKind.ec
        case .edwards: KeyKind.edwards
        case .mldsa: KeyKind.mldsa
        case .mlkem: KeyKind.mlkem
        case .aes: KeyKind.aes
        case .genericSecret: KeyKind.genericSecret
        }
    }
}
