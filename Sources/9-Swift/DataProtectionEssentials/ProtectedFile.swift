import CLibrary
import FoundationEssentials
import ProcessVault
import ProtectedFiles
import VaultInterface

/// The address of a file under Data Protection, be it there already or about to be made.
///
/// ```swift
/// let file = ProtectedFile(url)
/// try file.write(Data("a secret".utf8), options: .completeFileProtection)
/// let secret = try file.data()
/// ```
///
/// A value names a place; it holds nothing open and no key, and is cheap to make and to pass around. Operations block
/// the calling thread while they read or write; ``chunks(of:)`` and ``bytes`` do not.
///
/// A protected file is encrypted under a key of its own, which the vault hands out while the file's class is open:
///
/// | class | open |
/// |---|---|
/// | `complete` | while the vault is unlocked |
/// | `completeUnlessOpen` | for reading, while it is unlocked; for making new files, and for what is open, always |
/// | `completeUntilFirstUserAuthentication` | from the first unlocking on |
/// | `none` | always, for those who can use the vault |
///
/// Names, sizes and times of files are not hidden.
public struct ProtectedFile: Sendable, Hashable {
    /// Where the file is.
    public let url: URL

    /// - Parameter url: Of the scheme `file`; operations on others throw ``ProtectedFileError/Code/invalidRequest``.
    public init(_ url: URL) { self.url = url }

    /// - Parameter path: Absolute, or from the current folder on.
    public init(path: String) {
        url = URL(filePath: path, directoryHint: .notDirectory)
    }

    /// The path as the file system takes it.
    public var path: String { url.path(percentEncoded: false) }

    /// What a protected file tells of itself without its key. None of it is authenticated: it is what the file says.
    public struct Info: Sendable, Equatable {
        /// The file's class.
        public let protection: FileProtectionType
        /// Bytes of data.
        public let size: UInt64
        /// 16 bytes that tell the file from all others. A copy made with other programs has the same.
        public let identifier: Data

        init(_ info: SealedFileInfo) {
            protection = FileProtectionType(info.fileClass)
            size = info.length
            identifier = info.identifier
        }

        /// Whether the two files tell the same.
        public static func == (left: Info, right: Info) -> Bool {
            left.protection == right.protection && left.size == right.size
                && left.identifier == right.identifier
        }
    }

    /// What the file tells without its key, whether or not its class is open; nil for a file that is in no class: a
    /// plain one, or one that is encrypted with a password (``PasswordProtectedFile``).
    ///
    /// - Throws: ``ProtectedFileError/Code/fileNotFound``, and whatever keeps the file from being opened.
    public func info() throws -> Info? {
        do {
            return Info(try SealedFileInfo(try checkedPath()))
        } catch SealedFileError.notProtected, SealedFileError.encryptedWithPassword {
            return nil
        } catch {
            throw ProtectedFileError(error, at: path)
        }
    }

    /// The file's class, whether or not it is open; nil for a file that is in none.
    ///
    /// - Throws: ``ProtectedFileError``.
    public var protection: FileProtectionType? {
        get throws { try info()?.protection }
    }

    /// Whether the file is in a class.
    ///
    /// - Throws: ``ProtectedFileError``.
    public var isProtected: Bool {
        get throws { try info() != nil }
    }

    func checkedPath() throws -> String {
        guard url.isFileURL else {
            throw ProtectedFileError(.invalidRequest, message: "\(url.scheme ?? "a URL") is not the address of a file")
        }
        return path
    }

    /// The path of the file itself, where the address names a symbolic link to it.
    package func resolvedPath() throws -> String {
        let path = try checkedPath()
        var information = stat()
        guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFLNK else { return path }
        guard let resolved = realpath(path, nil) else {
            throw ProtectedFileError("follow the symbolic link", path, errno: errno)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The path of the folder that the file is in.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension VaultSession {
    /// The process's vault, for files.
    package static func currentForFiles() throws -> VaultSession {
        try ProtectedFileError.translating { try VaultSession.current() }
    }
}
