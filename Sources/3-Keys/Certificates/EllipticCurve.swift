import Crypto
import FoundationEssentials
import SwiftASN1

/// The prime curves of SEC 2 that Apple's elliptic-curve keys use.
package enum EllipticCurve: CaseIterable, Hashable, Sendable {
    case p192, p224, p256, p384, p521

    package var sizeInBits: Int {
        switch self {
        case .p192: 192
        case .p224: 224
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }

    /// The length of one coordinate in bytes.
    package var coordinateByteCount: Int { (sizeInBits + 7) / 8 }
    /// The length of `04 ‖ X ‖ Y` in bytes.
    package var publicByteCount: Int { 2 * coordinateByteCount + 1 }
    /// The length of `04 ‖ X ‖ Y ‖ K` in bytes.
    package var privateByteCount: Int { 3 * coordinateByteCount + 1 }

    var objectIdentifier: ASN1ObjectIdentifier {
        switch self {
        case .p192: .secp192r1
        case .p224: .secp224r1
        case .p256: .NamedCurves.secp256r1
        case .p384: .NamedCurves.secp384r1
        case .p521: .NamedCurves.secp521r1
        }
    }

    /// Returns whether the uncompressed point is on the curve.
    ///
    /// Checks only the form for P-192 and P-224, which swift-crypto does not have.
    func accepts(publicKey point: Data) -> Bool {
        guard point.first == 0x04 else { return false }
        return switch self {
        case .p192, .p224: true
        case .p256: (try? P256.Signing.PublicKey(x963Representation: point)) != nil
        case .p384: (try? P384.Signing.PublicKey(x963Representation: point)) != nil
        case .p521: (try? P521.Signing.PublicKey(x963Representation: point)) != nil
        }
    }

    /// Returns whether the scalar is in range and the point is its public key. Checks as much as
    /// ``accepts(publicKey:)``.
    func accepts(privateKey key: Data) -> Bool {
        guard key.first == 0x04 else { return false }
        return switch self {
        case .p192, .p224: true
        case .p256: (try? P256.Signing.PrivateKey(x963Representation: key)) != nil
        case .p384: (try? P384.Signing.PrivateKey(x963Representation: key)) != nil
        case .p521: (try? P521.Signing.PrivateKey(x963Representation: key)) != nil
        }
    }
}
