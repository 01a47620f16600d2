import CSQLite

/// A connection's file: the calls that SQLite makes for a file of any kind.
protocol VFSFile: AnyObject {
    /// Returns SQLite's code for what `body` does.
    func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32

    func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32

    func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32

    func truncate(_ size: Int64) throws(VFSFailure) -> Int32

    func sync(_ flags: Int32) throws(VFSFailure) -> Int32

    func size(_ size: inout Int64) throws(VFSFailure) -> Int32

    func close() -> Int32

    var sectorSize: Int32 { get }

    var characteristics: Int32 { get }
}
