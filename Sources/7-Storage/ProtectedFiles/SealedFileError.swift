import Bytes
import CLibrary
import VaultInterface

/// A fault of a protected file, or a reason why it could not be used.
package enum SealedFileError: Error, Equatable, CustomStringConvertible {
    /// A part of a file.
    package enum Part: Equatable, Sendable, CustomStringConvertible {
        case header
        case index(level: Int, number: UInt64)
        /// The chunk's number; it starts at this number times 65,536 bytes of data.
        case chunk(UInt64)

        package var description: String {
            switch self {
            case .header: "header"
            case .index(let level, let number): "index block \(number) of level \(level)"
            case .chunk(let number): "data from byte \(number * UInt64(clamping: FileLayout.chunkSize)) on"
            }
        }
    }

    case notFound(path: String)
    case alreadyExists(path: String)
    /// A folder or device.
    case notRegular(path: String)
    case symbolicLink(path: String)
    case hardLinked(path: String, names: Int)
    /// A file of a vault, without whose keys no protected file opens.
    case ofVault(path: String)
    case alreadyProtected(path: String)
    /// A process wrote to the file while it was read.
    case changed(path: String)
    /// A process has the file open for writing. It could write after the file has lost its name.
    case openForWriting(path: String)
    case notProtected(path: String)
    /// The file has an encrypted name, which a plain file cannot have.
    case belowMount(path: String)
    case unsupportedVersion(path: String, version: UInt16)
    /// The file ends before its data do.
    case truncated(path: String)
    case damaged(path: String, part: Part)
    /// No vault has the key of this file.
    case encryptedWithPassword(path: String)
    /// The key of this file belongs to a vault.
    case notEncryptedWithPassword(path: String)
    /// The key of the file does not open: the password is wrong, or the header was changed.
    case wrongPassword(path: String)
    /// A try of a password would cost more than a file may demand.
    case tooCostly(path: String, cost: String)
    /// This program cannot read the file with a password.
    case unreadable(path: String, reason: String)
    /// The source of keys refused the file's key, in most cases because the class is locked.
    case refused(VaultError)
    /// Another process held the lock until the deadline.
    case inUse(path: String)
    case tooLarge(path: String, limit: UInt64)
    /// The file's key has sealed so much that more would weaken it.
    case keyExhausted(path: String)
    case openedForReading(path: String)
    case keyDiscarded(path: String)
    case closed(path: String)
    case diskFull(path: String)
    case system(operation: String, path: String, errno: Int32)
    case memoryUnavailable

    package var description: String {
        switch self {
        case .notFound(let path): "\(path) does not exist"
        case .alreadyExists(let path): "\(path) exists already"
        case .notRegular(let path): "\(path) is not a regular file; only those can be protected"
        case .symbolicLink(let path): "\(path) is a symbolic link; name the file that it leads to"
        case .hardLinked(let path, let names):
            "\(path) has \(names) names (hard links), and the other names would still lead to the old file; remove "
                + "them first"
        case .ofVault(let path):
            "\(path) belongs to a vault, and without it no protected file opens: leave the vault's folder as it is"
        case .alreadyProtected(let path): "\(path) is protected already"
        case .changed(let path): "\(path) was changed while it was read; try again when nobody writes to it"
        case .openForWriting(let path):
            "another program has \(path) open for writing; try again when it has closed it"
        case .belowMount(let path):
            "\(path) is below a mounted folder; mount it with `keychain mount` and copy the file out of there"
        case .notProtected(let path): "\(path) is not a protected file"
        case .unsupportedVersion(let path, let version):
            "\(path) has version \(version) of the format; install a newer version of this program to read it"
        case .truncated(let path): "\(path) was cut short; restore it from a backup"
        case .damaged(let path, let part): "\(path) is damaged (\(part)); restore it from a backup"
        case .encryptedWithPassword(let path):
            "\(path) is encrypted with a password; read it with `keychain file decrypt`"
        case .notEncryptedWithPassword(let path):
            "\(path) is protected by a keychain, not by a password; read it with `keychain file cat`"
        case .wrongPassword(let path): "the password is wrong for \(path), or the beginning of the file is damaged"
        case .tooCostly(let path, let cost):
            "\(path) asks for \(cost) to try a password, more than any file needs; it may be made to exhaust "
                + "this machine"
        case .unreadable(let path, let reason): "\(path) cannot be decrypted: \(reason)"
        case .refused(let error): error.description
        case .inUse(let path): "another process is writing to \(path); try again when it is done"
        case .tooLarge(let path, let limit): "\(path) can hold at most \(limit) bytes"
        case .keyExhausted(let path):
            "\(path) was written to so often that its key is used up; protect a copy of it and replace it"
        case .openedForReading(let path): "\(path) was opened for reading only"
        case .keyDiscarded(let path): "\(path) was closed by locking; unlock and open it again"
        case .closed(let path): "\(path) was closed by this program"
        case .diskFull(let path): "no space left to write \(path); free some and try again"
        case .system(let operation, let path, let errno):
            "cannot \(operation) \(path): \(String(cString: strerror(errno)))"
        case .memoryUnavailable: "out of memory"
        }
    }

    static func last(_ operation: String, _ path: String) -> SealedFileError { last(operation, path, errno: errno) }

    static func last(_ operation: String, _ path: String, errno: Int32) -> SealedFileError {
        switch errno {
        case ENOENT: .notFound(path: path)
        case EEXIST: .alreadyExists(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case let number: .system(operation: operation, path: path, errno: number)
        }
    }

    /// Whether a reader can get this error only because another process is writing.
    var mayPass: Bool {
        switch self {
        case .truncated, .damaged: true
        default: false
        }
    }
}
