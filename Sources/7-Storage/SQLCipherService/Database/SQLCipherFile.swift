import Bytes
import CLibrary
import SQLCipherWire
import SystemSQLite

/// Copies of whole databases: of another engine to SQLCipher files, and of SQLCipher files to other engines.
package enum SQLCipherFile {
    /// Makes a SQLCipher file of a database as it is at one moment. Reads the file again and compares it.
    ///
    /// The unfinished file is beside `path` under another name, and is also encrypted. The file gets its name when it
    /// is completely on the disk.
    ///
    /// - Parameters:
    ///   - source: On any VFS. It is read in one transaction.
    ///   - isReplacing: Whether to replace a file at `path`, in one step.
    ///   - progress: If it throws, the import ends and leaves nothing behind.
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
        // No other program sees the file before it is complete.
        try database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        let (summary, digest) = try transfer(from: source, to: database, progress)
        try database.close()
        // A new connection, which reads the virtual tables from the file.
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

    /// Copies a SQLCipher database into an empty database, in one transaction of the latter.
    ///
    /// - Parameter target: Not in a transaction.
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

/// The naming of complete files.
private enum Placement {
    static func place(_ part: String, at path: String, replacing isReplacing: Bool) throws(SQLCipherError) {
        try synchronize(part, O_RDWR)
        if isReplacing {
            guard rename(part, path) == 0 else { throw failure(path) }
        } else {
            // Unlike rename(2), link(2) does not replace a file.
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
