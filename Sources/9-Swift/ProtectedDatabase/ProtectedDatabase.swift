import DataProtectionEssentials
import DatabaseFiles
import Foundation
import GRDB
import Synchronization

/// An encrypted SQLite database, whose key the keychain keeps, with all that GRDB has for databases.
///
/// ```swift
/// let database = try ProtectedDatabase(path: path, key: .keychain(.complete))
/// try database.write { db in
///     try db.execute(sql: "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
///     try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: ["a secret"])
/// }
/// let notes = try database.read { db in try String.fetchAll(db, sql: "SELECT text FROM note") }
/// ```
///
/// Every page of the database and of its journals is encrypted and authenticated; nothing is written in plain form, not
/// even for a moment. It is a `DatabaseWriter`: records, queries, migrations, observations work as with a
/// `DatabasePool`, which is what is behind it unless ``Connections/queue`` is asked for.
///
/// When the vault is locked, a database whose key's class closes is closed: statements that run are interrupted,
/// transactions that were not committed are rolled back, and the key is wiped, two seconds later at the latest. From
/// then on `read(_:)` and `write(_:)` throw ``ProtectedDatabaseError/Code/locked``; after the next
/// unlocking they open the database again. Observations end at a lock with an error and have to be started again.
///
/// A value may be used from any thread. Several values, in several processes too, may have the same database open.
public final class ProtectedDatabase: Sendable {
    /// What is behind a database.
    public enum Connections: Sendable, Hashable {
        /// GRDB's `DatabasePool`: a write-ahead log, and readers beside the one writer.
        case pool
        /// GRDB's `DatabaseQueue`: one connection.
        case queue
    }

    /// Whether a database is made where there is none.
    public enum Creation: Sendable, Hashable {
        /// It is made.
        case ifMissing
        /// ``ProtectedDatabaseError/Code/fileNotFound``.
        case never
    }

    /// The file.
    public let file: ProtectedDatabaseFile
    let kind: Connections
    let setup: Configuration

    private enum Phase {
        case open
        /// Its key is gone.
        case locked
        case closed
    }

    private struct State {
        var connections: DatabaseConnections
        var phase = Phase.open
    }

    private let state: Mutex<State>
    private let lockGuard = Mutex<LockGuard?>(nil)

    /// Opens a database, or makes it.
    ///
    /// - Parameters:
    ///   - path: Of its file.
    ///   - key: Where to store the key of a new database. The key of an existing database stays where it is.
    ///   - connections: Whether to have one connection or several.
    ///   - configuration: GRDB's. What it prepares is done after the database has its key.
    ///   - creation: Whether a database is made where there is none.
    ///   - prompt: The text of the question to a person, if the key needs one.
    /// - Throws: ``ProtectedDatabaseError/Code/locked`` while the key's class is closed,
    ///   ``ProtectedDatabaseError/Code/notEncrypted`` for a plain database, which
    ///   ``ProtectedDatabaseFile/encrypt(key:progress:)`` encrypts, and what keeps the key or the file from being used.
    public init(
        path: String, key: DatabaseKeyStorage? = nil, connections: Connections = .pool,
        configuration: Configuration = Configuration(), creation: Creation = .ifMissing, prompt: String? = nil
    ) throws {
        file = ProtectedDatabaseFile(path: path, prompt: prompt)
        kind = connections
        setup = configuration
        if creation == .ifMissing { try file.createIfMissing(key) }
        let (opened, holder) = try file.open(connections, configuration)
        state = Mutex(State(connections: opened))
        follow(holder)
    }

    /// Opens a SQLCipher file, or makes it. Other programs, also those with SQLCipher, may have it open.
    ///
    /// - Parameters:
    ///   - path: Of its file.
    ///   - sqlcipher: The key, and what else is needed to open the file.
    ///   - connections: Whether to have one connection or several.
    ///   - configuration: GRDB's. What it prepares is done after the database has its key.
    ///   - creation: Whether a file is made where there is none.
    ///   - prompt: The text of the question to a person, if the keychain keeps the key and the key needs one.
    /// - Throws: ``ProtectedDatabaseError/Code/wrongKey`` if the key opens the file in no format that was tried,
    ///   ``ProtectedDatabaseError/Code/notEncrypted`` for a plain database,
    ///   ``ProtectedDatabaseError/Code/fileNotFound`` if there is no file and none is to be made,
    ///   ``ProtectedDatabaseError/Code/invalidRequest`` for options that SQLCipher does not support, and what keeps the
    ///   file from being used.
    public init(
        path: String, sqlcipher: SQLCipherOptions, connections: Connections = .pool,
        configuration: Configuration = Configuration(), creation: Creation = .ifMissing, prompt: String? = nil
    ) throws {
        file = ProtectedDatabaseFile(path: path, sqlcipher: sqlcipher, prompt: prompt)
        kind = connections
        setup = configuration
        guard creation == .ifMissing || file.exists else {
            throw ProtectedDatabaseError(
                .fileNotFound, path: path, message: "there is no \(path); check the path, or let it be made")
        }
        if creation == .ifMissing { try file.createIfMissing(nil) }
        let (opened, holder) = try file.open(connections, configuration)
        state = Mutex(State(connections: opened))
        follow(holder)
    }

