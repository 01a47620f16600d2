import CSQLite

/// A connection's file. Subclasses implement the methods for each kind.
class VFSFile {
    /// Returns SQLite's code for what `body` does.
    func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 {
        do throws(VFSFailure) { return try body() } catch { return error.code }
    }

    func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        SQLITE_IOERR
    }

    func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        SQLITE_IOERR
    }

    func truncate(_ size: Int64) throws(VFSFailure) -> Int32 { SQLITE_IOERR }

    func sync(_ flags: Int32) throws(VFSFailure) -> Int32 { SQLITE_IOERR }

    func size(_ size: inout Int64) throws(VFSFailure) -> Int32 { SQLITE_IOERR }

    func close() -> Int32 { SQLITE_OK }

    var sectorSize: Int32 { 4096 }

    var characteristics: Int32 { 0 }
}
