/// Where a page is kept. A page opens at the place it was sealed for and nowhere else.
package enum PagePlace: Sendable, Hashable {
    /// In the database's file. Pages count from 1.
    case main(page: UInt32)
    /// In the write-ahead log, with what the header of its frame says in the clear. Frames count from 1.
    case wal(page: UInt32, frame: UInt32, commit: UInt32, salts: UInt64)
    /// In a rollback journal, in the transaction that follows on a batch of the page index.
    case journal(page: UInt32, sequence: UInt64)

    package var page: UInt32 {
        switch self {
        case .main(let page), .wal(let page, _, _, _), .journal(let page, _): page
        }
    }
}

/// Eight bytes of a seal, which tell it from all other seals of the same page.
package struct PageVersion: Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
