import Bytes
import CLibrary
import FoundationEssentials

/// A folder that only its owner can enter, with files that only the owner can read.
///
/// Every access checks that the file is regular, belongs to the calling user and is closed to all others. It follows no
/// symbolic link.
package struct PrivateFolder: Sendable, Hashable {
    package let path: String

    /// Opens the folder at `path`, which must exist, belong to this user and be closed to others.
    package init(existing path: String) throws(FileError) {
        self.path = path
        try check()
    }

    /// Opens the folder at `path`. Creates it and its parents with mode 0700 if they do not exist.
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

    /// Returns false if the folder cannot be created, for example without a parent. The reason is in `errno`.
    private static func makeOneFolder(_ path: String) throws(FileError) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return errno == EEXIST }
        // The umask may have removed the owner's rights.
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

    /// Returns the whole contents of a small file.
    ///
    /// - Parameter limit: The largest size in bytes. A larger file is an error and is not read.
    package func read(_ name: String, limit: Int) throws(FileError) -> Data {
        let path = path(of: name)
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw FileError.last("examine", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
        try Self.checkPrivate(info, path)
        guard info.st_size <= limit else { throw .tooLarge(path: path, size: Int(info.st_size)) }
        var contents = Data(count: Int(info.st_size))
        let filled = contents.withUnsafeMutableBytes { SystemCall.readAll(into: $0, from: descriptor) }
        guard filled >= 0 else { throw FileError.last("read", path) }
        return contents.prefix(filled)
    }

    /// Replaces `name` with `contents`. A crash at any moment leaves either the old or the new file.
    ///
    /// Writes a temporary file, flushes it, renames it and flushes the folder.
    ///
    /// - Throws: ``FileError``: ``FileError/unflushed(path:errno:)`` if the new file is in its place all the same.
    package func replace(_ name: String, with contents: Data) throws(FileError) {
        let temporary = path(of: ".\(name).\(getpid()).\(UInt64.random(in: 0 ... .max))")
        do throws(FileReplacement.Failure) {
            try FileReplacement.replace(path(of: name), by: temporary, with: contents)
        } catch {
            throw FileError(error.operation, error.path, errno: error.errno)
        }
        do throws(FileError) {
            try synchronize()
        } catch {
            var code = EIO
            if case .system(_, _, let errno) = error { code = errno }
            throw .unflushed(path: path(of: name), errno: code)
        }
    }

    /// Removes the temporary files of replacements that a crash interrupted.
    ///
    /// The caller makes sure that nobody replaces these files at the same time.
    ///
    /// - Parameter isMeant: Returns whether to remove those of the file with this name.
    package func removeRemains(where isMeant: (String) -> Bool) throws(FileError) {
        for name in try self.names() where name.hasPrefix(".") {
            // The form of the names in `replace`: the file's name, the process and a random number.
            let parts = name.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count > 2, parts.suffix(2).allSatisfy({ UInt64($0) != nil }),
                isMeant(parts.dropLast(2).joined(separator: "."))
            else { continue }
            try remove(name)
        }
    }

    /// Returns the names of all files in the folder, in no order.
    package func names() throws(FileError) -> [String] {
        guard let entries = opendir(path) else { throw FileError.last("list", path) }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Creates an empty file with mode 0600 if it does not exist.
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

    /// Renames a file durably. Replaces a file that has the new name.
    package func rename(_ name: String, to newName: String) throws(FileError) {
        guard CLibrary.rename(path(of: name), path(of: newName)) == 0 else {
            throw FileError.last("rename", path(of: name))
        }
        try synchronize()
    }

    /// Moves the folder to `path`, durably. An empty folder that is there is replaced.
    ///
    /// - Throws: ``FileError`` if a folder is there that is not empty.
    package func move(to path: String) throws(FileError) {
        guard CLibrary.rename(self.path, path) == 0 else { throw FileError.last("move \(self.path) to", path) }
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        try Self.synchronize(parent.isEmpty ? "/" : parent)
    }

    /// Removes the folder, which must be empty.
    package func removeItself() throws(FileError) {
        guard rmdir(path) == 0 || errno == ENOENT else { throw FileError.last("remove", path) }
    }

    /// Makes the folder's list of files durable.
    package func synchronize() throws(FileError) { try Self.synchronize(path) }

    private static func synchronize(_ path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError.last("flush", path) }
    }

    /// Gives a new file the mode 0600, which the umask may have reduced.
    static func setMode(of descriptor: Int32, _ path: String) throws(FileError) {
        guard fchmod(descriptor, 0o600) == 0 else { throw FileError.last("set the mode of", path) }
    }
}
