import Bytes
import CLibrary
import StatusCodes
import SystemLibraries

/// A folder on a file system that is in memory, with files that are wiped when the command that reads them has ended.
///
/// The process that made it holds a lock on it (flock(2)), which ends with the process. A folder without a lock is a
/// leftover.
package final class MemoryFolder {
    private static let prefix = "keychain-run-"
    /// The most bytes of a file that are overwritten: as many as a file of `keychain run` can have.
    private static let largest = 64 << 20

    package let path: String
    private let descriptor: Int32

    /// - Parameter remedy: What the error tells a person to do on a machine without a file system in memory.
    package init(otherwise remedy: String) throws(Failure) {
        guard let parent = Self.parents.first else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "there is no place for files in memory: neither $XDG_RUNTIME_DIR, closed to others, nor /dev/shm is a "
                    + "tmpfs: mount one, or \(remedy)")
        }
        // Another process may take a folder for a leftover and remove it before it is locked here.
        for _ in 0..<100 {
            // mkdtemp makes it with the mode 0700 (POSIX), from which the umask may take bits.
            var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { break }
            let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            chmod(path, 0o700)
            if let descriptor = Self.lock(path) {
                (self.path, self.descriptor) = (path, descriptor)
                return
            }
        }
        throw .system("no folder can be made in \(parent.escapedForTerminal)", errno)
    }

    /// Writes a file into the folder that only this user can read.
    ///
    /// - Returns: Its path.
    package func write(_ secret: SecretBytes, to name: String) throws(Failure) -> String {
        let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("no file can be made in \(path.escapedForTerminal)", errno) }
        defer { close(file) }
        let code = secret.withUnsafeBytes { fchmod(file, 0o600) == 0 ? FileOutput.put($0, to: file) : errno }
        guard code == 0 else { throw .system("a file in \(path.escapedForTerminal) cannot be written", code) }
        return "\(path)/\(name)"
    }

    /// Puts another file in the place of one in the folder, in one step. The former file is not wiped before its last
    /// reader has closed it: the system clears its memory then.
    package func replace(_ secret: SecretBytes, name: String) throws(Failure) {
        let next = ".next-" + name
        unlinkat(descriptor, next, 0)
        _ = try write(secret, to: next)
        guard renameat(descriptor, next, descriptor, name) == 0 else {
            throw .system("a file in \(path.escapedForTerminal) cannot be replaced", errno)
        }
    }

    /// Wipes the files in the folder, and removes it.
    package func remove() {
        Self.empty(descriptor)
        rmdir(path)
        close(descriptor)
    }

    // MARK: Leftovers

    /// Removes the folders of processes that were killed.
    package static func removeLeftovers() {
        for parent in parents {
            let names = names(in: open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            for name in names where name.starts(with: prefix.utf8CString.dropLast()) {
                let path = Array("\(parent)/".utf8CString.dropLast()) + name
                guard let descriptor = lock(path) else { continue }
                empty(descriptor)
                rmdir(path)
                close(descriptor)
            }
        }
    }

    /// Takes the lock of a folder of this user.
    ///
    /// - Returns: An open descriptor; nil if another process has the lock, or if there is no such folder any more.
    private static func lock(_ path: UnsafePointer<CChar>) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, opened.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            lstat(path, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev
        else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Wipes and removes all that is in a folder.
    private static func empty(_ folder: Int32) {
        fchmod(folder, 0o700)
        for name in names(in: openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
            var info = stat()
            guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            switch info.st_mode & S_IFMT {
            case S_IFDIR:
                fchmodat(folder, name, 0o700, 0)
                let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                if inner >= 0 {
                    empty(inner)
                    close(inner)
                }
                unlinkat(folder, name, AT_REMOVEDIR)
            case S_IFREG:
                wipe(name, in: folder, count: Int(info.st_size))
                unlinkat(folder, name, 0)
            default: unlinkat(folder, name, 0)
            }
        }
    }

    /// Overwrites a file with zeros in place, up to the largest size that this program writes: a file that a command
    /// made larger may have holes, which take no memory yet.
    private static func wipe(_ name: [CChar], in folder: Int32, count: Int) {
        fchmodat(folder, name, 0o600, 0)
        let file = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 65_536)
        var left = min(count, Self.largest)
        while left > 0 {
            let written = SystemCall.retryOnInterrupt { CLibrary.write(file, zeros, min(left, zeros.count)) }
            guard written > 0 else { return }
            left -= written
        }
    }

    /// Returns the names in a folder as C strings, because not all are text. Closes the descriptor.
    private static func names(in descriptor: Int32) -> [[CChar]] {
        guard descriptor >= 0 else { return [] }
        guard let folder = fdopendir(descriptor) else {
            close(descriptor)
            return []
        }
        defer { closedir(folder) }
        var names: [[CChar]] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                $0.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            if !isDots(name) { names.append(name) }
        }
        return names
    }

    /// The folder itself and the one above.
    private static func isDots(_ name: [CChar]) -> Bool { strcmp(name, ".") == 0 || strcmp(name, "..") == 0 }

    // MARK: Where

    /// The folders in which such a folder can be made, the best first.
    private static var parents: [String] {
        var result: [String] = []
        if let path = Environment.path(in: "XDG_RUNTIME_DIR") {
            var info = stat()
            let isOwn = stat(path, &info) == 0 && info.st_uid == geteuid() && info.st_mode & 0o7777 == 0o700
            if isOwn, isInMemory(path) { result.append(path) }
        }
        if isInMemory("/dev/shm") { result.append("/dev/shm") }
        return result
    }

    private static func isInMemory(_ path: String) -> Bool {
        typealias Examine = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let examine: Examine = libraryFunction("fstatfs") else { return false }
        defer { close(descriptor) }
        // struct statfs has 120 bytes, and the kind of file system in its first word (asm-generic/statfs.h).
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { room in
            guard let base = room.baseAddress, examine(descriptor, base) == 0 else { return false }
            // TMPFS_MAGIC and RAMFS_MAGIC (linux/magic.h).
            return [0x0102_1994, 0x8584_58F6].contains(room.load(as: UInt.self))
        }
    }
}
