import Glibc

/// A file's name and the folder it is in.
struct FilePlace {
    let path: String
    /// `.` where the path names none.
    let folder: String
    private let name: String

    init(_ path: String) {
        self.path = path
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            (folder, name) = (".", path)
            return
        }
        folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.utf8.index(after: slash)...])
    }

    /// A name beside it that nobody else has.
    func temporaryPath() -> String {
        // Names have at most 255 bytes.
        "\(folder)/.\(String(decoding: name.utf8.prefix(200), as: UTF8.self)).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Returns when the folder's names are on the disk.
    func synchronizeFolder() throws(SealedFileError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open the folder of", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last("flush the folder of", path) }
    }
}
