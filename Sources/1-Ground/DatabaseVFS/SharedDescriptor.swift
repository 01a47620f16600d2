import CLibrary
import Synchronization

/// A descriptor of a database's file, for reading and writing a whole page with one system call.
///
/// The connections of a process share it, and the last one with the file open closes it. POSIX drops a process's locks
/// on a file when any descriptor of it is closed (fcntl(2)), including the locks of other connections.
final class SharedDescriptor: Sendable {
    private struct Entry {
        var users = 0
        var reading: Int32?
        var writing: Int32?
        /// Descriptors of this file that were opened by a name that led to another file a moment before.
        var spare: [Int32] = []
    }

    private static let entries = Mutex<[FileIdentity: Entry]>([:])

    let number: Int32
    private let file: FileIdentity

    private init(number: Int32, file: FileIdentity) { (self.number, self.file) = (number, file) }

    /// Returns a descriptor of the file at `path`, which this process has open through SQLite.
    static func acquire(_ path: String, writing: Bool) throws(VFSFailure) -> SharedDescriptor {
        let result: Result<SharedDescriptor, VFSFailure> = entries.withLock { entries in
            var info = stat()
            guard stat(path, &info) == 0 else { return .failure(.system("open", path)) }
            var file = FileIdentity(info)
            if let number = entries[file].flatMap({ $0.writing ?? (writing ? nil : $0.reading) }) {
                entries[file]?.users += 1
                return .success(SharedDescriptor(number: number, file: file))
            }
            // SQLite's files are regular files. Opening a pipe would wait for its other end.
            guard info.st_mode & S_IFMT == S_IFREG else { return .failure(.notDatabase(path: path)) }
            let number = CLibrary.open(path, (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard number >= 0, fstat(number, &info) == 0 else { return .failure(.system("open", path)) }
            file = FileIdentity(info)
            var entry = entries[file] ?? Entry()
            entry.users += 1
            switch writing {
            case true where entry.writing == nil: entry.writing = number
            case false where entry.reading == nil: entry.reading = number
            default: entry.spare.append(number)
            }
            entries[file] = entry
            return .success(SharedDescriptor(number: number, file: file))
        }
        return try result.get()
    }

    /// Releases the descriptor, after SQLite has closed the file.
    func release() {
        Self.entries.withLock { entries in
            guard var entry = entries[file] else { return }
            entry.users -= 1
            entries[file] = entry.users == 0 ? nil : entry
            guard entry.users == 0 else { return }
            for number in [entry.reading, entry.writing].compactMap(\.self) + entry.spare { close(number) }
        }
    }
}
