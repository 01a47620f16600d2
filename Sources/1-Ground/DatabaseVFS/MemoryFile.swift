import Bytes
import CLibrary
import CSQLite

/// A temporary file of SQLite, such as for a large sort: in memory that is wiped, and never on a disk.
final class MemoryFile: VFSFile {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private var count = 0

    deinit {
        guard let base else { return }
        explicit_bzero(base, capacity)
        munmap(base, capacity)
    }

    func read(_ bytes: UnsafeMutableRawPointer?, _ wanted: Int, at offset: Int64) -> Int32 {
        guard let bytes, wanted >= 0, offset >= 0 else { return SQLITE_IOERR }
        let present = max(0, min(wanted, count - Int(min(offset, Int64(count)))))
        if let base, present > 0 { memcpy(bytes, base + Int(offset), present) }
        guard present < wanted else { return SQLITE_OK }
        memset(bytes + present, 0, wanted - present)
        return SQLiteCode.ioShortRead
    }

    func write(_ bytes: UnsafeRawPointer?, _ given: Int, at offset: Int64) -> Int32 {
        let (end, overflow) = offset.addingReportingOverflow(Int64(given))
        guard let bytes, given >= 0, offset >= 0, !overflow, end < Int64(Int.max / 2), reserve(Int(end)), let base
        else {
            return SQLITE_FULL
        }
        memcpy(base + Int(offset), bytes, given)
        count = max(count, Int(end))
        return SQLITE_OK
    }

    func truncate(_ size: Int64) -> Int32 {
        guard size >= 0, size < Int64(count) else { return SQLITE_OK }
        if let base { explicit_bzero(base + Int(size), count - Int(size)) }
        count = Int(size)
        return SQLITE_OK
    }

    func sync(_ flags: Int32) -> Int32 { SQLITE_OK }

    func close() -> Int32 { SQLITE_OK }

    func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 {
        do throws(VFSFailure) { return try body() } catch { return error.code }
    }

    var sectorSize: Int32 { 4096 }

    func size(_ size: inout Int64) -> Int32 {
        size = Int64(count)
        return SQLITE_OK
    }

    var characteristics: Int32 { SQLITE_IOCAP_POWERSAFE_OVERWRITE }

    /// Reserves room for `size` bytes. Bytes that were not written read as zeros.
    private func reserve(_ size: Int) -> Bool {
        guard size > capacity else { return true }
        let wanted = (max(size, capacity * 2, 65_536) + 65_535) & ~65_535
        let moved = mmap(nil, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let moved, moved != MAP_FAILED else { return false }
        if let base {
            memcpy(moved, base, count)
            explicit_bzero(base, count)
            munmap(base, capacity)
        }
        madvise(moved, wanted, MADV_DONTDUMP)
        (base, capacity) = (moved, wanted)
        return true
    }
}
