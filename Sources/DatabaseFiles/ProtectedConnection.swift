import CSQLite
import DataProtectionEssentials
import DatabaseVFS
import Dispatch
import Glibc
import Synchronization
import SystemSQLite

/// One connection to an encrypted database, for statements that one thread carries out one after the other.
///
/// When the vault is locked and the key's class closes, statements that run are interrupted, transactions that were not
/// committed are rolled back, and the key is wiped, two seconds later at the latest. The next use opens the database again, if it
/// can.
package final class ProtectedConnection: Sendable {
    private let file: ProtectedDatabaseFile
    private let access: SQLConnection.Access
    private let busyTimeout: Int32
    /// Held by whoever uses the connection.
    private let state: Mutex<Opened?>

    // Safe to send: the connection is used by whoever holds `state` alone, and its interrupter is made for other threads.
    private struct Opened: @unchecked Sendable {
        let connection: SQLConnection
        let registration: DatabaseRegistration
        let holder: LockGuard?
        /// Left when the key of a locked database is gone.
        let ended: DispatchGroup
    }

    /// How long statements and transactions get to end before their key goes.
    private static let grace = DispatchTimeInterval.seconds(2)

    /// Opens the database, which may ask a person.
    ///
    /// - Parameter busyTimeout: How long a statement waits for other programs, in milliseconds.
    package init(
        _ file: ProtectedDatabaseFile, _ access: SQLConnection.Access, busyTimeout: Int32 = 0
    ) throws(ProtectedDatabaseError) {
        self.file = file
        self.access = access
        self.busyTimeout = busyTimeout
        let opened = try Self.open(file, access, busyTimeout)
        state = Mutex(opened)
        follow(opened)
    }

    deinit { close() }

    private static func open(
        _ file: ProtectedDatabaseFile, _ access: SQLConnection.Access, _ busyTimeout: Int32
    ) throws(ProtectedDatabaseError) -> Opened {
        let (registration, holder) = try file.claim()
        let connection = try file.retrying { () throws(ProtectedDatabaseError) in
            try file.translating(registration) {
                let connection = try file.connect(registration, access, busyTimeout: busyTimeout)
                try ProtectedDatabaseFile.enlargeCache(of: connection)
                return connection
            }
        }
        return Opened(connection: connection, registration: registration, holder: holder, ended: DispatchGroup())
    }

    private func follow(_ opened: Opened) {
        guard let holder = opened.holder else { return }
        // Not the connection: it has the holder, which has this closure.
        let (registration, interrupter, ended) = (opened.registration, opened.connection.interrupter, opened.ended)
        ended.enter()
        holder.onLock { [weak self] in
            self?.quiet(interrupter)
            registration.revoke()
            ended.leave()
        }
    }

    /// Interrupts what is running, and lets go of what SQLite has read.
    private func quiet(_ interrupter: SQLInterrupter) {
        let deadline = DispatchTime.now() + Self.grace
        while DispatchTime.now() < deadline {
            let isQuiet = state.withLockIfAvailable { opened in
                sqlite3_db_release_memory(opened?.connection.handle)
                return true
            }
            if isQuiet == true { return }
            // Again and again: a statement that begins after one was interrupted goes on.
            interrupter.interrupt()
            usleep(5000)
        }
    }

    /// Runs `body` with the connection.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/locked`` while the key's class is closed, and what `body` throws, as the file's
    ///   failure where the file is the reason.
    package func use<Result>(_ body: (SQLConnection) throws -> Result) throws -> Result {
        try reopenIfLocked()
        return try state.withLock { opened in
            guard let opened else {
                throw ProtectedDatabaseError(
                    .closed, path: file.path, message: "\(file.path) was closed by the program; open it again")
            }
            return try body(opened.connection)
        }
    }

    private func reopenIfLocked() throws(ProtectedDatabaseError) {
        guard let former = state.withLock({ $0 }), former.holder?.isLocked == true else { return }
        // Until then the new connection would share the claim.
        former.ended.wait()
        try? former.connection.close()
        former.registration.release()
        let opened = try Self.open(file, access, busyTimeout)
        state.withLock { $0 = opened }
        follow(opened)
    }

    /// What the engine says of the last failure.
    func takeFailure() -> VFSFailure? { state.withLock { $0?.registration.takeFailure() } }

    /// Closes the connection.
    package func close() {
        let former = state.withLock { opened in
            defer { opened = nil }
            return opened
        }
        guard let former else { return }
        if former.holder?.isLocked == true { former.ended.wait() }
        // The log would stay where others have the database open, with all that is in it.
        _ = try? former.connection.printed("PRAGMA wal_checkpoint(TRUNCATE)")
        try? former.connection.close()
        former.registration.release()
    }
}
