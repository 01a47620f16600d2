/// Why a page was not sealed or opened.
package enum PageError: Error, Equatable, CustomStringConvertible {
    /// The page is not what was sealed for its place under this key.
    case damaged(page: UInt32)
    /// The bytes that SQLite was told to keep free are in use: the page comes from a database without them.
    case reservedBytesInUse(page: UInt32)
    /// A first page that does not begin as SQLite's do, or reserves another number of bytes.
    case notFirstPage
    case memoryUnavailable
    /// The kernel gives no random bytes.
    case randomUnavailable

    package var description: String {
        switch self {
        case .damaged(let page):
            "page \(page) is damaged, or sealed with another key; check the key, or restore the database from a backup"
        case .reservedBytesInUse(let page):
            "page \(page) has no room for its seal; copy the contents with VACUUM INTO or row by row, not page by page"
        case .notFirstPage:
            "this is not the first page of a database with \(PageGeometry.reserved) reserved bytes in each page"
        case .memoryUnavailable: "out of memory"
        case .randomUnavailable:
            "the kernel gives no random bytes (getrandom); it is too old, or forbids it to this program"
        }
    }
}
