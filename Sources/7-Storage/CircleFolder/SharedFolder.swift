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

    /// The size of a file; nil if it is not there.
    func size(_ name: String) -> Int? {
        var status = stat()
        return lstat(path + "/" + name, &status) == 0 ? Int(status.st_size) : nil
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
