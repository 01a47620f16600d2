import Crypto
import FoundationEssentials

/// The parts of an Ed25519 key (RFC 8032, 5.1.5): 32 bytes each.
struct Ed25519KeyForm: KeyForm {
    let sizeInBits = 256
    let publicRepresentation: Data

    init(_ bytes: Data, keyClass: KeyData.KeyClass) throws(CertificateError) {
        switch keyClass {
        case .public:
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
                throw CertificateError(malformed: "Ed25519 public key")
            }
            publicRepresentation = key.rawRepresentation
        case .private:
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes) else {
                throw CertificateError(malformed: "Ed25519 private key")
            }
            publicRepresentation = key.publicKey.rawRepresentation
        }
    }
}
