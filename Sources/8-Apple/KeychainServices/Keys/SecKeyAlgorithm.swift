import Foundation
import KeyCryptography

/// An algorithm for one of the operations of a key.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    package let name: KeyAlgorithmName

    init(_ name: String) {
        self.name = KeyAlgorithmName(rawValue: name)
    }

    /// The algorithm with this name; whether there is one shows when a key is asked.
    public init(rawValue: CFString) {
        self.init(rawValue as String)
    }

    /// The algorithm with this name; whether there is one shows when a key is asked.
    public init(_ rawValue: CFString) {
        self.init(rawValue as String)
    }

    /// Apple's name, such as `algid:sign:ECDSA:message-X962:SHA256`.
    public var rawValue: CFString { name.rawValue as NSString }
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