    private func follow(_ holder: LockGuard?) {
        lockGuard.withLock { $0 = holder }
        holder?.onLock { [weak self] in self?.lock() }
    }

    private func lock() {
        let connections = state.withLock { state -> DatabaseConnections? in
            guard state.phase == .open else { return nil }
            state.phase = .locked
            return state.connections
        }
        connections?.end()
    }

    /// Whether the database is closed because the vault was locked. It opens again by itself at the next use after the
    /// unlocking.
    public var isLocked: Bool { state.withLock { $0.phase == .locked } }

    /// GRDB's own object, a `DatabasePool` or a `DatabaseQueue`, for what takes one of them.
    ///
    /// When the database is locked it loses its key, and all that is done with it fails; ask for another then.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/locked`` while the key's class is closed, and
    ///   ``ProtectedDatabaseError/Code/closed`` after ``close()``.
    public func connection() throws -> any DatabaseWriter { try acquire(counting: false).writer }

    /// The connections, opened again if they can be.
    ///
    /// - Parameter counting: Whether the caller uses the connections now, and releases them afterwards.
    func acquire(counting: Bool = true) throws -> DatabaseConnections {
        // Callers that come at the same time wait, so that the key is asked for once.
        let (connections, holder) = try state.withLock {
            state throws -> (DatabaseConnections, LockGuard?) in
            var holder: LockGuard?
            switch state.phase {
            case .open: break
            case .closed:
                throw ProtectedDatabaseError(
                    .closed, path: file.path, message: "\(file.path) was closed by the program; open it again")
            case .locked:
                state.connections.waitUntilEnded()
                let (opened, found) = try file.open(kind, setup)
                holder = found
                state = State(connections: opened)
            }
            if counting { state.connections.retain() }
            return (state.connections, holder)
        }
        if let holder { follow(holder) }
        return connections
    }

    /// Runs `body` with the connections.
    func using<Result>(_ body: (any DatabaseWriter) throws -> Result) throws -> Result {
        let connections = try acquire()
        defer { connections.release() }
        return try body(connections.writer)
    }

    /// Runs `body` with the connections.
    func using<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (any DatabaseWriter) async throws -> Result
    ) async throws -> Result {
        let connections = try acquire()
        defer { connections.release() }
        return try await body(connections.writer)
    }

    /// What is behind the database, for what cannot fail: where there is no key, each statement does.
    var present: any DatabaseWriter { (try? acquire(counting: false))?.writer ?? latest.writer }

    /// The connections, whether they can be used or not.
    var latest: DatabaseConnections { state.withLock { $0.connections } }

    /// Runs `body` with what is behind the database, for what cannot fail by itself.
    func usingPresent<Result>(_ body: (any DatabaseWriter) throws -> Result) rethrows -> Result {
        guard let connections = try? acquire() else { return try body(latest.writer) }
        defer { connections.release() }
        return try body(connections.writer)
    }

    /// Closes the database. What GRDB's own objects have is closed when they go.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/busy`` while anything is running, and GRDB's `DatabaseError` where
    ///   statements or cursors are left.
    public func close() throws {
        let former = try state.withLock { state throws -> (DatabaseConnections, Phase)? in
            guard state.phase != .closed else { return nil }
            guard !state.connections.isInUse else {
                throw ProtectedDatabaseError(
                    .busy, path: file.path, message: "\(file.path) is being used; close it when that has ended")
            }
            defer { state.phase = .closed }
            return (state.connections, state.phase)
        }
        lockGuard.withLock { $0 = nil }
        if let (connections, phase) = former { try connections.close(hasEnded: phase == .locked) }
    }
}
