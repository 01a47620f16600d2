import Bytes
import FoundationEssentials

extension ExchangeFile {
    /// The iterations of PBKDF2 with SHA-256, as OWASP recommends in its Password Storage Cheat Sheet of 2023.
    static let iterations: Int32 = 600_000
    // NID_aes_256_cbc (openssl/obj_mac.h). libcrypto then uses PBES2 with this cipher.
    static let cipher: Int32 = 427

    /// Returns a PKCS#12 file with an identity. A passphrase encrypts its key and its certificates.
    ///
    /// - Parameters:
    ///   - key: PKCS#8 PrivateKeyInfo.
    ///   - certificates: DER: the certificate of the key first, then its issuers.
    ///   - name: The name that programs show for the identity.
    ///   - passphrase: UTF-8.
    /// - Throws: ``Failure/undecodable`` if the key or a certificate cannot be read, or if they do not match;
    ///   `SystemLibraryError` if libcrypto is missing.
    package static func encoding(
        key: Data, certificates: [Data], name: String, passphrase: SecretBytes
    ) throws -> Data {
        let crypto = try LibcryptoContext.shared.get()
        defer { crypto.clearErrors() }
        let object = key.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return crypto.exchange.readKey(nil, &position, bytes.count, crypto.context, nil)
        }
        guard let object else { throw Failure.undecodable }
        defer { crypto.exchange.freeReadKey(object) }
        var read: [LibcryptoContext.Object] = []
        defer { read.forEach(crypto.certificates.free) }
        for der in certificates {
            guard let certificate = crypto.certificate(der) else { throw Failure.undecodable }
            read.append(certificate)
        }
        guard let own = read.first, let others = crypto.stacks.make() else { throw Failure.undecodable }
        defer { crypto.stacks.free(others) }
        for certificate in read.dropFirst() {
            guard crypto.stacks.push(others, UnsafeMutableRawPointer(certificate)) > 0 else {
                throw LibcryptoFailure.memory
            }
        }
        let words = try terminated(passphrase)
        let file = words.withUnsafeBytes { words in
            crypto.exchange.create(
                words.bindMemory(to: CChar.self).baseAddress, name, object, own, others, cipher, cipher, iterations,
                iterations, 0, crypto.context, nil)
        }
        guard let file else { throw Failure.undecodable }
        defer { crypto.exchange.free(file) }
        guard let encoded = crypto.encoding({ crypto.exchange.encode(file, $0) }) else { throw Failure.undecodable }
        return encoded
    }
}
