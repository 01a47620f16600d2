import Bytes
import CSQLite

/// The memory that SQLite allocates for an open file: its method table, our object, and after them the memory of the
/// system's VFS for the same file.
struct FileSlot {
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The offset of the memory of the system's VFS.
    static let innerOffset = MemoryLayout<sqlite3_file>.stride + MemoryLayout<(any VFSFile)?>.stride

    let file: File

    /// The same file for the system's VFS.
    var inner: File {
        (UnsafeMutableRawPointer(file) + Self.innerOffset).assumingMemoryBound(to: sqlite3_file.self)
    }

    private var place: UnsafeMutablePointer<(any VFSFile)?> {
        (UnsafeMutableRawPointer(file) + MemoryLayout<sqlite3_file>.stride)
            .assumingMemoryBound(to: (any VFSFile)?.self)
    }

    /// Stores `object` in the slot of a file that opens. The object lives until ``release()``.
    func put(_ object: any VFSFile, methods: UnsafePointer<sqlite3_io_methods>) {
        place.initialize(to: object)
        file.pointee.pMethods = methods
    }

    /// The object of a file that has one of our tables of methods.
    @inline(__always)
    var object: (any VFSFile)? { place.pointee }

    /// The database's file, if this is the slot of one of ours.
    @inline(__always)
    var database: DatabaseFile? {
        // Only databases have this table.
        file.pointee.pMethods == UnsafePointer(mainFileMethods) ? mainDatabase : nil
    }

    /// The database's file in a slot that has the methods of databases.
    @inline(__always)
    var mainDatabase: DatabaseFile? { place.pointee.map { unsafeDowncast($0, to: DatabaseFile.self) } }

    func release() { place.pointee = nil }
}

extension UnsafeMutablePointer<sqlite3_file> {
    // The methods of the system's VFS. It has all that are called here; a missing one counts as not supported.
    func close() -> Int32 { pointee.pMethods?.pointee.xClose?(self) ?? SQLITE_OK }

    func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        pointee.pMethods?.pointee.xRead?(self, bytes, Int32(clamping: count), offset) ?? SQLITE_IOERR
    }

    func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        pointee.pMethods?.pointee.xWrite?(self, bytes, Int32(clamping: count), offset) ?? SQLITE_IOERR
    }

    func truncate(_ size: Int64) -> Int32 { pointee.pMethods?.pointee.xTruncate?(self, size) ?? SQLITE_IOERR }

    func sync(_ flags: Int32) -> Int32 { pointee.pMethods?.pointee.xSync?(self, flags) ?? SQLITE_IOERR }

    func size(_ size: inout Int64) -> Int32 { pointee.pMethods?.pointee.xFileSize?(self, &size) ?? SQLITE_IOERR }

    func lock(_ level: Int32) -> Int32 { pointee.pMethods?.pointee.xLock?(self, level) ?? SQLITE_IOERR }

    func unlock(_ level: Int32) -> Int32 { pointee.pMethods?.pointee.xUnlock?(self, level) ?? SQLITE_IOERR }

    func checkReservedLock(_ result: UnsafeMutablePointer<Int32>?) -> Int32 {
        pointee.pMethods?.pointee.xCheckReservedLock?(self, result) ?? SQLITE_IOERR
    }

    func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        pointee.pMethods?.pointee.xFileControl?(self, operation, argument) ?? SQLITE_NOTFOUND
    }

    func sectorSize() -> Int32 { pointee.pMethods?.pointee.xSectorSize?(self) ?? 4096 }

    func characteristics() -> Int32 { pointee.pMethods?.pointee.xDeviceCharacteristics?(self) ?? 0 }
}
