import CLibrary

/// What went wrong with a file of the vault, with its path and with what to do about it.
package enum FileError: Error, Equatable, CustomStringConvertible {
    case notFound(path: String)
    /// Another user owns the file or folder.
    case wrongOwner(path: String, owner: UInt32)
    /// Other users of the machine may read or write the file or folder.
    case tooOpen(path: String, mode: UInt32)
    /// A symbolic link, device or folder stands where a regular file must be.
    case notRegular(path: String)
    case alreadyExists(path: String)
    case tooLarge(path: String, size: Int)
    case diskFull(path: String)
    case readOnly(path: String)
    /// Another process held the lock until the deadline.
    case lockTimeout(path: String)
    /// The file was replaced, and the folder's list of files could not be flushed: after a crash, the former file may
    /// be there again.
    case unflushed(path: String, errno: Int32)
    case system(operation: String, path: String, errno: Int32)

    package var description: String {
        switch self {
        case .notFound(let path):
            "\(path) does not exist"
        case .wrongOwner(let path, let owner):
            "\(path) belongs to user \(owner), not to you; run as that user or choose another KEYCHAIN_HOME"
        case .tooOpen(let path, let mode):
            "\(path) is open to other users (mode \(String(mode, radix: 8))); close it (chmod go-rwx) or choose "
                + "another place"
        case .notRegular(let path):
            "\(path) is not a regular file, as the files of a vault are; put the file itself in its place"
        case .alreadyExists(let path):
            "\(path) exists already"
        case .tooLarge(let path, let size):
            "\(path) has \(size) bytes, more than such a file can have"
        case .diskFull(let path):
            "no space left to write \(path)"
        case .readOnly(let path):
            "\(path) cannot be written: the file system or folder is read-only"
        case .lockTimeout(let path):
            "another process holds \(path); try again when it is done"
        case .unflushed(let path, let errno):
            "\(path) was replaced, and the disk may not have it: \(String(cString: strerror(errno)))"
        case .system(let operation, let path, let errno):
            "\(operation) \(path): \(String(cString: strerror(errno)))"
                + (errno == EACCES || errno == EPERM || errno == ENOTDIR
                    ? "; choose a folder of your own with KEYCHAIN_HOME" : "")
        }
    }

    /// Returns the error for the current `errno`, after `operation` on `path` failed.
    static func last(_ operation: String, _ path: String) -> FileError {
        FileError(operation, path, errno: errno)
    }

    /// The error after `operation` on `path` failed with `code`.
    init(_ operation: String, _ path: String, errno code: Int32) {
        switch code {
        case ENOENT: self = .notFound(path: path)
        case EEXIST: self = .alreadyExists(path: path)
        case ELOOP: self = .notRegular(path: path)
        case ENOSPC, EDQUOT: self = .diskFull(path: path)
        case EROFS: self = .readOnly(path: path)
        default: self = .system(operation: operation, path: path, errno: code)
        }
    }
}
