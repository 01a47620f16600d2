import DatabasePages
import PreparedKeys

/// How SQLCipher seals the pages of a file.
///
/// A file does not say which format it has; see ``CipherSearch``. The numbers are from SQLCipher's documentation
/// (https://www.zetetic.net/sqlcipher/sqlcipher-api/, `cipher_compatibility`).
package struct CipherFormat: Sendable, Hashable {
    /// The versions of SQLCipher that changed the format.
    package enum Version: Int, Sendable, CaseIterable {
        case one = 1
        case two, three, four

        package static let newestFirst = allCases.reversed() as [Version]

        /// The rounds of the version itself.
        fileprivate var rounds: Int {
            switch self {
            case .one, .two: 4_000
            case .three: 64_000
            case .four: 256_000
            }
        }
    }

    /// The hash function of the key derivation and of the pages' HMAC.
    package typealias Hash = PreparedCBC.Hash

    /// The order of the bytes of a page's number under the HMAC.
    package enum ByteOrder: Sendable, Hashable {
        case little
        /// Some builds of version 2 wrote this order.
        case big
    }

    package let version: Version
    /// In bytes: a power of two from 512 to 65,536 (SQLite's limits). Only pages without an HMAC can have 512.
    package let pageSize: Int
    /// The rounds of PBKDF2 (RFC 8018) that make a key of a passphrase.
    package let rounds: Int
    /// How many bytes of the first page are plaintext (`cipher_plaintext_header_size`): a multiple of 16. If it is not
    /// 0, the file does not hold its salt.
    package let plainHeaderSize: Int
    package let pageNumbers: ByteOrder

    package static let saltSize = 16
    static let smallestPage = 512
    /// The bytes of a page that SQLite wants for itself (https://sqlite.org/fileformat2.html, 1.3.4).
    private static let smallestUsable = 480
    /// The sizes of pages that SQLite supports.
    static let pageSizes = (9...16).map { 1 << $0 }
    package static let keySize = 32
    /// The size of a block of AES, and of an initialization vector.
    static let blockSize = 16

    /// Nil for sizes that SQLCipher does not support.
    ///
    /// - Parameters:
    ///   - pageSize: Nil for the version's own size.
    ///   - rounds: Nil for the version's own number.
    package init?(
        _ version: Version, pageSize: Int? = nil, rounds: Int? = nil, plainHeaderSize: Int = 0,
        pageNumbers: ByteOrder = .little
    ) {
        self.version = version
        self.pageSize = pageSize ?? (version == .four ? 4096 : 1024)
        self.rounds = rounds ?? version.rounds
        self.plainHeaderSize = plainHeaderSize
        self.pageNumbers = pageNumbers
        guard PageGeometry(pageSize: self.pageSize) != nil, self.pageSize - reserved >= Self.smallestUsable,
            self.rounds > 0, plainHeaderSize >= 0,
            plainHeaderSize % Self.blockSize == 0, plainHeaderSize <= self.pageSize - reserved - Self.blockSize
        else { return nil }
    }

    package var hash: Hash { version == .four ? .sha512 : .sha1 }

    /// Whether pages have an HMAC. In a file without it, nobody sees that a page was changed.
    package var isAuthenticated: Bool { version != .one }

    /// The bytes at the end of a page for the initialization vector and the HMAC, in whole blocks.
    package var reserved: Int {
        let size = Self.blockSize + (isAuthenticated ? hash.byteCount : 0)
        return (size + Self.blockSize - 1) / Self.blockSize * Self.blockSize
    }

    /// Where the ciphertext of the first page begins: before it are the salt or plaintext.
    package var firstPageStart: Int { plainHeaderSize == 0 ? Self.saltSize : plainHeaderSize }
}
