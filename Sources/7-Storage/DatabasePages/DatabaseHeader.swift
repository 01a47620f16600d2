/// The 16 bytes at the start of an encrypted database, in place of `SQLite format 3\0`: the only ones in the clear.
package struct DatabaseHeader: Sendable, Hashable {
    package static let byteCount = 16
    /// What a plain SQLite database begins with (https://sqlite.org/fileformat.html, 1.3.1).
    package static let plainMagic = Array("SQLite format 3\0".utf8)
    package static let magic = Array("KCDB1".utf8)

    package let geometry: PageGeometry
    package let database: DatabaseID

    package init(geometry: PageGeometry, database: DatabaseID) {
        (self.geometry, self.database) = (geometry, database)
    }

    /// Nil for bytes that no encrypted database begins with.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount, bytes.starts(with: Self.magic), bytes[5] < 17,
            let geometry = PageGeometry(pageSize: 1 << Int(bytes[5])), let database = DatabaseID(bytes[6..<16])
        else { return nil }
        self.init(geometry: geometry, database: database)
    }

    /// As on disk.
    package var bytes: [UInt8] {
        Self.magic + [UInt8(geometry.pageSize.trailingZeroBitCount)] + database.bytes
    }

    /// What SQLite is told of the first 100 bytes before it has a lock: page size and reserved bytes, which it takes
    /// from there, and zeros otherwise, which it reads again under a lock.
    ///
    /// For a file that is still empty, too, so that SQLite makes its first page with bytes reserved.
    package static func synthetic(_ geometry: PageGeometry) -> [UInt8] {
        var bytes = plainMagic + [UInt8](repeating: 0, count: 84)
        // 65,536 does not fit and is written as 1 (https://sqlite.org/fileformat.html, 1.3.2).
        let size = geometry.pageSize == 65_536 ? 1 : geometry.pageSize
        (bytes[16], bytes[17]) = (UInt8(size >> 8), UInt8(size & 0xFF))
        // File formats; payload fractions that SQLite insists on.
        (bytes[18], bytes[19], bytes[20]) = (1, 1, UInt8(PageGeometry.reserved))
        (bytes[21], bytes[22], bytes[23]) = (64, 32, 32)
        return bytes
    }
}
