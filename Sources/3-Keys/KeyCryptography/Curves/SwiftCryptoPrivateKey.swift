import Bytes
import Certificates
import Crypto
import FoundationEssentials

/// A private key on P-256, P-384 or P-521.
struct SwiftCryptoPrivateKey<Keys: SwiftCryptoKeys>: CurvePrivateKey {
    private let signing: Keys.Signing
    private let agreement: Keys.Agreement

    init(_ key: KeyData) throws(KeyError) {
        (signing, agreement) = try key.withUnsafeBytes { (bytes) throws(KeyError) in
            do {
                return (
                    try Keys.Signing(x963Representation: bytes), try Keys.Agreement(x963Representation: bytes)
                )
            } catch {
                throw .invalidInput(reason: "The halves of the key do not belong together.")
            }
        }
    }

    var curve: EllipticCurve { Keys.curve }

    func signature(ofDigest digest: Data) throws(KeyError) -> Data {
        do {
            return try signing.signature(for: GivenDigest(bytes: digest)).rawRepresentation
        } catch {
            throw .failed(operation: "sign")
        }
    }

    func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes {
        try Self.sharedSecret(of: agreement, with: point)
    }

    fileprivate static func sharedSecret(
        of agreement: Keys.Agreement, with point: Data
    ) throws(KeyError) -> SecretBytes {
        let secret: SharedSecret
        do {
            let peer = try Keys.Agreement.Public(x963Representation: point)
            secret = try agreement.sharedSecretFromKeyAgreement(with: peer)
        } catch {
            throw .notOnCurve
        }
        return try secret.withUnsafeBytes { bytes in
            Result { () throws(KeyError) in try SecretBytes.copy(of: bytes) }
        }.get()
    }
}

/// A key on P-256, P-384 or P-521 that encrypts one message.
struct SwiftCryptoEphemeralKey<Keys: SwiftCryptoKeys>: EphemeralKey {
    private let agreement = Keys.Agreement(compactRepresentable: false)

    var point: Data { agreement.publicKey.x963Representation }

    func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes {
        try SwiftCryptoPrivateKey<Keys>.sharedSecret(of: agreement, with: point)
    }
}

extension KeyError {
    static let notOnCurve = KeyError.invalidInput(reason: "The other key is not a point on the same curve.")
}
