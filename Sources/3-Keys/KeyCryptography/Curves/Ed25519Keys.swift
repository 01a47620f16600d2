import Certificates
import Crypto
import FoundationEssentials

/// An Ed25519 private key (RFC 8032), which signs messages and does nothing else.
struct Ed25519PrivateKey: PrivateKeyOperations {
    private let key: Curve25519.Signing.PrivateKey

    init(_ data: KeyData) throws(KeyError) {
        key = try data.withUnsafeBytes { bytes throws(KeyError) in
            do {
                return try Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
            } catch {
                throw .invalidInput(reason: "An Ed25519 key has 32 bytes.")
            }
        }
    }

    func sign(_ input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Data {
        guard algorithm == .ed25519 else { throw .notForEd25519 }
        do {
            return try key.signature(for: input)
        } catch {
            throw .failed(operation: "sign")
        }
    }

    func decrypt(_ ciphertext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data {
        throw .notForEd25519
    }

    func exchange(
        with peer: KeyData, by algorithm: KeyExchangeAlgorithm, requestedSize: Int, sharedInfo: Data
    ) throws(KeyError) -> Data {
        throw .notForEd25519
    }
}

/// An Ed25519 public key.
struct Ed25519PublicKey: PublicKeyOperations {
    private let key: Curve25519.Signing.PublicKey

    init(_ data: KeyData) throws(KeyError) {
        do {
            key = try Curve25519.Signing.PublicKey(rawRepresentation: data.publicRepresentation)
        } catch {
            throw .invalidInput(reason: "An Ed25519 key has 32 bytes.")
        }
    }

    func isValid(_ signature: Data, of input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Bool {
        guard algorithm == .ed25519 else { throw .notForEd25519 }
        return key.isValidSignature(signature, for: input)
    }

    func encrypt(_ plaintext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data {
        throw .notForEd25519
    }
}

extension KeyError {
    fileprivate static let notForEd25519 = KeyError.unsupported(
        reason: "Ed25519 keys sign messages and do nothing else.")
}
