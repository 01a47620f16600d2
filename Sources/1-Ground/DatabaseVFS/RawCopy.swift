import Bytes
import CLibrary

/// A copy of the encrypted files of a database, unchanged and without the page index.
package enum RawCopy {
    /// - Parameters:
    ///   - path: The path of the database's file. It is locked meanwhile, so that all copies are of the same time.
    ///   - target: The path of the copy, in a folder that nobody else writes to.
    /// - Throws: ``VFSFailure/inUse(path:)`` if a connection of any process, also of this one, reads, writes or has a
    ///   log.
    package static func make(ofDatabase path: String, at target: String) throws(VFSFailure) {
        guard let path = EncryptingVFS.fullPath(path) else { throw .system("find the folder of", path) }
        let lock = try DatabaseLock(path)
        try copy(lock.number, path, to: target)
        for (suffix, foreign) in [
            ("-wal", VFSFailure.foreignLog(path: path + "-wal")),
            ("-journal", .foreignJournal(path: path + "-journal")),
        ] {
            let name = path + suffix
            // SQLite would follow a link, or wait for the other end of a pipe.
            let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                if errno == ENOENT { continue }
                throw errno == ELOOP ? foreign : .system("open", name)
            }
            defer { close(descriptor) }
            var information = stat()
            guard fstat(descriptor, &information) == 0 else { throw .system("examine", name) }
            guard information.st_mode & S_IFMT == S_IFREG else { throw foreign }
            try copy(descriptor, name, to: target + suffix)
        }
        try lock.check()
    }

    private static let chunk = 1 << 18

    /// Copies the data of a file. Keeps its holes.
    private static func copy(_ source: Int32, _ name: String, to target: String) throws(VFSFailure) {
        var information = stat()
        guard fstat(source, &information) == 0 else { throw .system("examine", name) }
        let copy = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard copy >= 0 else { throw .system("make", target) }
        defer { close(copy) }
        let room = UnsafeMutableRawPointer.allocate(byteCount: chunk, alignment: 4096)
        defer { room.deallocate() }
        var offset: Int64 = 0
        while let data = FileHoles.data(in: source, from: offset) {
            let count = WholeAccess.read(source, room, chunk, at: data)
            guard count >= 0 else { throw .system("read", name) }
            guard count > 0 else { break }
            guard WholeAccess.write(copy, room, count, at: data) else { throw .system("write", target) }
            offset = data + Int64(count)
        }
        guard ftruncate(copy, max(off_t(offset), information.st_size)) == 0 else { throw .system("write", target) }
    }
}

/// The holes of a file, and the data between them.
enum FileHoles {
    /// `SEEK_DATA` (lseek(2)), which Swift's module of the C library does not declare.
    private static let seekData: Int32 = 3

    /// Returns the first data at or after `offset`; nil if there are none. File systems without holes return `offset`.
    static func data(in descriptor: Int32, from offset: Int64) -> Int64? {
        let place = lseek(descriptor, off_t(offset), seekData)
        if place >= 0 { return Int64(place) }
        return errno == ENXIO ? nil : offset
    }
}

/// A lock that keeps all other connections from using a database's file.
private final class DatabaseLock {
    /// Locks of the file descriptor instead of the process (fcntl(2)): they also exclude connections of this process,
    /// and releasing them does not release those connections' locks. Swift's module of the C library does not declare
    /// the numbers.
    private static let test: Int32 = 36
    private static let set: Int32 = 37
    /// The bytes that SQLite locks (`PENDING_BYTE`, `SHARED_FIRST`, `SHARED_SIZE`; sqlite.org/fileformat2.html, 1.3.2).
    private static let first: off_t = 0x4000_0000
    private static let count: off_t = 512

    private let path: String
    private let descriptor: SharedDescriptor

    var number: Int32 { descriptor.number }

    init(_ path: String) throws(VFSFailure) {
        self.path = path
        guard let writing = try Self.descriptor(path) else {
            // A file that this user can only read cannot be locked. ``check()`` sees other connections that are open at
            // the end.
            descriptor = try SharedDescriptor.acquire(path, writing: false)
            try check()
            return
        }
        descriptor = writing
        var range = Self.range(F_WRLCK)
        guard fcntl(number, Self.set, &range) == 0 else {
            throw errno == EAGAIN || errno == EACCES ? .inUse(path: path) : .system("lock", path)
        }
    }

    /// Returns nil if this user may not write to the file.
    private static func descriptor(_ path: String) throws(VFSFailure) -> SharedDescriptor? {
        do throws(VFSFailure) {
            return try SharedDescriptor.acquire(path, writing: true)
        } catch {
            switch error {
            case .system(_, _, EACCES), .system(_, _, EROFS), .system(_, _, EPERM): return nil
            default: throw error
            }
        }
    }

    /// Throws if another connection uses the file.
    func check() throws(VFSFailure) {
        var range = Self.range(F_WRLCK)
        guard fcntl(number, Self.test, &range) == 0 else { throw .system("lock", path) }
        guard range.l_type == Int16(truncatingIfNeeded: F_UNLCK) else { throw .inUse(path: path) }
    }

    private static func range(_ type: Int32) -> flock {
        flock(
            l_type: Int16(clamping: type), l_whence: Int16(truncatingIfNeeded: SEEK_SET), l_start: first, l_len: count,
            l_pid: 0)
    }

    deinit {
        var range = Self.range(F_UNLCK)
        _ = fcntl(number, Self.set, &range)
        descriptor.release()
    }
}
