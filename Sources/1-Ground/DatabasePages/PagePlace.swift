/// The place of a page. A page opens only at the place that it was sealed for.
package enum PagePlace: Sendable, Hashable {
    /// In the database's file. Pages count from 1.
    case main(page: UInt32)
    /// In the write-ahead log, with the plaintext fields of its frame header. Frames count from 1.
    case wal(page: UInt32, frame: UInt32, commit: UInt32, salts: UInt64)
    /// In a rollback journal, for the transaction after a batch of the page index.
    case journal(page: UInt32, sequence: UInt64)

    package var page: UInt32 {
        switch self {
        case .main(let page), .wal(let page, _, _, _), .journal(let page, _): page
        }
    }
}

/// Eight bytes of a seal that differ between all seals of the same page.
package struct PageVersion: Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
