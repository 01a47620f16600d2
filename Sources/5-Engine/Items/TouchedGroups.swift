/// The access groups whose rows a transaction has changed.
package final class TouchedGroups {
    /// Their digests; nil if the transaction changed rows whose groups it does not know.
    package private(set) var digests: Set<Int64>? = []
    /// By how many bytes they grew, if that is measured; below zero for those that shrank.
    package private(set) var growth: [Int64: Int] = [:]
    /// The names of those that items were written to, if the growth is measured.
    package private(set) var names: [Int64: String] = [:]
    /// The number of the change that the transaction is; nil before it changes a row.
    var change: Int64?
    /// Whether the transaction measures by how much it lets groups grow.
    package let isMeasured: Bool

    init(isMeasured: Bool) { self.isMeasured = isMeasured }

    /// What was touched up to a moment. A transaction comes back to it when it undoes what followed.
    struct Moment {
        fileprivate var digests: Set<Int64>?
        fileprivate var growth: [Int64: Int]
        fileprivate var names: [Int64: String]
        fileprivate var change: Int64?
    }

    var moment: Moment {
        get { Moment(digests: digests, growth: growth, names: names, change: change) }
        set { (digests, growth, names, change) = (newValue.digests, newValue.growth, newValue.names, newValue.change) }
    }

    /// - Parameter digest: Nil for rows of an unknown group. One whose rows did not change has its observers told.
    package func insert(_ digest: Int64?) {
        if let digest { digests?.insert(digest) } else { digests = nil }
    }

    func grow(_ digest: Int64, by bytes: Int) {
        if isMeasured { growth[digest, default: 0] += bytes }
    }

    /// Notes the name of a group that an item is written to.
    package func note(_ name: String, of digest: Int64) {
        if isMeasured { names[digest] = name }
    }
}
