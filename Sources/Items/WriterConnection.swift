import GRDB
import Synchronization

/// The one connection of a store that writes, made at the first write.
final class WriterConnection: Sendable {
    private let open: @Sendable () throws -> DatabaseQueue
    private let opened = Mutex<DatabaseQueue?>(nil)

    init(open: @escaping @Sendable () throws -> DatabaseQueue) {
        self.open = open
    }

    func connection() throws -> DatabaseQueue {
        try opened.withLock { opened in
            if let opened { return opened }
            let connection = try open()
            opened = connection
            return connection
        }
    }

    var isOpen: Bool { opened.withLock { $0 != nil } }

    func close() throws {
        try opened.withLock { try $0?.close() }
    }
}
