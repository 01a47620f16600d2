import Bytes

/// Finds out the format of a SQLCipher file. It tries the key on the first page in each format.
package enum CipherSearch {
    /// Returns the pages of the format that opens the first page. Returns nil if none does: the key may be wrong.
    ///
    /// The newest version comes first. With a passphrase, each version takes a key derivation. With a raw key, files of
    /// versions 2 and 3 are the same, and 3 is found.
    ///
    /// - Parameters:
    ///   - starts: Copies of the first page: each has its bytes and may have more of the file after them. Give 65,536
    ///     bytes, or all of a shorter file.
    ///   - salt: The salt of a file with a plaintext header.
    ///   - versions: The versions to try.
    ///   - pageSize: Nil to try each size.
    ///   - rounds: Nil for the number of each version.
    package static func pages(
        for key: SQLCipherKey, in starts: [[UInt8]], salt: [UInt8]? = nil,
        versions: [CipherFormat.Version] = CipherFormat.Version.newestFirst, pageSize: Int? = nil,
        rounds: Int? = nil, plainHeaderSize: Int = 0
    ) throws -> CipherPages? {
        let starts = starts.filter { $0.count >= CipherFormat.smallestPage }
        for version in versions {
            // One derivation for all page sizes.
            guard let format = CipherFormat(version, pageSize: 65_536, rounds: rounds) else { continue }
            var derived: [[UInt8]: SQLCipherKey] = [:]
            for start in starts {
                let salt = salt ?? Array(start[..<CipherFormat.saltSize])
                let key = try derived[salt] ?? .raw(key.pageKey(format, salt: salt))
                derived[salt] = key
                let sizes = (pageSize.map { [$0] } ?? CipherFormat.pageSizes).filter { $0 <= start.count }
                for size in sizes {
                    for order in version == .two ? [.little, .big] : [CipherFormat.ByteOrder.little] {
                        let format = CipherFormat(
                            version, pageSize: size, rounds: rounds, plainHeaderSize: plainHeaderSize,
                            pageNumbers: order)
                        guard let format else { continue }
                        let pages = try CipherPages(key: key, salt: salt, format: format)
                        if opens(start, pages) { return pages }
                    }
                }
            }
        }
        return nil
    }

    /// Returns whether the first page opens and begins like SQLite's. In files without an HMAC, only its fields show a
    /// wrong key.
    package static func opens(_ start: [UInt8], _ pages: CipherPages) -> Bool {
        let size = pages.format.pageSize
        guard start.count >= size, pages.format.plainHeaderSize > 0 || start.starts(with: pages.salt) else {
            return false
        }
        return start.withUnsafeBytes { start in
            let sealed = UnsafeRawBufferPointer(rebasing: start[..<size])
            guard pages.isAuthentic(sealed, number: 1),
                let page = try? SecretBytes(count: size, fill: { try pages.open(sealed, number: 1, into: $0) })
            else { return false }
            return page.withUnsafeBytes { page in
                // Fixed values, and 1 for 65,536 (https://sqlite.org/fileformat2.html, 1.3).
                guard (page[21], page[22], page[23]) == (64, 32, 32) else { return false }
                let stated = Int(page.bigEndian(at: 16, as: UInt16.self))
                return (stated == 1 ? 65_536 : stated) == size
            }
        }
    }
}
