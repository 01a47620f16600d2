import FoundationEssentials
import KeychainModel

extension ExchangeFile {
    /// How often a passphrase is stretched (PBKDF2 with SHA-256: what OWASP recommends in its Password Storage Cheat
    /// Sheet of 2023).
    private static let iterations: Int32 = 600_000
    // NID_aes_256_cbc (openssl/obj_mac.h), which stands for PBES2 with that cipher.
    private static let cipher: Int32 = 427

    /// A PKCS#12 file with an identity, keys and certificates encrypted under a passphrase.
    ///
    /// - Parameters:
    ///   - key: PKCS#8 PrivateKeyInfo.
    ///   - certificates: In DER: the key's own, then those above it.
    ///   - name: What programs call the identity.
    ///   - passphrase: UTF-8.
    /// - Throws: ``Failure/undecodable`` if key and certificate are none or do not belong together,
    ///   `SystemLibraryError` when libcrypto is missing.
    package static func encoding(
        key: Data, certificates: [Data], name: String, passphrase: SecretBytes
    ) throws -> Data {
        let crypto = try Libcrypto.shared.get()
        defer { crypto.clearErrors() }
        let object = key.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return crypto.exchange.readKey(nil, &position, bytes.count, crypto.context, nil)
        }
        guard let object else { throw Failure.undecodable }
        defer { crypto.exchange.freeReadKey(object) }
        var read: [Libcrypto.Object] = []
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
