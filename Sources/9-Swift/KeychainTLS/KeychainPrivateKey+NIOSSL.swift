#if TLSSupport
import Foundation
import KeychainServices
import NIOCore
import NIOPosix
import NIOSSL

/// The key of a TLS server or client:
///
///     configuration.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: key))
///
/// A thread of NIO's pool signs. The event loop does not wait.
extension KeychainPrivateKey: NIOSSLCustomPrivateKey {
    /// From the most to the least preferred. TLS 1.3 ties each curve to one hash function (RFC 8446, 4.2.3).
    public var signatureAlgorithms: [NIOSSL.SignatureAlgorithm] {
        switch kind {
        case .p256: [.ecdsaSecp256R1Sha256]
        case .p384: [.ecdsaSecp384R1Sha384]
        case .p521: [.ecdsaSecp521R1Sha512]
        case .rsa:
            [
                .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512, .rsaPkcs1Sha256, .rsaPkcs1Sha384,
                .rsaPkcs1Sha512,
            ]
        }
    }

    /// Signs a handshake; called by NIOSSL.
    public func sign(
        channel: any Channel, algorithm: NIOSSL.SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        guard signatureAlgorithms.contains(algorithm), let algorithm = SecKeyAlgorithm(algorithm) else {
            return channel.eventLoop.makeFailedFuture(KeychainKeyError("This key does not sign with \(algorithm)."))
        }
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) {
            ByteBuffer(bytes: try signature(of: Data(data.readableBytesView), by: algorithm))
        }
    }

    /// Opens the secret of a handshake of TLS 1.2 with RSA key exchange; called by NIOSSL for nothing else.
    public func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        guard kind == .rsa else {
            return channel.eventLoop.makeFailedFuture(KeychainKeyError("Only RSA keys decrypt."))
        }
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) {
            ByteBuffer(bytes: try decrypted(Data(data.readableBytesView)))
        }
    }
}

extension SecKeyAlgorithm {
    /// The algorithm that hashes and signs as TLS's does.
    init?(_ algorithm: NIOSSL.SignatureAlgorithm) {
        switch algorithm {
        case .ecdsaSecp256R1Sha256: self = .ecdsaSignatureMessageX962SHA256
        case .ecdsaSecp384R1Sha384: self = .ecdsaSignatureMessageX962SHA384
        case .ecdsaSecp521R1Sha512: self = .ecdsaSignatureMessageX962SHA512
        case .rsaPssRsaeSha256: self = .rsaSignatureMessagePSSSHA256
        case .rsaPssRsaeSha384: self = .rsaSignatureMessagePSSSHA384
        case .rsaPssRsaeSha512: self = .rsaSignatureMessagePSSSHA512
        case .rsaPkcs1Sha256: self = .rsaSignatureMessagePKCS1v15SHA256
        case .rsaPkcs1Sha384: self = .rsaSignatureMessagePKCS1v15SHA384
        case .rsaPkcs1Sha512: self = .rsaSignatureMessagePKCS1v15SHA512
        default: return nil
        }
    }
}
#endif
