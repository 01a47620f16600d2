import Bytes
import FoundationEssentials

/// The contents of a PKCS#12 file (RFC 7292): keys, and certificates in the order of the file.
package struct ExchangeFile {
    /// PKCS#8 PrivateKeyInfo (RFC 5208), in memory that is wiped when it is freed.
    package private(set) var keys: [Data] = []
    /// DER.
    package private(set) var certificates: [Data] = []

    /// The reason why a file cannot be read.
    package enum Failure: Error, Equatable {
        /// The file is not a PKCS#12 file.
        case malformed
        /// The file is a PKCS#12 file, but a part of it is damaged or of an unknown kind.
        case undecodable
        case wrongPassphrase
        /// The key derivation of the file has more iterations than any program uses.
        case tooManyIterations
        case tooLarge
    }

    /// The largest accepted file in bytes. PKCS#12 files have a few kilobytes; a larger file holds something else.
    package static let largest = 16 << 20
    /// The iterations allowed for the whole file. Common files use up to a million for each of their three parts. One
    /// iteration takes up to two microseconds.
    private var iterationsLeft = 5_000_000
    /// The deepest nesting of safes. Files in use do not nest deeper.
    private static let deepest = 4

    /// Opens a file.
    ///
    /// - Parameter passphrase: UTF-8. If it is nil or empty, both forms of an empty passphrase are tried.
    /// - Throws: ``Failure``; `SystemLibraryError` if libcrypto is missing.
    package init(_ encoded: Data, passphrase: SecretBytes?) throws {
        guard encoded.count <= Self.largest else { throw Failure.tooLarge }
        let crypto = try LibcryptoContext.shared.get()
        defer { crypto.clearErrors() }
        let file = try Self.decode(encoded, crypto)
        defer { crypto.exchange.free(file) }
        try spendOnCode(file, crypto)
        guard let safes = crypto.exchange.safes(file) else { throw Failure.undecodable }
        defer { crypto.stacks.freeAll(safes, crypto.exchange.freeSafe) }
        for safe in crypto.stacks.members(of: safes) {
            try spend(crypto.encoding { crypto.exchange.encodeSafe(safe, $0) })
        }
        let words = try Self.terminated(passphrase)
        let count = Int32(clamping: words.count - 1)
        try words.withUnsafeBytes { words in
            let phrase = try Self.accepted(words.bindMemory(to: CChar.self).baseAddress, count, by: file, crypto)
            for safe in crypto.stacks.members(of: safes) {
                let bags = crypto.exchange.plainBags(safe) ?? crypto.exchange.encryptedBags(safe, phrase, count)
                // If the file has no MAC, a wrong passphrase shows here first.
                let undecryptable = crypto.exchange.hasCode(file) == 1 ? Failure.undecodable : .wrongPassphrase
                guard let bags else { throw undecryptable }
                defer { crypto.stacks.freeAll(bags, crypto.exchange.freeBag) }
                try take(bags, phrase, count, undecryptable, depth: 0, crypto)
            }
        }
    }

    /// Returns a passphrase as a C string.
    static func terminated(_ passphrase: SecretBytes?) throws -> SecretBytes {
        try SecretBytes(count: (passphrase?.count ?? 0) + 1) { copy in
            passphrase?.withUnsafeBytes { copy.copyMemory(from: $0) }
        }
    }

    private static func decode(_ encoded: Data, _ crypto: LibcryptoContext) throws -> LibcryptoContext.Object {
        // NID_pkcs7_data, the only kind. The object passes its library context on to its decoded parts.
        var file: LibcryptoContext.Object? = crypto.exchange.make(21, crypto.context, nil)
        guard file != nil else { throw LibcryptoFailure.memory }
        let isWhole = encoded.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            let start = position
            guard crypto.exchange.decode(&file, &position, bytes.count) != nil, let start, let position else {
                return false
            }
            return position - start == bytes.count
        }
        guard isWhole, let file else {
            crypto.exchange.free(file)
            throw Failure.malformed
        }
        return file
    }

    private mutating func spendOnCode(_ file: LibcryptoContext.Object, _ crypto: LibcryptoContext) throws(Failure) {
        guard crypto.exchange.hasCode(file) == 1 else { return }
        var (iterations, algorithm): (LibcryptoContext.Object?, LibcryptoContext.Object?) = (nil, nil)
        crypto.exchange.codeParameters(nil, &algorithm, nil, &iterations, file)
        // An algorithm can have its own count (PBMAC1, RFC 9579, in libcrypto from 3.4 on).
        if let algorithm { try spend(crypto.encoding { crypto.exchange.encodeAlgorithm(algorithm, $0) }) }
        guard let iterations else { return }
        try spend(crypto.exchange.integer(iterations), atLeast: 1)
    }

    /// Returns the form of the passphrase that the file's MAC accepts. An empty passphrase is an empty string or NULL.
    private static func accepted(
        _ words: UnsafePointer<CChar>?, _ count: Int32, by file: LibcryptoContext.Object, _ crypto: LibcryptoContext
    ) throws(Failure) -> UnsafePointer<CChar>? {
        guard crypto.exchange.hasCode(file) == 1 else { return words }
        if crypto.exchange.checkCode(file, words, count) == 1 { return words }
        if count == 0, crypto.exchange.checkCode(file, nil, 0) == 1 { return nil }
        throw .wrongPassphrase
    }

    private mutating func take(
        _ bags: LibcryptoContext.Object, _ phrase: UnsafePointer<CChar>?, _ count: Int32, _ undecryptable: Failure,
        depth: Int,
        _ crypto: LibcryptoContext
    ) throws {
        guard depth < Self.deepest else { throw Failure.undecodable }
        for bag in crypto.stacks.members(of: bags) {
            // NID_keyBag, NID_pkcs8ShroudedKeyBag, NID_certBag, NID_safeContentsBag (openssl/obj_mac.h).
            switch crypto.exchange.bagKind(bag) {
            case 150:
                try append(key: crypto.exchange.bagKey(bag), crypto)
            case 151:
                let encrypted = crypto.exchange.bagEncryptedKey(bag)
                try spend(crypto.encoding { crypto.exchange.encodeEncryptedKey(encrypted, $0) })
                guard let key = crypto.exchange.decryptKey(bag, phrase, count, crypto.context, nil) else {
                    throw undecryptable
                }
                defer { crypto.exchange.freeKey(key) }
                try append(key: key, crypto)
            case 152:
                // Skips certificates that are not X.509.
                guard let certificate = crypto.exchange.bagCertificate(bag) else { continue }
                defer { crypto.certificates.free(certificate) }
                guard let encoded = crypto.encoded(certificate) else { throw Failure.undecodable }
                certificates.append(encoded)
            case 155:
                guard let inner = crypto.exchange.bagBags(bag) else { throw Failure.undecodable }
                try take(inner, phrase, count, undecryptable, depth: depth + 1, crypto)
            default:
                continue
            }
        }
    }

    private mutating func append(key: LibcryptoContext.Object?, _ crypto: LibcryptoContext) throws(Failure) {
        guard let key, let encoded = crypto.encoding({ crypto.exchange.encodeKey(key, $0) }) else {
            throw .undecodable
        }
        keys.append(Data.wipedWhenFreed(encoded))
    }

    private mutating func spend(_ encoded: Data?) throws(Failure) {
        try spend(encoded.map(PassphraseCost.iterations) ?? .max, atLeast: 0)
    }

    /// Subtracts the iterations of one part before the work on it begins.
    private mutating func spend(_ iterations: Int, atLeast least: Int) throws(Failure) {
        guard iterations >= least, iterations <= iterationsLeft else { throw .tooManyIterations }
        iterationsLeft -= iterations
    }
}
