import DatabaseVFS
import Dispatch
import GRDB
import Synchronization

/// The connections of an open database, with the claim to its key.
package final class DatabaseConnections: Sendable {
    let writer: any DatabaseWriter
    let registration: DatabaseRegistration
    /// How many threads and tasks are using them.
    private let users = Atomic<Int>(0)
    private let ended = DispatchGroup()
    /// What ``end()`` has begun and does not wait for.
    private let freed = DispatchGroup()
    /// Whether GRDB's object is closed, or about to be: it may not be interrupted then.
    private let isClosed = Mutex(false)

    init(writer: any DatabaseWriter, registration: DatabaseRegistration) {
        self.writer = writer
        self.registration = registration
        ended.enter()
    }

    func retain() { users.add(1, ordering: .acquiringAndReleasing) }

    func release() { users.subtract(1, ordering: .acquiringAndReleasing) }

    var isInUse: Bool { users.load(ordering: .acquiring) > 0 }

    /// How long statements and transactions get to end before their key goes. Tests, which know what is running, give
    /// less.
    @TaskLocal package static var grace = DispatchTimeInterval.seconds(2)
    private let grace = DatabaseConnections.grace

    /// Interrupts what is running, lets go of what SQLite has read, and takes the key away.
    ///
    /// GRDB's object stays open, since other threads may be about to use it, and GRDB does not check that before it
    /// asks SQLite about a connection: with the key gone, all that they do fails.
    func end() {
        defer { ended.leave() }
        let deadline = DispatchTime.now() + grace
        // On another thread, since GRDB waits until nobody uses a connection any more.
        DispatchQueue.global().async(group: freed) { [writer] in
            (writer as? DatabasePool)?.releaseMemory()
            (writer as? DatabaseQueue)?.releaseMemory()
        }
        while freed.wait(timeout: .now() + .milliseconds(5)) == .timedOut, DispatchTime.now() < deadline {
            // Again and again: a statement that begins after one was interrupted goes on.
            interrupt()
        }
        registration.revoke()
    }

    /// Interrupts statements, unless the connections are being closed.
    func interrupt() {
        isClosed.withLock { if !$0 { writer.interrupt() } }
    }

    /// Closes GRDB's object.
    ///
    /// - Parameter hasEnded: Whether ``end()`` was called, or is about to be; it is waited for.
    func close(hasEnded: Bool) throws {
        if hasEnded {
            ended.wait()
            freed.wait()
        }
        // GRDB closes its readers last, and they cannot: the log would stay, with all that is in it. Where others use
        // the database, it does.
        _ = try? writer.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        isClosed.withLock { $0 = true }
        try writer.close()
        registration.release()
    }

    /// Waits for ``end()``, which another caller has called or will call soon. Until it ends, a caller that opens the
    /// database would share the claim.
    func waitUntilEnded() { ended.wait() }
}
