/// The reason why a page was not sealed or opened.
package enum PageError: Error, Equatable, CustomStringConvertible {
    /// The page was not sealed for this place with this key, or it was changed.
    case damaged(page: UInt32)
    /// The reserved bytes of the page are in use: it comes from a database without reserved bytes.
    case reservedBytesInUse(page: UInt32)
    /// The first page does not begin like SQLite's, or reserves another number of bytes.
    case notFirstPage
    case memoryUnavailable
    /// The kernel provides no random bytes.
    case randomUnavailable

    package var description: String {
        switch self {
        case .damaged(let page):
            "page \(page) is damaged, or sealed with another key; check the key, or restore the database from a backup"
        case .reservedBytesInUse(let page):
            "page \(page) has no room for its seal; copy the contents with VACUUM INTO or row by row, not page by page"
        case .notFirstPage:
            "this is not the first page of a database with \(PageGeometry.reserved) or more reserved bytes in each page"
        case .memoryUnavailable: "out of memory"
        case .randomUnavailable:
            "the kernel gives no random bytes (getrandom); it is too old, or does not allow it for this program"
        }
    }
}
