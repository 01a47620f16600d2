/// The layout of a database's pages.
package struct PageGeometry: Sendable, Hashable {
    /// The bytes at the end of each page for the extra bytes, the epoch, the nonce and the tag. SQLite does not use
    /// them.
    package static let reserved = 48

    /// In bytes: a power of two from 512 to 65,536 (SQLite's limits).
    package let pageSize: Int

    /// Nil for a size that SQLite does not support.
    package init?(pageSize: Int) {
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        self.pageSize = pageSize
    }

    /// The bytes of a page that SQLite uses.
    package var usableSize: Int { pageSize - Self.reserved }
}
