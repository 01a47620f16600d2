import Dispatch
import Synchronization
import SystemSQLite

/// The only writing connection of a store, made at its first use.
// Safe to share between threads: `opened` is used only on `queue`, which runs one block at a time.
final class WriterConnection: @unchecked Sendable {
    private let open: @Sendable () throws -> SQLConnection
    private let queue = DispatchQueue(label: "keychain.items")
    private var opened: SQLConnection?
    private let hasOpened = Atomic(false)

    init(open: @escaping @Sendable () throws -> SQLConnection) { self.open = open }

    /// Lends the connection to `body`, after the earlier callers.
    func use<Result>(_ body: (SQLConnection) throws -> Result) throws -> Result {
        try queue.sync { try body(connection()) }
    }

    /// Lends the connection to `body` in a transaction, which is durable when this returns, and rolled back if `body`
    /// throws.
    ///
    /// - Parameter ended: Runs after the transaction and before the next one, with whether it was committed.
    func transaction<Result>(
        _ body: (SQLConnection) throws -> Result, ended: (_ isCommitted: Bool) -> Void = { _ in }
    ) throws -> Result {
        try queue.sync {
            let connection = try connection()
            do {
                let result = try connection.transaction { try body(connection) }
                ended(true)
                return result
            } catch {
                ended(false)
                throw error
            }
        }
    }

    private func connection() throws -> SQLConnection {
        if let opened { return opened }
        let connection = try open()
        opened = connection
        hasOpened.store(true, ordering: .relaxed)
        return connection
    }

    /// Whether the connection has been made. Does not wait for its users.
    var isOpen: Bool { hasOpened.load(ordering: .relaxed) }

    func close() throws {
        try queue.sync { try opened?.close() }
    }
}
