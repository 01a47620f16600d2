import Bytes
import Certificates
import Crypto
import FoundationEssentials

extension SoftwareKeys {
    /// The sizes of new RSA keys in bits.
    package static let rsaSizes = 512...8192

    /// Returns a new private key.
    ///
    /// - Throws: ``KeyError/invalidInput(reason:)`` for a size that this type of key cannot have.
    package static func randomKey(type: KeyData.KeyType, sizeInBits: Int) throws(KeyError) -> KeyData {
        let secret: SecretBytes
        switch type {
        case .ellipticCurve:
            guard let curve = EllipticCurve.allCases.first(where: { $0.sizeInBits == sizeInBits }) else {
                throw .invalidInput(reason: "Elliptic-curve keys have 192, 224, 256, 384 or 521 bits.")
            }
            secret = try curve.randomKey()
        case .rsa:
            guard rsaSizes.contains(sizeInBits) else {
                throw .invalidInput(reason: "RSA keys have from \(rsaSizes.lowerBound) to \(rsaSizes.upperBound) bits.")
            }
            secret = try RSAPrivateKey.randomKey(sizeInBits: sizeInBits)
        case .ed25519:
            guard sizeInBits == 256 else { throw .invalidInput(reason: "Ed25519 keys have 256 bits.") }
            let bytes = Data.wipedWhenFreed(Curve25519.Signing.PrivateKey().rawRepresentation)
            secret = try bytes.withBytes { bytes throws(KeyError) in try SecretBytes.copy(of: bytes) }
        }
        do {
            let key = try KeyData(secret.data, type: type, keyClass: .private)
            guard key.sizeInBits == sizeInBits else {
                throw KeyError.invalidInput(
                    reason: "OpenSSL makes no RSA keys with \(sizeInBits) bits; ask for an even size.")
            }
            return key
        } catch let error as KeyError {
            throw error
        } catch {
            throw .failed(operation: "make a key")
        }
    }
}
