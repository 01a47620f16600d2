import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A database's file that a connection has open.
package final class OpenFile {
    let inner: FileSlot.File
    let place: RegisteredPlace
    package let isWritable: Bool
    private let descriptor: SharedDescriptor
    /// The connection's lock on the file: one of `SQLITE_LOCK_…`.
    package internal(set) var lockLevel = SQLITE_LOCK_NONE

    /// Called after the system's VFS has opened the file.
    init(inner: FileSlot.File, place: RegisteredPlace, isWritable: Bool) throws(VFSFailure) {
        descriptor = try SharedDescriptor.acquire(place.path, writing: isWritable)
        (self.inner, self.place, self.isWritable) = (inner, place, isWritable)
    }

    func close() -> Int32 {
        let code = inner.close()
        descriptor.release()
        return code
    }

    package var path: String { place.path }
    package var number: Int32 { descriptor.number }

    /// Returns the first 16 bytes; nil for an empty file, and for zeros after a power failure, which the journal will
    /// cut.
    package func start() throws(VFSFailure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
        _ = try read(&bytes, bytes.count, at: 0)
        return bytes.allSatisfy { $0 == 0 } ? nil : bytes
    }

    /// Reads up to `count` bytes. Returns how many the file has.
    package func read(
        _ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64
    ) throws(VFSFailure) -> Int {
        let got = WholeAccess.read(number, bytes, count, at: offset)
        guard got >= 0 else { throw .system("read", path) }
        return got
    }

    package func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) throws(VFSFailure) {
        guard WholeAccess.write(number, bytes, count, at: offset) else { throw .system("write", path) }
    }

    /// Reads a sealed page. Returns how many bytes of it the file has.
    package func read(
        _ page: UInt32, _ room: PageRoom, into bytes: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Int {
        try read(bytes, room.size, at: Int64(page - 1) * Int64(room.size))
    }

    /// Writes a sealed page.
    package func write(_ page: UInt32, _ room: PageRoom, _ bytes: UnsafeRawPointer) throws(VFSFailure) {
        try write(bytes, room.size, at: Int64(page - 1) * Int64(room.size))
    }
}

/// Reads and writes of all of `count` bytes, except those behind the end of the file.
package enum WholeAccess {
    package static func read(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64
    ) -> Int {
        SystemCall.readAll(
            into: UnsafeMutableRawBufferPointer(start: bytes, count: count), from: descriptor, at: offset)
    }

    package static func write(
        _ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64
    ) -> Bool {
        SystemCall.writeAll(UnsafeRawBufferPointer(start: bytes, count: count), to: descriptor, at: offset)
    }
}
