/// The access groups whose rows a transaction has changed.
package final class TouchedGroups {
    /// Their digests; nil if the transaction changed rows whose groups it does not know.
    package private(set) var digests: Set<Int64>? = []

    func insert(_ digest: Int64?) {
        if let digest { digests?.insert(digest) } else { digests = nil }
    }
}
