import CLibrary
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The address of a folder, and the class that new files in it get.
///
/// ```swift
/// let folder = ProtectedFolder(url)
/// try folder.create(protection: .complete)
/// try ProtectedFile(url.appending(path: "diary")).write(text)  // of class complete
/// ```
///
/// The class is kept in the folder, in the hidden file `.keychain-folder`, which is protected itself: one that was
/// tampered with is an error wherever files are made. It holds for files and folders that are made through this module,
/// or in a mounted view; what other programs make stays plain. Setting it leaves the files that are there as they are,
/// as on iOS.
public struct ProtectedFolder: Sendable, Hashable {
    /// Where the folder is.
    public let url: URL

    /// - Parameter url: Of the scheme `file`.
    public init(_ url: URL) { self.url = url }

    /// - Parameter path: Absolute, or from the current folder on.
    public init(path: String) {
        url = URL(filePath: path, directoryHint: .isDirectory)
    }

    /// The path as the file system takes it.
    public var path: String { url.path(percentEncoded: false) }

    /// The class that new files in the folder get; nil if it says nothing of that.
    ///
    /// - Throws: ``ProtectedFileError/Code/damaged`` for a folder whose record does not open.
    public var defaultProtection: FileProtectionType? {
        get throws {
            try Self.storedRecord(of: path)?.defaultClass.map { FileProtectionType($0) }
        }
    }

    /// Sets the class that new files and folders in the folder get.
    ///
    /// - Parameter type: Nil to say nothing of it any more.
    /// - Throws: ``ProtectedFileError``.
    public func setDefaultProtection(_ type: FileProtectionType?) throws {
        let path = try checkedPath()
        var fileClass: FileProtectionClass?
        if let type { fileClass = try FileProtectionClass(type, for: path) }
        let session = try VaultSession.currentForFiles()
        var record = try Self.record(of: path, session) ?? FolderRecord(nil)
        record.defaultClass = fileClass
        if fileClass == nil, !record.encryptsNames {
            let name = FolderRecord.path(in: path)
            guard unlink(name) == 0 || errno == ENOENT else {
                throw ProtectedFileError("remove", name, errno: errno)
            }
            return
        }
        try ProtectedFileError.translating(path) { [record] in
            try record.write(in: path, keys: session)
        }
    }

    /// Makes the folder.
    ///
    /// - Parameters:
    ///   - protection: The class that its new files get; nil for that of the folder it is made in.
    ///   - permissions: Who may use it, in the nine bits of chmod(2), whatever the umask says.
    /// - Throws: ``ProtectedFileError/Code/fileExists``.
    public func create(
        protection: FileProtectionType? = nil, permissions: Int = 0o700
    ) throws {
        let path = try checkedPath()
        let session = try VaultSession.currentForFiles()
        let record = try Self.inheritedRecord(forNew: path, protection, session)
        let mode = mode_t(truncatingIfNeeded: permissions) & 0o7777
        guard mkdir(path, mode) == 0, chmod(path, mode) == 0 else {
            throw ProtectedFileError("make the folder", path, errno: errno)
        }
        guard let record else { return }
        do {
            try ProtectedFileError.translating(path) {
                try record.write(in: path, keys: session)
            }
        } catch {
            rmdir(path)
            throw error
        }
    }

    private func checkedPath() throws -> String {
        let path = try ProtectedFile(url).checkedPath()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Whether there is a folder with this name, or a symbolic link to one.
    package static func isFolder(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
    }

    /// The record of a folder that is about to be made.
    package static func inheritedRecord(
        forNew path: String, _ type: FileProtectionType?, _ session: VaultSession
    ) throws -> FolderRecord? {
        let parent = try record(of: ProtectedFile.folder(of: path), session)
        if let parent, parent.encryptsNames {
            throw ProtectedFileError(
                .unsupported, path: path,
                message: "names are encrypted in the folder of \(path); make folders in its mounted view")
        }
        if let type { return FolderRecord(try FileProtectionClass(type, for: path)) }
        return parent?.inherited()
    }

    static func record(of folder: String, _ session: VaultSession) throws -> FolderRecord? {
        try ProtectedFileError.translating(folder) {
            try FolderRecord.read(in: folder, keys: session)
        }
    }

    /// As ``record(of:_:)``, without need of a vault where there is no record.
    package static func storedRecord(of folder: String) throws -> FolderRecord? {
        var information = stat()
        guard lstat(FolderRecord.path(in: folder), &information) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw ProtectedFileError("examine", FolderRecord.path(in: folder), errno: errno)
        }
        return try record(of: folder, try VaultSession.currentForFiles())
    }
}
