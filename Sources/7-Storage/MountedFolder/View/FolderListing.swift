import Bytes
import CLibrary

/// The entries of an open folder, as they were when it was read from the start.
// Safe to share between threads: the kernel reads an open folder from one thread at a time.
final class FolderListing: @unchecked Sendable {
    struct Entry {
        let name: [CChar]
        /// Nil for `.` and `..`.
        let encrypted: EncryptedName?
        let number: UInt64
        let kind: mode_t
    }

    let folder: Node
    var entries: [Entry] = []

    init(_ folder: Node) { self.folder = folder }
}

/// A reader of a folder below, name by name.
struct FolderBelow: ~Copyable {
    private let stream: OpaquePointer

    init(_ folder: Node) throws(Errno) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        guard let stream = fdopendir(descriptor) else {
            defer { close(descriptor) }
            throw .last
        }
        self.stream = stream
    }

    deinit { closedir(stream) }

    borrowing func next() throws(Errno) -> (name: [UInt8], number: UInt64, kind: mode_t)? {
        errno = 0
        guard let entry = readdir(stream) else {
            guard errno == 0 else { throw .last }
            return nil
        }
        let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        // IFTODT and DTTOIF (dirent.h): the kind is in the upper bits of the mode.
        return (name, UInt64(entry.pointee.d_ino), mode_t(entry.pointee.d_type) << 12)
    }
}
