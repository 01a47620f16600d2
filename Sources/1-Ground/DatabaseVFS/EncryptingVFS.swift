import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A VFS of SQLite that encrypts databases. It seals every page of the file, the write-ahead log and the rollback
/// journal. Temporary files stay in memory.
///
/// A connection selects it with a URI, `file:/path?vfs=keychain`. Databases that the connection attaches use it, too. A
/// connection with another VFS cannot attach an encrypted database, because it would write temporary files to the disk.
/// A file opens only while there is a registration of its path, so that nothing is written in plaintext because a key
/// is missing.
package enum EncryptingVFS {
    /// The name for `?vfs=`.
    package static let name = "keychain"

    /// Registers the 32-byte key of the database at `path`, which need not exist yet.
    ///
    /// - Parameter database: The id for a database that is created there; nil for a random one.
    package static func register(
        path: String, key: SecretBytes, creating database: DatabaseID? = nil
    ) throws(RegistrationError) -> DatabaseRegistration {
        try register(path: path, form: SealedForm(key: key, creating: database))
    }

    /// Registers the form and key of the database at `path`, which need not exist yet.
    package static func register(
        path: String, form: any PageForm
    ) throws(RegistrationError) -> DatabaseRegistration {
        try claim(path, contents: .formed(form))
    }

    /// Lets a plain SQLite database open unchanged, for conversions between a plain and an encrypted one.
    package static func registerPlain(path: String) throws(RegistrationError) -> DatabaseRegistration {
        try claim(path, contents: .plain)
    }

    /// Returns the URI that opens `path` through this VFS.
    ///
    /// - Parameter parameters: Further parameters (https://sqlite.org/uri.html), such as `mode=ro`.
    package static func uri(path: String, parameters: String = "") -> String {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = path.utf8.flatMap { byte -> [UInt8] in
            unreserved.contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return "file:" + String(decoding: escaped, as: UTF8.self) + "?vfs=" + name
            + (parameters.isEmpty ? "" : "&" + parameters)
    }

    private static func claim(
        _ path: String, contents: RegisteredPlace.Contents
    ) throws(RegistrationError) -> DatabaseRegistration {
        try installation.get()
        guard let full = fullPath(path) else { throw .noSuchFolder(path: path) }
        return try RegisteredPlaces.shared.claim(full, contents: contents)
    }

    /// Returns the file name that SQLite passes to ``openFile``.
    package static func fullPath(_ path: String) -> String? {
        guard let system = systemVFS, let resolve = system.pointee.xFullPathname else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
        let code = path.withCString { resolve(system, $0, Int32(clamping: buffer.count), &buffer) }
        // The code can also report a link (SQLITE_OK_SYMLINK).
        guard code & 0xFF == SQLITE_OK else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let installation: Result<Void, RegistrationError> = install()

    private static func install() -> Result<Void, RegistrationError> {
        // 3.32 has sqlite3_database_file_object. 3.36 reports what is needed to tell the writes of a transaction from
        // those of a checkpoint.
        guard sqlite3_libversion_number() >= 3_036_000 else {
            return .failure(.unsuitableSQLite(reason: "it is older than 3.36"))
        }
        guard sqlite3_compileoption_used("USE_URI") != 0 else {
            return .failure(.unsuitableSQLite(reason: "it was built without SQLITE_USE_URI"))
        }
        guard let system = systemVFS, system.pointee.iVersion >= 1 else {
            return .failure(.unsuitableSQLite(reason: "it has no VFS named unix"))
        }
        let code = sqlite3_vfs_register(encryptingVFS, 0)
        return code == SQLITE_OK
            ? .success(()) : .failure(.unsuitableSQLite(reason: "sqlite3_vfs_register returned \(code)"))
    }
}

/// The system's VFS, which reads and writes the files.
// Safe to share between threads: SQLite makes it at its start and never frees it. This module only reads it, and any
// thread may call its functions (sqlite.org/c3ref/vfs.html).
nonisolated(unsafe) let systemVFS: UnsafeMutablePointer<sqlite3_vfs>? =
    sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find("unix") : nil

// Safe to share between threads: it is filled once, before SQLite gets it, and never freed. SQLite writes only the
// `pNext` link of this struct, under its own lock, and this module does not read that link.
nonisolated(unsafe) let encryptingVFS: UnsafeMutablePointer<sqlite3_vfs> = {
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: sqlite3_vfs())
    vfs.pointee.iVersion = 2
    vfs.pointee.szOsFile = Int32(clamping: FileSlot.innerOffset) + (systemVFS?.pointee.szOsFile ?? 0)
    vfs.pointee.mxPathname = systemVFS?.pointee.mxPathname ?? 512
    // Never freed, like the VFS.
    vfs.pointee.zName = UnsafePointer(strdup(EncryptingVFS.name))
    vfs.pointee.xOpen = { EncryptingVFS.openFile($1, $2, $3, $4) }
    vfs.pointee.xDelete = { EncryptingVFS.deleteFile($1, $2) }
    vfs.pointee.xAccess = { systemVFS?.pointee.xAccess?(systemVFS, $1, $2, $3) ?? SQLITE_IOERR }
    vfs.pointee.xFullPathname = { systemVFS?.pointee.xFullPathname?(systemVFS, $1, $2, $3) ?? SQLITE_CANTOPEN }
    vfs.pointee.xDlOpen = { systemVFS?.pointee.xDlOpen?(systemVFS, $1) }
    vfs.pointee.xDlError = { systemVFS?.pointee.xDlError?(systemVFS, $1, $2) }
    vfs.pointee.xDlSym = { systemVFS?.pointee.xDlSym?(systemVFS, $1, $2) }
    vfs.pointee.xDlClose = { systemVFS?.pointee.xDlClose?(systemVFS, $1) }
    vfs.pointee.xRandomness = { systemVFS?.pointee.xRandomness?(systemVFS, $1, $2) ?? 0 }
    vfs.pointee.xSleep = { systemVFS?.pointee.xSleep?(systemVFS, $1) ?? 0 }
    vfs.pointee.xCurrentTime = { systemVFS?.pointee.xCurrentTime?(systemVFS, $1) ?? SQLITE_ERROR }
    vfs.pointee.xGetLastError = { systemVFS?.pointee.xGetLastError?(systemVFS, $1, $2) ?? 0 }
    vfs.pointee.xCurrentTimeInt64 = { systemVFS?.pointee.xCurrentTimeInt64?(systemVFS, $1) ?? SQLITE_ERROR }
    return vfs
}()
