#if HTTPClientSupport
import AsyncHTTPClient
import KeychainServices
import KeychainTLS
import NIOCore
import NIOSSL

extension HTTPClient.Configuration {
    /// Sends requests only to servers whose certificate `SecTrust` trusts. This is how a program pins a certificate, an
    /// authority or a key: `URLSession` on Linux shows a program no certificate.
    ///
    /// AsyncHTTPClient checks the path and the host as before, against `tlsConfiguration.trustRoots`. After the
    /// handshake, and before the first request goes out, the question is evaluated too. If the answer is no, the
    /// connection is closed, and the request fails with `UntrustedServer`. Addresses without TLS fail the same way.
    ///
    /// A connection that fails is then not tried again, because the answer would be the same
    /// (`connectionPool.retryConnectionEstablishment`).
    ///
    /// - Parameter question: Returns what is asked about a server's certificate, such as its policies and anchors; nil
    ///   refuses the server. AsyncHTTPClient shows the server's own certificate and no others, so certificates between
    ///   it and the anchors come from the program.
    public mutating func requireTrust(_ question: @escaping @Sendable (SecCertificate) -> SecTrust?) {
        let check: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.nioSSL_peerCertificate().flatMap { certificate in
                let promise = channel.eventLoop.makePromise(of: Void.self)
                guard let certificate = certificate.flatMap(SecCertificate.shown), let trust = question(certificate)
                else {
                    promise.fail(UntrustedServer(reason: "the program does not know the server's certificate"))
                    return promise.futureResult
                }
                trust.evaluate(promise)
                return promise.futureResult
            }.flatMapError { error in
                let error = error as? UntrustedServer ?? UntrustedServer(reason: "it has no TLS (\(error))")
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        http1_1ConnectionDebugInitializer = check
        http2ConnectionDebugInitializer = check
        connectionPool.retryConnectionEstablishment = false
    }
}
#endif
