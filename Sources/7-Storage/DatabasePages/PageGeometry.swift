/// How a database divides its file.
package struct PageGeometry: Sendable, Hashable {
    /// At the end of each page: what is sealed beside it, epoch, nonce and tag. SQLite keeps them free.
    package static let reserved = 48
    package static let defaultPageSize = 4096

    /// In bytes, a power of two from 512 to 65,536 (SQLite's limits).
    package let pageSize: Int

    /// Nil for a size that SQLite has not.
    package init?(pageSize: Int) {
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        self.pageSize = pageSize
    }

    /// What SQLite uses of a page, in bytes.
    package var usableSize: Int { pageSize - Self.reserved }
}
