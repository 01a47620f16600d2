import Glibc
import KeychainModel
import SQLCipherWire
import SystemSQLite

/// SQLCipher files as wholes: made of databases of another engine, and the other way round.
package enum SQLCipherFile {
    /// Makes a SQLCipher file of a database, as it is at one moment, and reads it again to compare it.
    ///
    /// What is half-done is beside `path` under a name of its own, encrypted as well; the file is at `path` when all of it
    /// is on the disk.
    ///
    /// - Parameters:
    ///   - source: On any VFS. It is read in one transaction.
    ///   - isReplacing: Whether something may be at `path`, whose place the file takes in one step.
    ///   - progress: What it throws ends the import, and leaves nothing behind.
    @discardableResult
    package static func `import`(
        _ source: SQLConnection, to path: String, key: CipherKey, replacing isReplacing: Bool = false,
        options: SQLCipherOptions = .init(), progress: (TransferProgress) throws -> Void = { _ in }
    ) throws -> TransferSummary {
        if !isReplacing, access(path, F_OK) == 0 {
            throw SQLCipherError.refused(RequestFailure(.exists, "there is something at \(path) already"))
        }
        let name = [UInt8].random(count: 6).hexadecimal()
        let part = "\(path).\(name).importing"
        defer { for name in [part, part + "-journal"] { unlink(name) } }
        let source = SystemTransferConnection(source)
        let database = try SQLCipherDatabase.create(part, key: key, options: options)
        // Nobody sees the file before it is whole.
        try database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        let (summary, digest) = try transfer(from: source, to: database, progress)
        try database.close()
        // A connection of its own, which has the virtual tables as the file has them.
        let written = try SQLCipherDatabase(part, key: key, options: options)
        var copy = TransferDigest()
        try TransferReader(written).send { copy.add($0) }
        if let table = digest.differences(from: copy, without: summary.omitted).first {
            throw TransferError.differs(table: table)
        }
        try written.close()
        try Placement.place(part, at: path, replacing: isReplacing)
        return summary
    }

    /// Copies a SQLCipher database into one with nothing in it, in one transaction of that.
    ///
    /// - Parameter target: Outside of a transaction.
    @discardableResult
    package static func export(
        _ database: SQLCipherDatabase, to target: SQLConnection, progress: (TransferProgress) throws -> Void = { _ in }
    ) throws -> TransferSummary {
        let target = SystemTransferConnection(target)
        let (summary, digest) = try transfer(from: database, to: target, progress)
        var copy = TransferDigest()
        try TransferReader(target).send { copy.add($0) }
        if let table = digest.differences(from: copy, without: summary.omitted).first {
            throw TransferError.differs(table: table)
        }
        return summary
    }

    static func transfer(
        from source: any TransferConnection, to target: any TransferConnection,
        _ progress: (TransferProgress) throws -> Void
    ) throws -> (TransferSummary, TransferDigest) {
        let writer = try TransferWriter(target)
        var digest = TransferDigest()
        do {
            try TransferReader(source).send(progress: progress) { part in
                digest.add(part)
                try writer.receive(part)
            }
            try writer.finish()
        } catch {
            writer.cancel()
            throw error
        }
        return (writer.summary, digest)
    }
}

/// Files that take their place when they are whole.
private enum Placement {
    static func place(_ part: String, at path: String, replacing isReplacing: Bool) throws(SQLCipherError) {
        try synchronize(part, O_RDWR)
        if isReplacing {
            guard rename(part, path) == 0 else { throw failure(path) }
        } else {
            // Unlike rename(2) it does not take the place of another.
            guard link(part, path) == 0 else { throw failure(path) }
            unlink(part)
        }
        try synchronize(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY)
    }

    private static func synchronize(_ path: String, _ flags: Int32) throws(SQLCipherError) {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> SQLCipherError {
        .file(path: path, reason: String(cString: strerror(errno)))
    }
}
