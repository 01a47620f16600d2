import Bytes

/// Finds out the format of a SQLCipher file. It tries the key on the first page in each format.
package enum CipherSearch {
    /// Returns the pages of the format that opens the first page. Returns nil if none does: the key may be wrong.
    ///
    /// The newest version comes first. With a passphrase, each version takes a key derivation. With a raw key, files of
    /// versions 2 and 3 are the same, and 3 is found.
    ///
    /// - Parameters:
    ///   - bytes: The start of the file: 65,536 bytes, or all of a shorter file.
    ///   - salt: The salt of a file with a plaintext header.
    ///   - versions: The versions to try.
    ///   - pageSize: Nil to try each size.
    ///   - rounds: Nil for the number of each version.
    package static func pages(
        for key: SQLCipherKey, in bytes: UnsafeRawBufferPointer, salt: [UInt8]? = nil,
        versions: [CipherFormat.Version] = CipherFormat.Version.allCases.reversed(), pageSize: Int? = nil,
        rounds: Int? = nil, plainHeaderSize: Int = 0
    ) throws -> CipherPages? {
        guard bytes.count >= 512 else { return nil }
        let salt = salt ?? Array(bytes[..<CipherFormat.saltSize])
        for version in versions {
            // One derivation for all page sizes.
            guard let format = CipherFormat(version, pageSize: 65_536, rounds: rounds) else { continue }
            let derived = SQLCipherKey.raw(try key.pageKey(format, salt: salt))
            let orders: [CipherFormat.ByteOrder] = version == .two ? [.little, .big] : [.little]
            for size in pageSize.map({ [$0] }) ?? (9...16).map({ 1 << $0 }) where size <= bytes.count {
                for order in orders {
                    guard
                        let format = CipherFormat(
                            version, pageSize: size, rounds: rounds, plainHeaderSize: plainHeaderSize,
                            pageNumbers: order)
                    else { continue }
                    let pages = try CipherPages(key: derived, salt: salt, format: format)
                    if opensFirst(UnsafeRawBufferPointer(rebasing: bytes[..<size]), pages) { return pages }
                }
            }
        }
        return nil
    }

    /// Returns whether the page opens and begins like SQLite's. In files without an HMAC, only its fields show a wrong
    /// key.
    private static func opensFirst(_ sealed: UnsafeRawBufferPointer, _ pages: CipherPages) -> Bool {
        guard pages.isAuthentic(sealed, number: 1),
            let page = try? SecretBytes(count: sealed.count, fill: { try pages.open(sealed, number: 1, into: $0) })
        else { return false }
        return page.withUnsafeBytes { page in
            // Fixed values, and 1 for 65,536 (https://sqlite.org/fileformat2.html, 1.3).
            guard (page[21], page[22], page[23]) == (64, 32, 32) else { return false }
            let stated = Int(page.bigEndian(at: 16, as: UInt16.self))
            return (stated == 1 ? 65_536 : stated) == pages.format.pageSize
        }
    }
}
