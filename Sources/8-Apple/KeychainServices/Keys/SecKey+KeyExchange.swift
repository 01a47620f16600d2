import Foundation
import KeyCryptography
import VaultKeys

/// The keys of the parameters of ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)``.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    private let name: String

    private init(name: String) { self.name = name }

    /// The parameter with this name.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// The parameter with this name.
    public init(_ rawValue: CFString) {
        name = rawValue as String
    }

    /// Apple's name, under which the parameter is looked for.
    public var rawValue: CFString { name as NSString }

    /// How many bytes to derive. A number; algorithms with a key derivation function cannot do without.
    public static let requestedSize = SecKeyKeyExchangeParameter(name: "requestedSize")
    /// What goes into the derivation beside the shared secret. Data; absent for none.
    public static let sharedInfo = SecKeyKeyExchangeParameter(name: "sharedInfo")
}

/// What a private key and somebody else's public key share.
///
/// - Parameters:
///   - privateKey: An elliptic-curve private key.
///   - algorithm: How to derive the result: not at all, which gives the x coordinate as long as a coordinate is, or
///     by the KDF of ANSI X9.63.
///   - publicKey: A public key on the same curve.
///   - parameters: By the names of ``SecKeyKeyExchangeParameter``.
///   - error: Where an error is stored: ``errSecParam`` if the private key does not agree on keys with this
///     algorithm, the public key is not one on the same curve, or a parameter is missing or of another type; for a
///     key that is kept in an enclave also what keeps it from being used.
/// - Returns: The shared bytes, or `nil` with an error.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    keyResult(error, text: KeyFailureText(key: privateKey, algorithm: algorithm, operation: .keyExchange).text) {
        try privateKey.key.exchange(with: publicKey.key, by: algorithm.name) { () throws(KeyError) in
            let parameters = try KeyExchangeParameters(parameters)
            return (parameters.requestedSize, parameters.sharedInfo)
        } as NSData
    }
}

/// What a key exchange with a derivation is told, as a dictionary by the names of ``SecKeyKeyExchangeParameter``.
package struct KeyExchangeParameters: Sendable {
    package let requestedSize: Int
    package let sharedInfo: Data

    package init(_ dictionary: NSDictionary) throws(KeyError) {
        var requestedSize: Int?
        var sharedInfo = Data()
        for (key, value) in dictionary {
            // A dictionary made of Swift's names has these for keys and not strings.
            let parameter =
                key as? SecKeyKeyExchangeParameter
                ?? (key as? String).map { SecKeyKeyExchangeParameter($0 as NSString) }
            switch parameter {
            case .requestedSize:
                guard !AttributeCoercion.isBoolean(value), let number = value as? NSNumber,
                    let size = Int(exactly: number.doubleValue)
                else { throw .invalidInput(reason: "The requested size is not a whole number.") }
                requestedSize = size
            case .sharedInfo:
                guard let data = value as? Data else {
                    throw .invalidInput(reason: "The shared information is not data.")
                }
                sharedInfo = data
            default:
                break
            }
        }
        guard let requestedSize else {
            throw .invalidInput(reason: "SecKeyKeyExchangeParameter.requestedSize says how many bytes to derive.")
        }
        self.requestedSize = requestedSize
        self.sharedInfo = sharedInfo
    }
}
