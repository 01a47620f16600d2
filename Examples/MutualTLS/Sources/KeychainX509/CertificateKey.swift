import Crypto
import Foundation
import KeychainServices
import KeychainTLS
import NIOPosix
import SwiftASN1
import X509
import _CryptoExtras

/// A private key of the keychain as the key that signs requests and certificates of swift-certificates:
///
///     Certificate.PrivateKey(try CertificateKey(key))
public struct CertificateKey: CustomPrivateKey {
    /// The key in the keychain, which is also what TLS takes.
    public let privateKey: KeychainPrivateKey
    /// Its public half.
    public let publicKey: Certificate.PublicKey

    /// - Throws: An error of swift-crypto if it cannot read the public half that the keychain returned.
    public init(_ key: KeychainPrivateKey) throws {
        privateKey = key
        let bytes = key.publicKeyBytes
        publicKey =
            switch key.kind {
            case .rsa: .init(try _RSA.Signing.PublicKey(derRepresentation: bytes))
            case .p256: .init(try P256.Signing.PublicKey(x963Representation: bytes))
            case .p384: .init(try P384.Signing.PublicKey(x963Representation: bytes))
            case .p521: .init(try P521.Signing.PublicKey(x963Representation: bytes))
            }
    }

    /// The hash function is as strong as the curve.
    public var defaultSignatureAlgorithm: Certificate.SignatureAlgorithm {
        switch privateKey.kind {
        case .p256: .ecdsaWithSHA256
        case .p384: .ecdsaWithSHA384
        case .p521: .ecdsaWithSHA512
        case .rsa: .sha256WithRSAEncryption
        }
    }

    /// SHA-256, SHA-384 and SHA-512; certificates tie no curve to one of them.
    public var supportedSignatureAlgorithms: [Certificate.SignatureAlgorithm] {
        switch privateKey.kind {
        case .p256, .p384, .p521: [.ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512]
        case .rsa: [.sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption]
        }
    }

    /// Signs in the calling thread, which waits.
    public func signSynchronously(
        bytes: some DataProtocol, signatureAlgorithm: Certificate.SignatureAlgorithm
    ) throws -> Certificate.Signature {
        guard supportedSignatureAlgorithms.contains(signatureAlgorithm),
            let algorithm = SecKeyAlgorithm(signatureAlgorithm)
        else {
            throw KeychainKeyError("This key does not sign with \(signatureAlgorithm).")
        }
        let signature = try privateKey.signature(of: Data(bytes), by: algorithm)
        return try Certificate.Signature(
            signatureAlgorithm: signatureAlgorithm, signatureBytes: ASN1BitString(bytes: ArraySlice(signature)))
    }

    /// Signs in a thread of NIO's pool.
    public func signAsynchronously(
        bytes: some DataProtocol & Sendable, signatureAlgorithm: Certificate.SignatureAlgorithm
    ) async throws -> Certificate.Signature {
        try await NIOThreadPool.singleton.runIfActive {
            try signSynchronously(bytes: bytes, signatureAlgorithm: signatureAlgorithm)
        }
    }

    /// Never written.
    public static var defaultPEMDiscriminator: String { "PRIVATE KEY" }

    /// - Throws: Always: a reference to a key has no DER form, and so none in PEM.
    public func serialize(into coder: inout DER.Serializer) throws {
        throw KeychainKeyError("A key of the keychain is not written to a file.")
    }
}

extension SecKeyAlgorithm {
    /// The algorithm that hashes and signs as the certificates' does.
    init?(_ algorithm: Certificate.SignatureAlgorithm) {
        switch algorithm {
        case .ecdsaWithSHA256: self = .ecdsaSignatureMessageX962SHA256
        case .ecdsaWithSHA384: self = .ecdsaSignatureMessageX962SHA384
        case .ecdsaWithSHA512: self = .ecdsaSignatureMessageX962SHA512
        case .sha256WithRSAEncryption: self = .rsaSignatureMessagePKCS1v15SHA256
        case .sha384WithRSAEncryption: self = .rsaSignatureMessagePKCS1v15SHA384
        case .sha512WithRSAEncryption: self = .rsaSignatureMessagePKCS1v15SHA512
        default: return nil
        }
    }
}
