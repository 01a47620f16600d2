import KeychainModel

/// Seals and opens the pages of one database. Any number of threads may use it at once.
package final class PageCipher: Sendable {
    package let header: DatabaseHeader

    /// - Parameter key: The database's key, of 32 bytes.
    package init(key: SecretBytes, header: DatabaseHeader) throws(PageError) {
        self.header = header
    }

    package var pageSize: Int { header.geometry.pageSize }

    /// Seals a page.
    ///
    /// - Parameters:
    ///   - page: As SQLite has it, its last 48 bytes zeros.
    ///   - extra: Eight bytes that are sealed beside it: 0 in the main file, the checksum in a log or journal.
    ///   - sealed: Room for as many bytes as a page has; may not overlap with `page`.
    /// - Returns: What tells this seal from others, for the page index.
    package func seal(
        _ page: UnsafeRawBufferPointer, extra: UInt64, at place: PagePlace, into sealed: UnsafeMutableRawBufferPointer
    ) throws(PageError) -> PageVersion {
        throw .memoryUnavailable
    }

    /// Opens a page; what does not open leaves zeros in `page`.
    ///
    /// - Parameter page: Room for a page as SQLite has it; may not overlap with `sealed`.
    package func open(
        _ sealed: UnsafeRawBufferPointer, at place: PagePlace, into page: UnsafeMutableRawBufferPointer
    ) throws(PageError) -> (version: PageVersion, extra: UInt64) {
        throw .damaged(page: place.page)
    }

    /// What tells a sealed page from other seals of it.
    package static func version(of sealed: UnsafeRawBufferPointer) -> PageVersion {
        PageVersion(rawValue: 0)
    }
}
