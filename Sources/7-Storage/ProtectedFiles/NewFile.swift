import CLibrary

/// A file that gets its name only when it is complete.
///
/// Until then it has no name, if the file system supports that, so that nothing remains after a crash. Otherwise it is
/// a hidden file in the same folder.
final class NewFile {
    /// `__O_TMPFILE` (asm-generic/fcntl.h), which has a meaning only together with `O_DIRECTORY`.
    private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

    let file: OpenFile
    private let path: String
    private let name: String
    private let folder: Folder
    /// The temporary name, if the file has one.
    private var temporaryName: String?

    init(_ path: String, mode: mode_t) throws(SealedFileError) {
        (self.path, name) = (path, Folder.split(path).name)
        let folder = try Folder(of: path)
        self.folder = folder
        let unnamed = try? OpenFile(
            path, in: folder.descriptor, named: ".", flags: O_RDWR | Self.unnamed, mode: 0o600)
        if let unnamed, unnamed.pathOfDescriptor != nil {
            file = unnamed
        } else {
            let hidden = Self.hiddenName(name)
            file = try OpenFile(
                path, in: folder.descriptor, named: hidden, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            temporaryName = hidden
        }
        try file.setMode(mode)
    }

    deinit {
        if let temporaryName { unlinkat(folder.descriptor, temporaryName, 0) }
    }

    /// Returns an unused name. Names have at most 255 bytes.
    private static func hiddenName(_ name: String) -> String {
        let start = String(decoding: name.utf8.prefix(200), as: UTF8.self)
        return ".\(start).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Gives the file its name.
    ///
    /// - Parameter check: Runs last, when everything is on the disk. If it throws, the file does not get its name.
    func publish(
        replacing: Bool, waitingForDisk: Bool, _ check: (Folder) throws(SealedFileError) -> Void = { _ in }
    ) throws(SealedFileError) {
        if waitingForDisk { try file.synchronizeWhole() }
        let place = folder.descriptor
        if !replacing { try check(folder) }
        if let descriptor = file.pathOfDescriptor, temporaryName == nil {
            // Linking cannot replace a file. A file that replaces another therefore gets a temporary name first.
            let first = replacing ? Self.hiddenName("new") : name
            guard linkat(AT_FDCWD, descriptor, place, first, AT_SYMLINK_FOLLOW) == 0 else {
                throw .last("create", path)
            }
            if replacing { temporaryName = first }
        }
        if let hidden = temporaryName {
            if replacing {
                try check(folder)
                guard renameat(place, hidden, place, name) == 0 else { throw .last("replace", path) }
            } else {
                guard linkat(place, hidden, place, name, 0) == 0 else { throw .last("create", path) }
                unlinkat(place, hidden, 0)
            }
            temporaryName = nil
        }
        if waitingForDisk { try folder.synchronize() }
    }

    /// The folder of a file. It stays the same folder, even if its name leads to another one later.
    final class Folder {
        /// `O_PATH` (asm-generic/fcntl.h): requires only the right to pass through the folder.
        private static let pathOnly: Int32 = 0o10_000_000

        let descriptor: Int32
        private let path: String

        init(of path: String) throws(SealedFileError) {
            self.path = Self.split(path).folder
            descriptor = open(self.path, Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .last("open", self.path) }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        static func split(_ path: String) -> (folder: String, name: String) {
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("./", path) }
            let start = path.utf8.index(after: slash)
            return (String(path[..<start]), String(path[start...]))
        }

        /// Returns the identity of the file with the path's last part in this folder; nil if there is none.
        func identity(of path: String) -> FileIdentity? {
            var information = stat()
            let name = Self.split(path).name
            guard fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
            return FileIdentity(information)
        }

        /// Waits until the names in the folder are on the disk.
        func synchronize() throws(SealedFileError) {
            let opened = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { throw .last("open", path) }
            defer { close(opened) }
            guard fsync(opened) == 0 else { throw .last("flush", path) }
        }
    }
}
