import Bytes
import CLibrary
import FoundationEssentials

/// Files in a folder that other programs read and write, too.
struct SharedFolder {
    let path: String

    func folder(_ name: String) -> SharedFolder { SharedFolder(path: path + "/" + name) }

    var exists: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes the folder, unless it is there.
    func make() throws(FolderCarrierError) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw failure(path) }
    }

    /// Names without those that begin with a dot, which programs that synchronize use for themselves.
    func names() -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// What tells a file that changed from one that did not; nil if it is not there, or is no regular file.
    func stamp(_ name: String) -> FileStamp? {
        var status = stat()
        guard lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileStamp(status)
    }

    /// The same of the folder itself, which changes with the names in it.
    var stamp: FileStamp? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        return FileStamp(status)
    }

    /// Opens a file for reading parts of it; nil if it is not there, or is no regular file.
    func source(_ name: String) -> SegmentSource? {
        let file = open(path + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            return nil
        }
        return SegmentSource(file, size: Int(status.st_size))
    }

    /// Reads a file; nil if it is not there, or is no regular file of at most `limit` bytes.
    func read(_ name: String, limit: Int) -> Data? {
        let file = open(path + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { return nil }
        var bytes = Data(count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { room in
                CLibrary.read(file, room.baseAddress.map { $0 + filled }, room.count - filled)
            }
            guard count > 0 else { break }
            filled += count
        }
        return bytes.prefix(filled)
    }

    /// Makes a file with this contents: under another name first, so that nobody reads half of it.
    func make(_ name: String, _ contents: Data) throws(FolderCarrierError) {
        let temporary = path + "/." + name + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { throw failure(temporary) }
        do throws(FolderCarrierError) {
            try write(contents, to: file, temporary)
        } catch {
            close(file)
            unlink(temporary)
            throw error
        }
        close(file)
        guard rename(temporary, path + "/" + name) == 0 else { throw failure(path + "/" + name) }
        try synchronize()
    }

    /// Removes a file; one that is not there is no failure.
    func remove(_ name: String) { unlink(path + "/" + name) }

    /// Writes `contents` at `offset`, the end of a file, and waits for the disk. Removes what is behind `offset`.
    func append(_ contents: Data, to name: String, at offset: Int) throws(FolderCarrierError) {
        let place = path + "/" + name
        let file = open(place, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
        guard file >= 0 else { throw failure(place) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .inputOutput(path: place, reason: "it is no regular file")
        }
        guard ftruncate(file, off_t(offset)) == 0, lseek(file, off_t(offset), SEEK_SET) == off_t(offset) else {
            throw failure(place)
        }
        try write(contents, to: file, place)
        if offset == 0 { try synchronize() }
    }

    private func write(_ contents: Data, to file: Int32, _ place: String) throws(FolderCarrierError) {
        var rest = contents[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { CLibrary.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(place) }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0 else { throw failure(place) }
    }

    /// Waits until the names of new files are on the disk.
    private func synchronize() throws(FolderCarrierError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(path) }
        defer { close(folder) }
        // A file system of the network may not be able to.
        guard fsync(folder) == 0 || errno == EINVAL else { throw failure(path) }
    }

    private func failure(_ path: String) -> FolderCarrierError {
        .inputOutput(path: path, reason: String(cString: strerror(errno)))
    }
}

/// What tells a file that changed from one that did not, without reading it. It is a hint: who relies on it reads the
/// file again some time after its last change.
struct FileStamp: Equatable {
    let size: Int
    private let number: UInt64
    private let modified: timespec
    private let changed: timespec

    init(_ status: stat) {
        (size, number) = (Int(status.st_size), UInt64(status.st_ino))
        (modified, changed) = (status.st_mtim, status.st_ctim)
    }

    static func == (one: FileStamp, other: FileStamp) -> Bool {
        one.size == other.size && one.number == other.number && isSame(one.modified, other.modified)
            && isSame(one.changed, other.changed)
    }

    private static func isSame(_ one: timespec, _ other: timespec) -> Bool {
        one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
    }

    /// Two changes within a tick of the clock leave the same times: only an old change is the last one.
    var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_sec - changed.tv_sec > 2 || now.tv_sec < changed.tv_sec
    }
}
