import FoundationEssentials
import KeychainModel

/// The contents of a PKCS#12 file (RFC 7292): keys, and certificates in the order of the file.
package struct ExchangeFile {
    /// PKCS#8 PrivateKeyInfo (RFC 5208), in memory that is wiped.
    package private(set) var keys: [Data] = []
    /// DER.
    package private(set) var certificates: [Data] = []

    /// Why a file cannot be read.
    package enum Failure: Error, Equatable {
        /// It is no PKCS#12 file.
        case malformed
        /// It is one, and a part of it is damaged or of a kind that is not known.
        case undecodable
        case wrongPassphrase
        /// Its passphrase is stretched more often than any program does.
        case tooManyIterations
        case tooLarge
    }

    /// Files are a few kilobytes; one of more than this many bytes holds something else.
    package static let largest = 16 << 20
    /// In all of a file: common ones use up to a million for each of their three parts. One costs up to two microseconds.
    private var iterationsLeft = 5_000_000
    /// Safes within safes go no deeper in any file that somebody uses.
    private static let deepest = 4

    /// Opens a file.
    ///
    /// - Parameter passphrase: UTF-8; without one, and with an empty one, both forms of 'none' are tried.
    /// - Throws: ``Failure``, `SystemLibraryError` when libcrypto is missing.
    package init(_ encoded: Data, passphrase: SecretBytes?) throws {
        guard encoded.count <= Self.largest else { throw Failure.tooLarge }
        let crypto = try Libcrypto.shared.get()
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
        let count = Int32(words.count - 1)
        try words.withUnsafeBytes { words in
            let phrase = try Self.accepted(words.bindMemory(to: CChar.self).baseAddress, count, by: file, crypto)
            for safe in crypto.stacks.members(of: safes) {
                let bags = crypto.exchange.plainBags(safe) ?? crypto.exchange.encryptedBags(safe, phrase, count)
                // Without a code over the file, this is where a wrong passphrase shows.
                let undecryptable = crypto.exchange.hasCode(file) == 1 ? Failure.undecodable : .wrongPassphrase
                guard let bags else { throw undecryptable }
                defer { crypto.stacks.freeAll(bags, crypto.exchange.freeBag) }
                try take(bags, phrase, count, undecryptable, depth: 0, crypto)
            }
        }
    }

    /// A passphrase as a string for C.
    static func terminated(_ passphrase: SecretBytes?) throws -> SecretBytes {
        try SecretBytes(count: (passphrase?.count ?? 0) + 1) { copy in
            passphrase?.withUnsafeBytes { copy.copyMemory(from: $0) }
        }
    }

    private static func decode(_ encoded: Data, _ crypto: Libcrypto) throws -> Libcrypto.Object {
        // NID_pkcs7_data, the only kind; the object brings its library context to what is decoded into it.
        var file: Libcrypto.Object? = crypto.exchange.make(21, crypto.context, nil)
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

    private mutating func spendOnCode(_ file: Libcrypto.Object, _ crypto: Libcrypto) throws(Failure) {
        guard crypto.exchange.hasCode(file) == 1 else { return }
        var (iterations, algorithm): (Libcrypto.Object?, Libcrypto.Object?) = (nil, nil)
        crypto.exchange.codeParameters(nil, &algorithm, nil, &iterations, file)
        // An algorithm can have a count of its own (PBMAC1, RFC 9579, in libcrypto from 3.4 on).
        if let algorithm { try spend(crypto.encoding { crypto.exchange.encodeAlgorithm(algorithm, $0) }) }
        guard let iterations else { return }
        try spend(crypto.exchange.integer(iterations), atLeast: 1)
    }

    /// The passphrase in the form in which the file's code accepts it: none is either an empty string or nothing.
    private static func accepted(
        _ words: UnsafePointer<CChar>?, _ count: Int32, by file: Libcrypto.Object, _ crypto: Libcrypto
    ) throws(Failure) -> UnsafePointer<CChar>? {
        guard crypto.exchange.hasCode(file) == 1 else { return words }
        if crypto.exchange.checkCode(file, words, count) == 1 { return words }
        if count == 0, crypto.exchange.checkCode(file, nil, 0) == 1 { return nil }
        throw .wrongPassphrase
    }

    private mutating func take(
        _ bags: Libcrypto.Object, _ phrase: UnsafePointer<CChar>?, _ count: Int32, _ undecryptable: Failure, depth: Int,
        _ crypto: Libcrypto
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
                // A kind of certificate other than X.509 is passed over.
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

    private mutating func append(key: Libcrypto.Object?, _ crypto: Libcrypto) throws(Failure) {
        guard let key, let encoded = crypto.encoding({ crypto.exchange.encodeKey(key, $0) }) else {
            throw .undecodable
        }
        keys.append(Data.wipedWhenFreed(encoded))
    }

    private mutating func spend(_ encoded: Data?) throws(Failure) {
        try spend(encoded.map(PassphraseCost.iterations) ?? .max, atLeast: 0)
    }

    /// What one part costs, before the work on it is begun.
    private mutating func spend(_ iterations: Int, atLeast least: Int) throws(Failure) {
        guard iterations >= least, iterations <= iterationsLeft else { throw .tooManyIterations }
        iterationsLeft -= iterations
    }
}
