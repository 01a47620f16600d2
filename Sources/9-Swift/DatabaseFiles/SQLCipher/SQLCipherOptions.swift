import Bytes
import FoundationEssentials
import SQLCipherFiles

/// The key of a SQLCipher file, and what else is needed to open or make one.
///
/// ```swift
/// let database = try ProtectedDatabase(path: path, sqlcipher: .passphrase("a long passphrase"))
/// ```
///
/// With ``keychain(_:)`` the keychain keeps the key.
///
/// SQLCipher's format promises less than this library's own: each page is sealed alone, so that an older version of a
/// page opens, and in files of version 1 a changed page, too.
public struct SQLCipherOptions: Sendable {
    /// A version of SQLCipher that changed the format.
    public enum Version: Int, Sendable, Hashable, CaseIterable {
        case one = 1
        case two, three, four
    }

    enum Key: Sendable {
        case given(SQLCipherKey)
        /// The keychain has it. A new file's key is kept as the storage says.
        case kept(DatabaseKeyStorage?)
    }

    let key: Key
    /// Nil to find it out. A new file is then of version 4.
    public var version: Version?
    /// The size of a page in bytes: a power of two from 512 to 65,536. Nil to find it out. A new file then has the
    /// version's own size.
    public var pageSize: Int?
    /// The rounds of PBKDF2 that make a key of a passphrase (SQLCipher's `kdf_iter`); nil for the version's own number.
    public var rounds: Int?
    /// How many bytes at the start of the file are plaintext (SQLCipher's `cipher_plaintext_header_size`): a multiple
    /// of 16. Such a file does not hold its salt, so ``salt`` must be given. 0 for a file with such a header means 32,
    /// which SQLCipher recommends.
    public var plaintextHeaderSize = 0
    /// The 16 bytes of salt. Nil to read it from the file; a new file then gets a random one.
    public var salt: Data?

    private init(_ key: Key, salt: Data? = nil) { (self.key, self.salt) = (key, salt) }

    /// Derives the key from a passphrase, in as many rounds as the version asks for.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/outOfMemory`` if there is no locked memory for it.
    public static func passphrase(_ passphrase: String) throws -> SQLCipherOptions {
        var bytes = Array(passphrase.utf8)
        defer { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return .passphrase(try bytes.withUnsafeBytes { try secret($0) })
    }

    /// Derives the key from a passphrase in UTF-8.
    package static func passphrase(_ passphrase: SecretBytes) -> SQLCipherOptions {
        SQLCipherOptions(.given(.passphrase(passphrase)))
    }

    /// Uses a raw key, from which no other is derived.
    ///
    /// - Parameter key: 32 bytes, or 48 if the salt follows the key.
    /// - Throws: ``ProtectedDatabaseError/Code/invalidRequest`` for another size, and
    ///   ``ProtectedDatabaseError/Code/outOfMemory`` if there is no locked memory for it.
    public static func rawKey(_ key: some ContiguousBytes) throws -> SQLCipherOptions {
        try key.withUnsafeBytes { bytes in
            let size = CipherFormat.keySize
            guard bytes.count == size || bytes.count == size + CipherFormat.saltSize else {
                throw ProtectedDatabaseError(
                    .invalidRequest,
                    message: "a raw key of SQLCipher has 32 bytes, or 48 with a salt, not \(bytes.count)")
            }
            let salt = bytes.count > size ? Data(bytes[size...]) : nil
            let key = try secret(UnsafeRawBufferPointer(rebasing: bytes[..<size]))
            return SQLCipherOptions(.given(.raw(key)), salt: salt)
        }
    }

    /// Uses the raw key that the keychain keeps for the file, as a password of the service `sqlcipher-file`. A new file
    /// gets a new key.
    ///
    /// - Parameter storage: Where the key of a new file is kept; unless given, in the keychain, from the first
    ///   unlocking on.
    public static func keychain(_ storage: DatabaseKeyStorage? = nil) -> SQLCipherOptions {
        SQLCipherOptions(.kept(storage))
    }

    private static func secret(_ bytes: UnsafeRawBufferPointer) throws -> SecretBytes {
        do {
            return try SecretBytes(copying: bytes)
        } catch {
            throw ProtectedDatabaseError(.outOfMemory, message: "there is no locked memory for the key")
        }
    }

    /// The size of a new file's pages.
    package var newPageSize: Int { pageSize ?? (version ?? .four == .four ? 4096 : 1024) }

    /// Whether the keychain keeps the key.
    var isKept: Bool {
        if case .kept = key { true } else { false }
    }

    /// Checks the options for the file at `path`.
    ///
    /// - Parameter key: The key that the options have, or the keychain has.
    /// - Throws: ``ProtectedDatabaseError/Code/invalidRequest`` for sizes and numbers that SQLCipher does not support.
    func place(_ key: SQLCipherKey, of path: String) throws -> CipherPlace {
        func refuse(_ reason: String) -> ProtectedDatabaseError {
            ProtectedDatabaseError(.invalidRequest, path: path, message: "cannot open \(path): \(reason)")
        }
        let formatVersion = version.flatMap { CipherFormat.Version(rawValue: $0.rawValue) }
        let plaintextHeaderSize =
            plaintextHeaderSize == 0 && SQLCipherKeys.hasPlaintextHeader(path) ? 32 : plaintextHeaderSize
        if let salt, salt.count != CipherFormat.saltSize {
            throw refuse("a salt of SQLCipher has 16 bytes, not \(salt.count)")
        }
        if plaintextHeaderSize > 0, salt == nil {
            throw refuse(
                "a file with a plaintext header does not hold its salt; give the salt that was kept for it after the key"
            )
        }
        // Versions differ in the room that a seal takes.
        let versions = formatVersion.map { [$0] } ?? CipherFormat.Version.newestFirst
        let isSupported = versions.contains {
            CipherFormat($0, pageSize: pageSize ?? 4096, rounds: rounds, plainHeaderSize: plaintextHeaderSize) != nil
        }
        guard isSupported else {
            throw refuse("SQLCipher does not support this page size, number of rounds or plaintext header")
        }
        return CipherPlace(
            key: key, version: formatVersion, pageSize: pageSize, rounds: rounds, plainHeaderSize: plaintextHeaderSize,
            salt: salt.map { Array($0) })
    }
}
