import CSQLite

/// A connection's file that is not a database. SQLite does not lock it. Subclasses implement the methods for each kind.
class SideFile {
    func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) -> Int32 { SQLITE_IOERR }

    func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) -> Int32 { SQLITE_IOERR }

    func truncate(_ size: Int64) -> Int32 { SQLITE_IOERR }

    func sync(_ flags: Int32) -> Int32 { SQLITE_IOERR }

    func size(_ size: inout Int64) -> Int32 { SQLITE_IOERR }

    func close() -> Int32 { SQLITE_OK }

    var sectorSize: Int32 { 4096 }

    var characteristics: Int32 { 0 }
}
