#if HTTPClientSupport
import AsyncHTTPClient
import KeychainTLS
import NIOSSL

extension HTTPClient.Configuration {
    /// Shows a certificate of the keychain to servers that ask for one. The key stays in the keychain or its enclave.
    ///
    /// What the configuration says about servers' certificates stays as it is.
    ///
    /// - Throws: An error of NIOSSL for a certificate that BoringSSL cannot read.
    public mutating func show(_ identity: KeychainIdentity) throws {
        var configuration = tlsConfiguration ?? .makeClientConfiguration()
        try configuration.show(identity)
        tlsConfiguration = configuration
    }
}
#endif
