import CSQLite
import Synchronization

/// Interrupts the statements of an open connection, from any thread.
package final class SQLInterrupter: Sendable {
    // Safe to send: any thread may call sqlite3_interrupt during any other call of the connection, and the lock keeps
    // the connection from being closed meanwhile.
    private struct Handle: @unchecked Sendable {
        var pointer: OpaquePointer?
    }

    private let handle: Mutex<Handle>

    init(_ pointer: OpaquePointer?) { handle = Mutex(Handle(pointer: pointer)) }

    func set(_ pointer: OpaquePointer?) {
        let new = Handle(pointer: pointer)
        handle.withLock { $0 = new }
    }

    /// Makes the statements that run now fail with `SQLITE_INTERRUPT`.
    package func interrupt() {
        handle.withLock { if let pointer = $0.pointer { sqlite3_interrupt(pointer) } }
    }
}
