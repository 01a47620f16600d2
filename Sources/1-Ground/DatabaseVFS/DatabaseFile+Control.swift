import Bytes
import CLibrary
import CSQLite

extension DatabaseFile {
    /// Handles a notification or question of SQLite (xFileControl).
    func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        switch operation {
        case SQLITE_FCNTL_PDB:
            connection = argument.map { Connection(place: $0.assumingMemoryBound(to: OpaquePointer?.self)) }
            return SQLITE_OK
        case SQLITE_FCNTL_CKPT_START:
            _ = notify(.checkpointBegins)
            return file.inner.control(operation, argument)
        case SQLITE_FCNTL_CKPT_DONE:
            let code = notify(.checkpointEnds)
            return code == SQLITE_OK ? file.inner.control(operation, argument) : code
        case SQLITE_FCNTL_COMMIT_PHASETWO:
            let code = notify(.commits)
            return code == SQLITE_OK ? file.inner.control(operation, argument) : code
        case SQLITE_FCNTL_MMAP_SIZE:
            // Mapped memory would give SQLite the sealed bytes.
            argument?.assumingMemoryBound(to: Int64.self).pointee = 0
            return SQLITE_OK
        case SQLITE_FCNTL_POWERSAFE_OVERWRITE:
            argument?.assumingMemoryBound(to: Int32.self).pointee = 1
            return SQLITE_OK
        case SQLITE_FCNTL_CHUNK_SIZE:
            // Allocating in advance would add pages that nobody sealed.
            return SQLITE_OK
        case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE, SQLITE_FCNTL_COMMIT_ATOMIC_WRITE, SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
            return SQLITE_NOTFOUND
        default:
            return file.inner.control(operation, argument)
        }
    }

    /// Returns whether the connection's temporary files go through this VFS. They do if its first database does.
    func keepsTemporaryFiles() -> Bool {
        guard let known = connection, !known.keepsTemporaryFiles, let handle = known.place.pointee else { return true }
        var vfs: UnsafeMutablePointer<sqlite3_vfs>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK else { return true }
        connection?.keepsTemporaryFiles = vfs == encryptingVFS
        return vfs == encryptingVFS
    }

    /// Makes SQLite reserve bytes in each page of a new database.
    ///
    /// SQLite takes their number from the header of a file, and an empty file has none. Giving it an invented header
    /// would also fix the page size, and then `VACUUM INTO` fails. The connection itself can be told instead, when it
    /// begins to use the file and before it writes the first page.
    func reserveBytesIfEmpty() {
        var size: Int64 = 0
        guard file.isWritable, file.inner.size(&size) == SQLITE_OK, size == 0,
            let connection = connection?.place.pointee
        else { return }
        for name in SchemaNames(of: connection) {
            var other: FileSlot.File?
            let code = sqlite3_file_control(connection, name, SQLITE_FCNTL_FILE_POINTER, &other)
            guard code == SQLITE_OK, let other, FileSlot(file: other).database === self else { continue }
            var reserved = Int32(clamping: file.place.reserved)
            _ = sqlite3_file_control(connection, name, SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        }
    }
}

/// The names of a connection's databases: `main`, `temp` and the attached ones.
private struct SchemaNames: Sequence, IteratorProtocol {
    private typealias Name = @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?

    /// sqlite3_db_name, which SQLite has since 3.39. Without it, attached databases cannot be created and are refused.
    private static let name: Name? = dlsym(nil, "sqlite3_db_name").map { unsafeBitCast($0, to: Name.self) }

    private let connection: OpaquePointer
    private var position: Int32 = 0

    init(of connection: OpaquePointer) { self.connection = connection }

    mutating func next() -> String? {
        defer { position += 1 }
        guard let name = Self.name else { return position == 0 ? "main" : nil }
        return name(connection, position).map { String(cString: $0) }
    }
}
