import Bytes
import CLibrary
import CSQLite
import DatabasePages
import DatabaseVFS
import FoundationEssentials
import KeychainModel
import SystemSQLite

/// A database that is copied.
final class DatabaseSource {
    private let file: ProtectedDatabaseFile
    private let connection: SQLConnection
    private let registration: DatabaseRegistration

    /// - Parameters:
    ///   - registration: The claim to its key.
    ///   - isExclusive: Whether nobody else may use it from now on, until this value goes.
    init(
        _ file: ProtectedDatabaseFile, _ registration: DatabaseRegistration, isExclusive: Bool = true
    ) throws {
        self.file = file
        let opened = try Self.identity(of: file)
        self.registration = registration
        connection = try file.translating(registration) { try file.connect(registration, busyTimeout: 2000) }
        guard isExclusive else { return }
        try file.translating(registration) { [connection] in
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            // Takes what is in a write-ahead log into the file, which only the last connection can.
            try connection.execute("PRAGMA journal_mode = DELETE")
            // The lock stays when the transaction ends.
            try connection.execute("BEGIN EXCLUSIVE; COMMIT")
        }
        // Somebody may have put another database in its place while this one waited for the lock of the former.
        guard try Self.identity(of: file) == opened else {
            throw ProtectedDatabaseError(
                .busy, path: file.path,
                message: "\(file.path) was converted by somebody else meanwhile; look at it again")
        }
        // In some modes SQLite leaves one, with pages in it as they were. If there was anything to roll back, that has
        // been done.
        unlink(registration.path + "-journal")
    }

    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    private static func identity(of file: ProtectedDatabaseFile) throws -> Identity {
        var information = stat()
        guard stat(file.path, &information) == 0 else { throw ProtectedDatabaseError("open", file.path, errno: errno) }
        return Identity(device: UInt64(information.st_dev), inode: UInt64(information.st_ino))
    }

    /// Has SQLite look whether all pages fit together.
    func requireIntegrity() throws {
        let found = try file.translating(registration) { try connection.printed("PRAGMA integrity_check(10)") }
        guard found == ["ok"] else {
            throw ProtectedDatabaseError(
                .damaged, path: file.path,
                message:
                    "\(file.path) does not fit together: \(found.joined(separator: "; ")); restore it from a backup")
        }
    }

    /// Copies all there is to a new database.
    ///
    /// - Parameter targetFile: Says how large its pages are.
    func copy(
        to target: DatabaseRegistration, like targetFile: ProtectedDatabaseFile,
        progress: (ProtectedDatabaseFile.Progress) -> Bool
    ) throws {
        let total = try size()
        try checkSpace(total, at: target.path)
        try withoutActuallyEscaping(progress) { progress in
            let meter = CopyMeter(total: total, path: target.path, progress: progress)
            do {
                // For VACUUM to make the copy with room for the seals; it does nothing to the database itself. Pages
                // never reserve fewer bytes than those of the database.
                var reserved = Int32(clamping: target.reserved)
                sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
                let pageSize = try connection.integer("PRAGMA page_size").map { Int($0) }
                try connection.execute("PRAGMA page_size = \(targetFile.newPageSize(copying: pageSize))")
                sqlite3_progress_handler(
                    connection.handle, 20_000,
                    { context in
                        guard let context else { return 0 }
                        return Unmanaged<CopyMeter>.fromOpaque(context).takeUnretainedValue().tick() ? 0 : 1
                    }, Unmanaged.passUnretained(meter).toOpaque())
                defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
                let vacuum = try connection.prepare("VACUUM INTO ?")
                try vacuum.bind(target.uri, at: 1)
                try vacuum.run()
            } catch {
                if meter.isCanceled {
                    throw ProtectedDatabaseError(
                        .taskCanceled, path: file.path, message: "\(file.path) was left as it was")
                }
                throw ProtectedDatabaseError(error, registration.takeFailure(), at: file.path)
            }
            meter.finish()
        }
    }

    private func size() throws -> UInt64 {
        try file.translating(registration) {
            let pages = try connection.integer("PRAGMA page_count") ?? 0
            let free = try connection.integer("PRAGMA freelist_count") ?? 0
            let size = try connection.integer("PRAGMA page_size") ?? 0
            return UInt64(clamping: (pages - free) * size)
        }
    }

    /// Seals and what SQLite moves about make the copy longer by some two per cent.
    private func checkSpace(_ total: UInt64, at target: String) throws {
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
        var system = statvfs()
        guard statvfs(folder, &system) == 0 else {
            throw ProtectedDatabaseError("examine the file system of", folder, errno: errno)
        }
        guard UInt64(system.f_bavail).timesClamping(UInt64(system.f_frsize)) >= total + total / 32 + 65_536 else {
            throw ProtectedDatabaseError(
                .diskFull, path: file.path,
                message:
                    "there is no room in \(folder) for a copy of \(file.path), \(total) bytes; free some and try again")
        }
    }

    deinit { try? connection.close() }
}

/// Tells how far a copy is by how long it has become.
private final class CopyMeter {
    private let total: UInt64
    private let path: String
    private let progress: (ProtectedDatabaseFile.Progress) -> Bool
    private(set) var isCanceled = false

    init(total: UInt64, path: String, progress: @escaping (ProtectedDatabaseFile.Progress) -> Bool) {
        (self.total, self.path, self.progress) = (total, path, progress)
    }

    /// Whether to go on.
    func tick() -> Bool {
        var information = stat()
        let done = stat(path, &information) == 0 ? UInt64(clamping: information.st_size) : 0
        isCanceled = !progress(.init(done: min(done, total), total: total))
        return !isCanceled
    }

    func finish() { _ = progress(.init(done: total, total: total)) }
}
