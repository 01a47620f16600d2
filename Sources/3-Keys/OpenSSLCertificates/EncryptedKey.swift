import Bytes
import FoundationEssentials

/// A private key that is encrypted under a passphrase: EncryptedPrivateKeyInfo (RFC 5958, 3), or the form of OpenSSL
/// before it, whose headers are those of RFC 1421.
package enum EncryptedKey {
    /// The most iterations of a derivation, as for a PKCS#12 file.
    private static let mostIterations = 5_000_000

    /// Returns the key as a PrivateKeyInfo, in memory that is wiped when it is freed.
    ///
    /// - Parameters:
    ///   - pem: The whole document with its first and last line.
    ///   - der: What is between them; nil for the older form, whose derivation has one iteration.
    /// - Throws: ``ExchangeFile/Failure``; a damaged key looks like a wrong passphrase. `SystemLibraryError` if
    ///   libcrypto is missing.
    package static func decrypt(pem: Data, der: Data?, passphrase: SecretBytes) throws -> Data {
        if let der, PassphraseCost.iterations(in: der) > mostIterations {
            throw ExchangeFile.Failure.tooManyIterations
        }
        let crypto = try LibcryptoContext.shared.get()
        defer { crypto.clearErrors() }
        let words = try ExchangeFile.terminated(passphrase)
        let key = pem.withUnsafeBytes { bytes -> LibcryptoContext.Object? in
            guard let reader = crypto.exchange.makeReader(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                return nil
            }
            defer { _ = crypto.exchange.freeReader(reader) }
            return words.withUnsafeBytes {
                crypto.exchange.readText(reader, nil, nil, $0.baseAddress, crypto.context, nil)
            }
        }
        guard let key else { throw ExchangeFile.Failure.wrongPassphrase }
        defer { crypto.exchange.freeReadKey(key) }
        guard let info = crypto.exchange.info(key) else { throw ExchangeFile.Failure.undecodable }
        defer { crypto.exchange.freeKey(info) }
        guard let encoded = crypto.encoding({ crypto.exchange.encodeKey(info, $0) }) else {
            throw ExchangeFile.Failure.undecodable
        }
        return .wipedWhenFreed(encoded)
    }
}
