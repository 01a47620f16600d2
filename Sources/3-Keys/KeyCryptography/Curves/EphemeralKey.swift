import Bytes
import Certificates
import FoundationEssentials

/// A key pair that is made for one key agreement.
protocol EphemeralKey {
    /// The public half as `04 ‖ X ‖ Y`.
    var point: Data { get }
    func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes
}

extension EllipticCurve {
    func ephemeralKey() throws(KeyError) -> any EphemeralKey {
        switch self {
        case .p192, .p224: try LibcryptoCurvePrivateKey(randomOn: self)
        case .p256: SwiftCryptoEphemeralKey<P256Keys>()
        case .p384: SwiftCryptoEphemeralKey<P384Keys>()
        case .p521: SwiftCryptoEphemeralKey<P521Keys>()
        }
    }

    /// Returns a new key as `04 ‖ X ‖ Y ‖ K`.
    func randomKey() throws(KeyError) -> SecretBytes {
        switch self {
        case .p192, .p224: return try LibcryptoCurvePrivateKey(randomOn: self).representation()
        case .p256: return try Self.randomKey(P256Keys.self)
        case .p384: return try Self.randomKey(P384Keys.self)
        case .p521: return try Self.randomKey(P521Keys.self)
        }
    }

    private static func randomKey<Keys: SwiftCryptoKeys>(_ keys: Keys.Type) throws(KeyError) -> SecretBytes {
        var representation = Keys.Signing(compactRepresentable: false).x963Representation
        defer { representation.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return try representation.withBytes(SecretBytes.copy)
    }
}
