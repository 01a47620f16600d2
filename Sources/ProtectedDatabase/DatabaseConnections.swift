import DatabaseVFS
import Dispatch
import GRDB
import Glibc
import Synchronization

/// The connections of an open database, with the claim to its key.
final class DatabaseConnections: Sendable {
    let writer: any DatabaseWriter
    let registration: DatabaseRegistration
    /// How many threads and tasks are using them.
    private let users = Atomic<Int>(0)
    private let ended = DispatchGroup()

    init(writer: any DatabaseWriter, registration: DatabaseRegistration) {
        self.writer = writer
        self.registration = registration
        ended.enter()
    }

    func retain() { users.add(1, ordering: .acquiringAndReleasing) }

    func release() { users.subtract(1, ordering: .acquiringAndReleasing) }

    var isInUse: Bool { users.load(ordering: .acquiring) > 0 }

    /// How long statements and transactions get to end before their key goes.
    static let grace = DispatchTimeInterval.seconds(2)

    /// Interrupts what is running, lets go of what SQLite has read, and takes the key away.
    ///
    /// GRDB's object stays open, since other threads may be about to use it, and GRDB does not check that before it asks SQLite
    /// about a connection: with the key gone, all that they do fails.
    func end() {
        defer { ended.leave() }
        let deadline = DispatchTime.now() + Self.grace
        while isInUse, DispatchTime.now() < deadline {
            // Again and again: a statement that begins after one was interrupted goes on.
            writer.interrupt()
            usleep(5_000)
        }
        if !isInUse {
            (writer as? DatabasePool)?.releaseMemory()
            (writer as? DatabaseQueue)?.releaseMemory()
        }
        registration.revoke()
    }

    /// Waits for ``end()``, which somebody has called or is about to: until then whoever opens the database would share the claim.
    func waitUntilEnded() { ended.wait() }
}
