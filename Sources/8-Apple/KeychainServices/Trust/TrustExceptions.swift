import Certificates
import Crypto
import Foundation
import OpenSSLCertificates

/// The path that a user has looked at and accepts as it is, for what it was meant for.
///
/// A check ends at the first failure, which may hide another: that of a certificate nobody knows hides whether it is
/// for the host. So what else can change, the host and whether the certificates are still valid, is accepted with the
/// path.
enum TrustExceptions {
    /// SHA-256 over what is accepted.
    static func digest(of answer: TrustAnswer) -> Data {
        var digest = SHA256()
        for certificate in answer.chain.map(\.certificate) {
            SHA256.hash(data: certificate.encoded).withUnsafeBytes { digest.update(bufferPointer: $0) }
            let isValid = certificate.notBefore <= answer.date && answer.date <= certificate.notAfter
            digest.update(data: [isValid ? 1 : 0])
        }
        for purpose in answer.purposes {
            // With a digest for the name, which could be anything.
            let (kind, host): (UInt8, String?) =
                switch purpose {
                case .any: (0, nil)
                case .server(let host): (1, host)
                case .client: (2, nil)
                }
            digest.update(data: [2, kind, host == nil ? 0 : 1])
            SHA256.hash(data: Data((host ?? "").utf8)).withUnsafeBytes { digest.update(bufferPointer: $0) }
        }
        digest.update(data: [3] + Array("\(answer.failure?.status ?? 0)".utf8))
        return Data(digest.finalize())
    }
}
