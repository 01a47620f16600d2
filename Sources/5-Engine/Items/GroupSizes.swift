import CLibrary

/// How many bytes groups hold, for transactions with a quota: added up once, and kept while no other connection writes.
///
/// A transaction of the writing connection uses it from its beginning until after its end, one at a time.
final class GroupSizes: Sendable {
    private struct State {
        /// SQLite's `data_version` of the connection, for which the sizes hold.
        var version: Int64?
        var bytes: [Int64: Int] = [:]
    }

    private let state = UnfairMutex(State())
    /// The most groups whose sizes are kept.
    private static let limit = 1_024

    /// Returns how many bytes a group holds at this point of a transaction.
    ///
    /// - Parameters:
    ///   - version: SQLite's `data_version`, which changes when another connection has committed.
    ///   - growth: By how much the transaction let the group grow so far.
    ///   - sum: Adds up the rows of the group.
    func bytes(of group: Int64, at version: Int64, grownBy growth: Int, sum: () throws -> Int) throws -> Int {
        let known = state.withLock { state in
            if state.version != version || state.bytes.count >= Self.limit {
                state = State(version: version)
            }
            return state.bytes[group]
        }
        if let known { return known + growth }
        let total = try sum()
        // What it held before the transaction, which may be undone.
        state.withLock { $0.bytes[group] = total - growth }
        return total
    }

    /// Takes over what a transaction has changed, once it is committed.
    func committed(_ touched: TouchedGroups) {
        state.withLock { state in
            guard !state.bytes.isEmpty else { return }
            guard let digests = touched.digests else {
                state.bytes = [:]
                return
            }
            for digest in digests {
                guard touched.isMeasured, let known = state.bytes[digest] else {
                    state.bytes[digest] = nil
                    continue
                }
                state.bytes[digest] = known + (touched.growth[digest] ?? 0)
            }
        }
    }

    /// Forgets everything, after a transaction of which nobody knows whether it was committed.
    func forget() {
        state.withLock { $0 = State() }
    }
}
