#if HTTPClientSupport
import Certificates
import Crypto
import Foundation
import NIOCore
import NIOSSL
import SwiftASN1

/// The channel binding `tls-server-end-point` (RFC 5929, 4): the hash of the server's certificate, by which a server
/// sees that nobody stands between it and its client.
enum EndPointBinding {
    /// Returns the hash for a connection; nil if the certificate was signed in a way that has none.
    static func hash(of channel: any Channel) async throws -> [UInt8]? {
        guard let certificate = try await channel.nioSSL_peerCertificate().get() else { return nil }
        return hash(of: try certificate.toDERBytes())
    }

    /// - Parameter der: A certificate.
    static func hash(of der: [UInt8]) -> [UInt8]? {
        guard let certificate = try? Certificate(der: Data(der)) else { return nil }
        switch certificate.signatureAlgorithm {
        // MD5 and SHA-1 give way to SHA-256.
        case rsa(4), rsa(5), rsa(11), ecdsaSHA1, ecdsa(2): return Array(SHA256.hash(data: der))
        case rsa(12), ecdsa(3): return Array(SHA384.hash(data: der))
        case rsa(13), ecdsa(4): return Array(SHA512.hash(data: der))
        default: return nil
        }
    }

    /// RFC 8017, appendix C.
    private static func rsa(_ number: UInt) -> ASN1ObjectIdentifier { [1, 2, 840, 113_549, 1, 1, number] }
    /// RFC 5758, 3.2.
    private static func ecdsa(_ number: UInt) -> ASN1ObjectIdentifier { [1, 2, 840, 10_045, 4, 3, number] }
    /// RFC 3279, 2.2.3.
    private static let ecdsaSHA1: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 4, 1]
}
#endif
