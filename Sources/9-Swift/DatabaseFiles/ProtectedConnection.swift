import CLibrary
import DataProtectionEssentials
import DatabaseVFS
import Dispatch
import Synchronization
import SystemSQLite

/// One connection to an encrypted database, for statements that one thread carries out one after the other.
///
/// When the vault is locked and the key's class closes, statements that run are interrupted, transactions that were not
/// committed are rolled back, and the key is wiped, two seconds later at the latest. The next use opens the database
/// again, if it can.
package final class ProtectedConnection: Sendable {
    private let file: ProtectedDatabaseFile
    private let access: SQLConnection.Access
    private let busyTimeout: Int32
    /// Held by the thread that uses the connection.
    private let state: Mutex<State>

    private enum State {
        case open(Opened)
        /// A lock ended the connection; the next use opens another one.
        case ended
        case closed

        /// What to wait for after a lock.
        var wiped: DispatchGroup? {
            guard case .open(let opened) = self, opened.isLocked else { return nil }
            return opened.wiped
        }
    }

    // Safe to send: a thread uses the connection only while it holds `state`, and the interrupter is made for other
    // threads.
    private struct Opened: @unchecked Sendable {
        let connection: SQLConnection
        let registration: DatabaseRegistration
        let holder: LockGuard?
        /// Completes when the key of a locked database has been wiped.
        let wiped: DispatchGroup

        var isLocked: Bool { holder?.isLocked == true }

        func close() {
            try? connection.close()
            registration.release()
        }
    }

    /// How long statements and transactions get to end before their key goes.
    private static let grace = DispatchTimeInterval.seconds(2)

    /// Opens the database, which may ask a person.
    ///
    /// - Parameter busyTimeout: How long a statement waits for other programs, in milliseconds.
    package init(
        _ file: ProtectedDatabaseFile, _ access: SQLConnection.Access, busyTimeout: Int32 = 0
    ) throws {
        self.file = file
        self.access = access
        self.busyTimeout = busyTimeout
        let opened = try Self.open(file, access, busyTimeout)
        state = Mutex(.open(opened))
        follow(opened)
    }

    deinit { close() }

    private static func open(
        _ file: ProtectedDatabaseFile, _ access: SQLConnection.Access, _ busyTimeout: Int32
    ) throws -> Opened {
        let (registration, holder) = try file.claim()
        let connection = try file.retrying {
            try file.translating(registration) {
                let connection = try file.connect(registration, access, busyTimeout: busyTimeout)
                try ProtectedDatabaseFile.enlargeCache(of: connection)
                return connection
            }
        }
        return Opened(connection: connection, registration: registration, holder: holder, wiped: DispatchGroup())
    }

    private func follow(_ opened: Opened) {
        guard let holder = opened.holder else { return }
        // Not the connection: it has the holder, which has this closure.
        let (registration, interrupter, wiped) = (opened.registration, opened.connection.interrupter, opened.wiped)
        wiped.enter()
        holder.onLock { [weak self] in
            // Elsewhere: the thread that calls this may hold `state`.
            DispatchQueue.global().async { [weak self] in
                self?.quiet(interrupter)
                registration.revoke()
                wiped.leave()
            }
        }
    }

    /// Interrupts what is running, and lets go of what SQLite has read.
    private func quiet(_ interrupter: SQLInterrupter) {
        let deadline = DispatchTime.now() + Self.grace
        while DispatchTime.now() < deadline {
            let isQuiet = state.withLockIfAvailable { state in
                if case .open(let opened) = state { opened.connection.releaseMemory() }
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
    /// - Throws: ``ProtectedDatabaseError`` when the file or its key is the reason, such as
    ///   ``ProtectedDatabaseError/Code/locked`` when the vault is locked before `body` has ended; else what `body`
    ///   throws.
    package func use<Result>(_ body: (SQLConnection) throws -> Result) throws -> Result {
        while true {
            // Waited for without `state`, which `quiet` needs.
            if let wiped = state.withLock({ $0.wiped }) { wiped.wait() }
            let result = try state.withLock { state -> Result? in
                guard let opened = try usable(&state) else { return nil }
                do {
                    return try body(opened.connection)
                } catch let error as SQLiteError {
                    if let failure = opened.registration.takeFailure() {
                        throw ProtectedDatabaseError(failure, at: file.path)
                    }
                    guard opened.isLocked else { throw error }
                    throw ProtectedDatabaseError(VFSFailure.revoked(path: file.path), at: file.path)
                }
            }
            if let result { return result }
        }
    }

    /// The connection, which is opened again if a lock ended it; nil while the key of a locked one is still being
    /// wiped.
    private func usable(_ state: inout State) throws -> Opened? {
        switch state {
        case .open(let opened):
            guard opened.isLocked else { return opened }
            // Until then a new connection would share the claim.
            guard opened.wiped.wait(timeout: .now()) == .success else { return nil }
            opened.close()
            state = .ended
        case .ended: break
        case .closed:
            throw ProtectedDatabaseError(
                .closed, path: file.path, message: "\(file.path) was closed by the program; open it again")
        }
        let opened = try Self.open(file, access, busyTimeout)
        state = .open(opened)
        follow(opened)
        return opened
    }

    /// What the engine says of the last failure.
    func takeFailure() -> VFSFailure? {
        state.withLock { state in
            guard case .open(let opened) = state else { return nil }
            return opened.registration.takeFailure()
        }
    }

    /// Closes the connection.
    package func close() {
        if let wiped = state.withLock({ $0.wiped }) { wiped.wait() }
        state.withLock { state in
            if case .open(let opened) = state {
                // The log would stay where others have the database open, with all that is in it.
                if !opened.isLocked { _ = try? opened.connection.printed("PRAGMA wal_checkpoint(TRUNCATE)") }
                opened.close()
            }
            state = .closed
        }
    }
}
