#if TLSSupport
import Foundation
import KeychainServices
import NIOCore
import NIOSSL

/// The server's certificate is not trusted.
public struct UntrustedServer: Error, CustomStringConvertible {
    /// The end of a sentence that begins with the server.
    public let reason: String

    public init(reason: String) { self.reason = reason }

    public var description: String { "the server is not trusted: \(reason)" }
}

extension SecTrust {
    /// A check of a TLS server's certificates with `SecTrust`, in the place of BoringSSL's:
    ///
    ///     NIOSSLClientHandler(
    ///         context: context, serverHostname: host,
    ///         customVerificationCallback: SecTrust.verification(of: host) { trust in
    ///             SecTrustSetAnchorCertificates(trust, anchors as CFArray)
    ///         })
    ///
    /// The event loop goes on while `SecTrust` is at work, also if it waits for an OCSP responder.
    ///
    /// - Parameters:
    ///   - host: The name or address that the certificate must have.
    ///   - prepare: Changes the question, such as its policies and anchors.
    public static func verification(
        of host: String, _ prepare: @escaping @Sendable (SecTrust) -> Void
    ) -> @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResult>) -> Void {
        { shown, promise in
            var created: SecTrust?
            let certificates = shown.compactMap(SecCertificate.shown)
            guard certificates.count == shown.count,
                SecTrustCreateWithCertificates(
                    certificates as NSArray, SecPolicyCreateSSL(true, host as NSString), &created) == errSecSuccess,
                let trust = created
            else { return promise.succeed(.failed) }
            prepare(trust)
            let answer = promise.futureResult.eventLoop.makePromise(of: Void.self)
            answer.futureResult.map { NIOSSLVerificationResult.certificateVerified }.cascade(to: promise)
            trust.evaluate(answer)
        }
    }

    /// Completes a promise: with ``UntrustedServer`` if the answer is no.
    public func evaluate(_ promise: EventLoopPromise<Void>) {
        _ = SecTrustEvaluateAsyncWithError(self, .global()) { _, isTrusted, error in
            if isTrusted {
                promise.succeed()
            } else {
                promise.fail(UntrustedServer(reason: error?.localizedDescription ?? "without a reason"))
            }
        }
    }
}

extension SecCertificate {
    /// The certificate that a TLS peer showed; nil if it cannot be read.
    public static func shown(_ certificate: NIOSSLCertificate) -> SecCertificate? {
        guard let bytes = try? certificate.toDERBytes() else { return nil }
        return SecCertificateCreateWithData(nil, Data(bytes) as NSData)
    }
}
#endif
