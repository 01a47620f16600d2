import Certificates
import Crypto
import Foundation

/// The path that a user has looked at and accepts as it is.
enum TrustExceptions {
    /// SHA-256 over the SHA-256 of each certificate.
    static func digest(of chain: [SecCertificate]) -> Data {
        var digest = SHA256()
        for certificate in chain {
            SHA256.hash(data: certificate.certificate.encoded).withUnsafeBytes { digest.update(bufferPointer: $0) }
        }
        return Data(digest.finalize())
    }
}
