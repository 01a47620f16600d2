import Glibc

/// A file that gets its name only once it is complete.
///
/// It has no name at all until then where the file system can do that, so that nothing is left of it whenever this process
/// ends; elsewhere a hidden one in the same folder.
final class NewFile {
    /// `__O_TMPFILE` (asm-generic/fcntl.h), which means something only together with `O_DIRECTORY`.
    private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

    let file: OpenFile
    private let path: String
    private let folder: String
    /// The name it has before its own, if any.
    private var temporaryPath: String?

    init(_ path: String, mode: mode_t) throws(SealedFileError) {
        self.path = path
        var name = path[...]
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            name = path[path.utf8.index(after: slash)...]
        }
        folder = name.startIndex == path.startIndex ? "./" : String(path[..<name.startIndex])
        if let file = try? OpenFile(folder, flags: O_RDWR | Self.unnamed, mode: 0o600), file.pathOfDescriptor != nil {
            file.renamed(path)
            self.file = file
        } else {
            let hidden = Self.hiddenPath(folder, name)
            do throws(SealedFileError) {
                file = try OpenFile(hidden, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            } catch {
                if case .notFound = error { throw .notFound(path: folder) }
                throw error
            }
            temporaryPath = hidden
        }
        try file.setMode(mode)
    }

    deinit {
        if let temporaryPath { unlink(temporaryPath) }
    }

    /// A name that nothing has: names have at most 255 bytes.
    private static func hiddenPath(_ folder: String, _ name: Substring) -> String {
        let start = String(decoding: name.utf8.prefix(200), as: UTF8.self)
        return "\(folder).\(start).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Gives the file its name.
    ///
    /// - Parameter check: The last that is done before, when everything is on the disk: what it throws keeps the name
    ///   from being given.
    func publish(
        replacing: Bool, waitingForDisk: Bool, _ check: () throws(SealedFileError) -> Void = {}
    ) throws(SealedFileError) {
        if waitingForDisk { try file.synchronizeWhole() }
        if !replacing { try check() }
        if let descriptor = file.pathOfDescriptor, temporaryPath == nil {
            // Linking replaces nothing, so that a replacement has another name for a moment.
            let name = replacing ? Self.hiddenPath(folder, "new"[...]) : path
            guard linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else {
                throw .last("create", path)
            }
            if replacing { temporaryPath = name }
        }
        if let hidden = temporaryPath {
            if replacing {
                try check()
                guard rename(hidden, path) == 0 else { throw .last("replace", path) }
            } else {
                guard link(hidden, path) == 0 else { throw .last("create", path) }
                unlink(hidden)
            }
            temporaryPath = nil
        }
        file.renamed(path)
        if waitingForDisk { try synchronizeFolder() }
    }

    private func synchronizeFolder() throws(SealedFileError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open the folder of", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last("flush the folder of", path) }
    }
}
