import Bytes

/// The first 16 bytes of an encrypted database, in place of `SQLite format 3\0`: its only plaintext.
package struct DatabaseHeader: Sendable, Hashable {
    package static let byteCount = 16
    /// The first bytes of a plain SQLite database (https://sqlite.org/fileformat.html, 1.3.1).
    package static let plainMagic = Array("SQLite format 3\0".utf8)
    package static let magic = Array("KCDB1".utf8)

    package let geometry: PageGeometry
    package let database: DatabaseID

    package init(geometry: PageGeometry, database: DatabaseID) { (self.geometry, self.database) = (geometry, database) }

    /// Reads a header; nil if the bytes are not the start of an encrypted database.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount, bytes.starts(with: Self.magic), bytes[5] < 17,
            let geometry = PageGeometry(pageSize: 1 << Int(bytes[5])), let database = DatabaseID(bytes[6..<16])
        else { return nil }
        self.init(geometry: geometry, database: database)
    }

    /// The bytes on the disk.
    package var bytes: [UInt8] {
        Self.magic + [UInt8(truncatingIfNeeded: geometry.pageSize.trailingZeroBitCount)] + database.bytes
    }

    /// Returns the first 100 bytes that SQLite gets before it has a lock: the page size and the number of reserved
    /// bytes, which it takes from them, and otherwise zeros. SQLite reads the zeros again under a lock.
    package static func synthetic(pageSize: Int, reserved: Int) -> [UInt8] {
        var bytes = plainMagic + [UInt8](repeating: 0, count: 84)
        // 65,536 does not fit and is written as 1 (https://sqlite.org/fileformat.html, 1.3.2).
        let size = pageSize == 65_536 ? 1 : pageSize
        (bytes[16], bytes[17]) = (UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size & 0xFF))
        // File formats, and the payload fractions that SQLite requires.
        (bytes[18], bytes[19], bytes[20]) = (1, 1, UInt8(truncatingIfNeeded: reserved))
        (bytes[21], bytes[22], bytes[23]) = (64, 32, 32)
        return bytes
    }

    /// How many bytes ``isPlain(_:)`` looks at.
    package static let plainByteCount = 92

    /// Returns whether a file that begins with these bytes is a plain database of SQLite. An encrypted file of another
    /// format can begin with the same magic bytes, if it has a plaintext header, and is encrypted from its end on.
    ///
    /// SQLite's header has zeros from byte 72 to byte 91 (https://sqlite.org/fileformat2.html, 1.3).
    package static func isPlain(_ start: [UInt8]) -> Bool {
        start.starts(with: plainMagic) && start.dropFirst(72).prefix(20).allSatisfy { $0 == 0 }
    }
}
