import Dispatch
import SystemSQLite
import Synchronization

/// The one connection of a store that writes, made when it is first used.
// Safe to share between threads: `opened` is used on `queue` alone, which has one of them at a time.
final class WriterConnection: @unchecked Sendable {
    private let open: @Sendable () throws -> SQLConnection
    private let queue = DispatchQueue(label: "keychain.items")
    private var opened: SQLConnection?
    private let hasOpened = Atomic(false)

    init(open: @escaping @Sendable () throws -> SQLConnection) {
        self.open = open
    }

    /// Lends the connection to `body`, after those who asked for it before.
    func use<Result>(_ body: (SQLConnection) throws -> Result) throws -> Result {
        try queue.sync { try body(connection()) }
    }

    private func connection() throws -> SQLConnection {
        if let opened { return opened }
        let connection = try open()
        opened = connection
        hasOpened.store(true, ordering: .relaxed)
        return connection
    }

    /// Whether the connection has been made. Does not wait for those who use it.
    var isOpen: Bool { hasOpened.load(ordering: .relaxed) }

    func close() throws {
        try queue.sync { try opened?.close() }
    }
}
