import Bytes
import FoundationEssentials

/// Files for other programs, with the keys that a keychain has: PKCS#12 with any number of them, and PKCS#8.
package enum IdentitiesFile {
    package struct Identity {
        /// PKCS#8 PrivateKeyInfo.
        package var key: Data
        /// DER; nil for a key without a certificate.
        package var certificate: Data?
        /// The name that programs show.
        package var name: String

        package init(key: Data, certificate: Data?, name: String) {
            (self.key, self.certificate, self.name) = (key, certificate, name)
        }
    }

    /// Returns a PKCS#12 file.
    ///
    /// - Parameters:
    ///   - certificates: DER of those without a key in the file.
    ///   - passphrase: UTF-8.
    package static func encoding(
        _ identities: [Identity], certificates: [Data], passphrase: SecretBytes
    ) throws -> Data {
        try Libcrypto.use { crypto in
            let words = try ExchangeFile.terminated(passphrase)
            return try words.withUnsafeBytes { words in
                let phrase = words.bindMemory(to: CChar.self).baseAddress
                let bags = Bags(crypto)
                for (number, identity) in identities.enumerated() {
                    try bags.add(identity, UInt8(clamping: number), phrase)
                }
                for certificate in try crypto.certificates(certificates) {
                    guard crypto.messages.addCertificate(&bags.certificates, certificate) != nil else {
                        throw LibcryptoFailure.memory
                    }
                }
                return try bags.file(phrase)
            }
        }
    }

    /// Returns a private key under a passphrase (EncryptedPrivateKeyInfo, RFC 5958, 3).
    package static func encrypting(key: Data, passphrase: SecretBytes) throws -> Data {
        try Libcrypto.use { crypto in
            let key = try crypto.key(key)
            let info = try crypto.keep(crypto.context.exchange.info(key), crypto.context.exchange.freeKey)
            let words = try ExchangeFile.terminated(passphrase)
            let encrypted = words.withUnsafeBytes { words in
                crypto.messages.encryptKey(
                    -1, crypto.messages.aes256(), words.bindMemory(to: CChar.self).baseAddress,
                    Int32(clamping: passphrase.count), nil, 0, ExchangeFile.iterations, info, crypto.context.context,
                    nil)
            }
            guard let encrypted else { throw LibcryptoFailure.memory }
            defer { crypto.messages.freeEncryptedKey(encrypted) }
            guard let encoded = crypto.context.encoding({ crypto.context.exchange.encodeEncryptedKey(encrypted, $0) })
            else { throw LibcryptoFailure.memory }
            return encoded
        }
    }
}

/// The parts of a PKCS#12 file that is being made.
private final class Bags {
    typealias Object = LibcryptoContext.Object

    private let crypto: Libcrypto
    var certificates: Object?
    private var keys: Object?
    private var safes: Object?

    init(_ crypto: Libcrypto) { self.crypto = crypto }

    deinit {
        let exchange = crypto.context.exchange
        for bags in [certificates, keys] where bags != nil { crypto.context.stacks.freeAll(bags, exchange.freeBag) }
        if safes != nil { crypto.context.stacks.freeAll(safes, exchange.freeSafe) }
    }

    /// - Parameter number: What says which certificate is that of the key.
    func add(_ identity: IdentitiesFile.Identity, _ number: UInt8, _ phrase: UnsafePointer<CChar>?) throws {
        let name = Array(identity.name.utf8CString)
        let length = Int32(clamping: name.count - 1)
        let messages = crypto.messages
        var identifier = number
        let key = try crypto.key(identity.key)
        let bag = messages.addKey(
            &keys, key, 0, ExchangeFile.iterations, ExchangeFile.cipher, phrase, crypto.context.context, nil)
        guard let bag, messages.identifyBag(bag, &identifier, 1) == 1, messages.nameBag(bag, name, length) == 1 else {
            throw LibcryptoFailure.memory
        }
        guard let der = identity.certificate else { return }
        let certificate = try crypto.certificates([der]).first
        guard messages.setIdentifier(certificate, &identifier, 1) == 1,
            messages.setName(certificate, name, length) == 1,
            messages.addCertificate(&certificates, certificate) != nil
        else { throw LibcryptoFailure.memory }
    }

    func file(_ phrase: UnsafePointer<CChar>?) throws -> Data {
        let (messages, context) = (crypto.messages, crypto.context)
        let iterations = ExchangeFile.iterations
        if let certificates {
            let isAdded = messages.addSafe(
                &safes, certificates, ExchangeFile.cipher, iterations, phrase, context.context, nil)
            guard isAdded == 1 else { throw LibcryptoFailure.memory }
        }
        if let keys {
            // The keys are encrypted one by one.
            guard messages.addSafe(&safes, keys, -1, 0, nil, context.context, nil) == 1 else {
                throw LibcryptoFailure.memory
            }
        }
        guard let safes, let file = messages.makeFile(safes, 0, context.context, nil) else {
            throw LibcryptoFailure.memory
        }
        defer { context.exchange.free(file) }
        guard messages.authenticate(file, phrase, -1, nil, 0, iterations, nil) == 1,
            let encoded = context.encoding({ context.exchange.encode(file, $0) })
        else { throw LibcryptoFailure.memory }
        return encoded
    }
}
