import FoundationEssentials
import Glibc

/// A folder that only its owner can enter, and the files in it that only the owner can read.
///
/// Every access checks that the file is regular, belongs to the calling user and is closed to
/// everybody else, without following symbolic links.
package struct PrivateFolder: Sendable, Hashable {
    package let path: String

    /// The folder at `path`, which must exist, be a folder of this user, and be closed to others.
    package init(existing path: String) throws(FileError) {
        self.path = path
        try check()
    }

    /// The folder at `path`, made with mode 0700, with its parents, if it is not there.
    package init(creating path: String) throws(FileError) {
        self.path = path
        try Self.makeFolder(path)
        try check()
    }

    package func path(of name: String) -> String { path + "/" + name }

    package func contains(_ name: String) -> Bool {
        var info = stat()
        return lstat(path(of: name), &info) == 0
    }

    private static func makeFolder(_ path: String) throws(FileError) {
        if try makeOneFolder(path) { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw FileError.last("create folder", path)
        }
        try makeFolder(String(path[..<slash]))
        guard try makeOneFolder(path) else { throw FileError.last("create folder", path) }
    }

    /// Returns false when the parent is missing or the like, with the reason in `errno`.
    private static func makeOneFolder(_ path: String) throws(FileError) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return errno == EEXIST }
        // The umask may have taken the owner's rights away.
        guard chmod(path, 0o700) == 0 else { throw FileError.last("set the mode of", path) }
        return true
    }

    private func check() throws(FileError) {
        var info = stat()
        guard stat(path, &info) == 0 else { throw FileError.last("examine", path) }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            throw .system(operation: "open", path: path, errno: ENOTDIR)
        }
        try Self.checkPrivate(info, path)
    }

    static func checkPrivate(_ info: stat, _ path: String) throws(FileError) {
        guard info.st_uid == geteuid() else { throw .wrongOwner(path: path, owner: info.st_uid) }
        guard info.st_mode & 0o077 == 0 else { throw .tooOpen(path: path, mode: info.st_mode & 0o777) }
    }

    /// Checks that `name` is a regular file of this user that is closed to others.
    package func checkFile(_ name: String) throws(FileError) {
        let path = path(of: name)
        var info = stat()
        guard lstat(path, &info) == 0 else { throw FileError.last("examine", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
        try Self.checkPrivate(info, path)
    }

    /// The whole contents of a small file.
    ///
    /// - Parameter limit: The most bytes such a file can have; a longer one is an error, not a read.
    package func read(_ name: String, limit: Int) throws(FileError) -> Data {
        try read(name) { path, size throws(FileError) in
            guard size <= limit else { throw .tooLarge(path: path, size: size) }
            return size
        }
    }

    /// The first bytes of a file, `count` of them or as many as it has.
    package func readStart(of name: String, count: Int) throws(FileError) -> Data {
        try read(name) { _, size throws(FileError) in min(size, count) }
    }

    /// - Parameter choose: Given the file's path and size, how many bytes to read.
    private func read(
        _ name: String, count choose: (_ path: String, _ size: Int) throws(FileError) -> Int
    ) throws(FileError) -> Data {
        let path = path(of: name)
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw FileError.last("examine", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
        try Self.checkPrivate(info, path)
        var contents = Data(count: try choose(path, Int(info.st_size)))
        var filled = 0
        while filled < contents.count {
            let room = contents.count - filled
            let got = contents.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, room) }
            if got < 0 {
                if errno == EINTR { continue }
                throw FileError.last("read", path)
            }
            if got == 0 { break }
            filled += got
        }
        return contents.prefix(filled)
    }

    /// Replaces `name` with `contents` so that a crash at any moment leaves the old or the new file.
    ///
    /// Temporary file, fsync, rename, fsync of the folder.
    package func replace(_ name: String, with contents: Data) throws(FileError) {
        let temporary = path(of: ".\(name).\(getpid()).\(UInt64.random(in: 0 ... .max))")
        do {
            try Self.writeNew(temporary, contents)
        } catch {
            unlink(temporary)
            throw error
        }
        guard Glibc.rename(temporary, path(of: name)) == 0 else {
            let failure = FileError.last("replace", path(of: name))
            unlink(temporary)
            throw failure
        }
        try synchronize()
    }

    /// Removes what replacements of `names` left that were killed before their end. For callers that let nobody replace
    /// them at the same time.
    package func removeRemains(of names: [String]) throws(FileError) {
        guard let entries = opendir(path) else { throw FileError.last("list", path) }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard name.hasPrefix(".") else { continue }
            // As `replace` names them: the file's name, the process and a random number.
            let parts = name.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count > 2, parts.suffix(2).allSatisfy({ UInt64($0) != nil }),
                names.contains(parts.dropLast(2).joined(separator: "."))
            else { continue }
            try remove(name)
        }
    }

    /// Makes an empty file with mode 0600 unless there is one already.
    package func touch(_ name: String) throws(FileError) {
        let path = path(of: name)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError.last("create", path) }
        defer { close(descriptor) }
        try Self.setMode(of: descriptor, path)
    }

    package func remove(_ name: String) throws(FileError) {
        guard unlink(path(of: name)) == 0 || errno == ENOENT else { throw FileError.last("remove", path(of: name)) }
    }

    /// Gives a file another name, in the place of the file that has it, durably.
    package func rename(_ name: String, to newName: String) throws(FileError) {
        guard Glibc.rename(path(of: name), path(of: newName)) == 0 else {
            throw FileError.last("rename", path(of: name))
        }
        try synchronize()
    }

    /// Makes the folder's list of files durable.
    package func synchronize() throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError.last("flush", path) }
    }

    /// Gives a new file the mode it was meant to have, whatever the umask left of it.
    static func setMode(of descriptor: Int32, _ path: String) throws(FileError) {
        guard fchmod(descriptor, 0o600) == 0 else { throw FileError.last("set the mode of", path) }
    }

    private static func writeNew(_ path: String, _ contents: Data) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError.last("create", path) }
        defer { close(descriptor) }
        try setMode(of: descriptor, path)
        var written = 0
        while written < contents.count {
            let rest = contents.count - written
            let put = contents.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, rest) }
            if put < 0 {
                if errno == EINTR { continue }
                throw FileError.last("write", path)
            }
            written += put
        }
        guard fsync(descriptor) == 0 else { throw FileError.last("flush", path) }
    }
}
