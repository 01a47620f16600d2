import CSQLite
import DatabasePages
import Glibc
import KeychainModel

/// A VFS of SQLite's that keeps databases encrypted: every page of file, write-ahead log and rollback journal is sealed, and
/// temporary files stay in memory.
///
/// A connection asks for it by a URI, `file:/path?vfs=keychain`; databases that it attaches come under it, too. To a connection of
/// another VFS, which would keep temporary files on the disk, encrypted databases cannot be attached. A file opens
/// while somebody holds a registration of its path, and in no other case: nothing is ever written in the clear for want of a key.
package enum EncryptingVFS {
    /// As in `?vfs=`.
    package static let name = "keychain"

    /// Gives the key, of 32 bytes, of the database at `path`, which need not exist yet.
    ///
    /// - Parameter database: The id of a database that is made there; nil for a random one.
    package static func register(
        path: String, key: SecretBytes, creating database: DatabaseID? = nil
    ) throws(RegistrationError) -> DatabaseRegistration {
        try claim(path, contents: .encrypted(key: key, creating: database))
    }

    /// Lets a plain SQLite database through, as it is: for conversions, which read one and write the other.
    package static func registerPlain(path: String) throws(RegistrationError) -> DatabaseRegistration {
        try claim(path, contents: .plain)
    }

    /// The URI that opens `path` through this VFS.
    ///
    /// - Parameter parameters: More of them (https://sqlite.org/uri.html), such as `mode=ro`.
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

    /// The name that SQLite gives a file: the one that ``openFile`` sees.
    package static func fullPath(_ path: String) -> String? {
        guard let system = systemVFS, let resolve = system.pointee.xFullPathname else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(system.pointee.mxPathname) + 1)
        let code = path.withCString { resolve(system, $0, Int32(buffer.count), &buffer) }
        // The code may say that there was a link (SQLITE_OK_SYMLINK).
        guard code & 0xFF == SQLITE_OK else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let installation: Result<Void, RegistrationError> = install()

    private static func install() -> Result<Void, RegistrationError> {
        // sqlite3_database_file_object, 3.32; and writes to a database are told from those of a checkpoint by what 3.36 tells.
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

/// The one that does the work beneath.
// Safe to share between threads: SQLite makes it when it starts and never frees it; here it is only read, and its functions may be
// called by any thread (sqlite.org/c3ref/vfs.html).
nonisolated(unsafe) let systemVFS: UnsafeMutablePointer<sqlite3_vfs>? =
    sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find("unix") : nil

// Safe to share between threads: filled in once, before SQLite hears of it, and never freed; SQLite changes but the link of its list
// (`pNext`), under its own lock, and nobody here reads that.
nonisolated(unsafe) let encryptingVFS: UnsafeMutablePointer<sqlite3_vfs> = {
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: sqlite3_vfs())
    vfs.pointee.iVersion = 2
    vfs.pointee.szOsFile = Int32(FileSlot.innerOffset) + (systemVFS?.pointee.szOsFile ?? 0)
    vfs.pointee.mxPathname = systemVFS?.pointee.mxPathname ?? 512
    // Never freed, as the VFS is not.
    vfs.pointee.zName = UnsafePointer(strdup(EncryptingVFS.name))
    vfs.pointee.xOpen = { openFile($1, $2, $3, $4) }
    vfs.pointee.xDelete = { deleteFile($1, $2) }
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
