import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import Synchronization
import VaultInterface

/// Writes a whole new protected file, from beginning to end, which has its name only once it is complete.
///
/// ```swift
/// let writer = try ProtectedFileWriter(file, protection: .complete)
/// for try await part in parts { try writer.write(contentsOf: part) }
/// try writer.finish()
/// ```
///
/// Until ``finish()`` the name leads to what it led to before. Nothing is left of a writer that was canceled, or let go
/// of unfinished, or whose process ended; nothing of the data was on the disk in plain form. When the vault is locked,
/// a writer of class `complete` gives up its key and what it wrote.
// Safe to share between threads: `writer` is the one thing that changes, and is read, used and let go of only in
// closures of `lock.withLock`, which hand out Sendable values alone. A `Mutex<SealedFileWriter?>` would say the same,
// but the compiler cannot see that the caller's bytes, which need not be Sendable, are not kept by the writer.
public final class ProtectedFileWriter: @unchecked Sendable {
    /// The file that is written.
    public let file: ProtectedFile
    /// The class that the file gets.
    public let protection: FileProtectionType
    private let path: String
    private let lock = Mutex(())
    /// Nil once finished or canceled.
    private var writer: SealedFileWriter?
    private let replacing: Bool
    private let lockGuard: LockGuard?

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - file: The file that is made or replaced.
    ///   - protection: Its class; nil for that of the file that is replaced, else that of the folder's new files
    ///     (``ProtectedFolder``), else `completeUntilFirstUserAuthentication`.
    ///   - replacing: Whether a file that has the name may be replaced.
    ///   - permissions: Who may use the file, in the nine bits of chmod(2); nil for those of the file that is replaced,
    ///     else 0600.
    /// - Throws: ``ProtectedFileError/Code/locked`` while no file of the class can be made.
    public init(
        _ file: ProtectedFile, protection: FileProtectionType? = nil, replacing: Bool = true, permissions: Int? = nil
    ) throws {
        let path = try file.resolvedPath()
        let session = try VaultSession.currentForFiles()
        let known = try NewFileClass.find(path, protection, session)
        let fileClass = known ?? .completeUntilFirstUserAuthentication
        let mode = permissions.map { mode_t(truncatingIfNeeded: $0) } ?? Self.mode(of: path) ?? 0o600
        lockGuard = fileClass == .complete ? LockGuard(session) : nil
        let writer = try ProtectedFileError.translating(path) {
            try SealedFileWriter(path, fileClass, mode: mode & 0o7777, keys: session, durability: .power)
        }
        self.file = file
        self.path = path
        self.protection = FileProtectionType(fileClass)
        self.replacing = replacing
        self.writer = writer
        lockGuard?.onLock { [weak self] in self?.cancel() }
    }

    private static func mode(of path: String) -> mode_t? {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_mode & 0o7777 : nil
    }

    /// Adds data at the end.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func write(contentsOf data: some DataProtocol) throws {
        try use { writer in
            for region in data.regions {
                try region.withBytes { bytes in try writer.write(bytes) }
            }
        }
    }

    /// Bytes of data so far.
    ///
    /// - Throws: ``ProtectedFileError``.
    public var length: UInt64 {
        get throws { try use { $0.length } }
    }

    /// Gives the file its name, once all of it is on the disk.
    ///
    /// - Throws: ``ProtectedFileError/Code/fileExists`` if the name is taken and the file was not to be replaced.
    public func finish() throws {
        try use(isLast: true) { [replacing] writer in
            try writer.finish(replacing: replacing)
        }
    }

    /// Lets go of what was written; does nothing after ``finish()``.
    public func cancel() {
        lock.withLock { _ in writer = nil }
    }

    private func use<Value: Sendable>(
        isLast: Bool = false, _ body: (SealedFileWriter) throws -> Value
    ) throws -> Value {
        try lock.withLock { _ in
            if lockGuard?.isLocked == true {
                writer = nil
                throw ProtectedFileError(
                    .locked, path: path,
                    message: "the vault was locked before \(path) was complete; unlock it and write the file again")
            }
            guard let writer else {
                throw ProtectedFileError(
                    .closed, path: path, message: "the writer of \(path) was finished or canceled; begin another")
            }
            let value = try ProtectedFileError.translating(path) { try body(writer) }
            if isLast { self.writer = nil }
            return value
        }
    }
}

/// Which class a file gets that is made now.
package enum NewFileClass {
    /// The one that was asked for, else that of the file in its place, else that of the folder's new files; nil if
    /// nothing says that it is to be protected.
    ///
    /// - Throws: Also for a folder whose record cannot be read, or whose names are encrypted.
    package static func find(
        _ path: String, _ requested: FileProtectionType?, _ session: VaultSession
    ) throws -> FileProtectionClass? {
        let record = try ProtectedFolder.record(of: ProtectedFile.folder(of: path), session)
        if let record, record.encryptsNames {
            throw ProtectedFileError(
                .unsupported, path: path,
                message: "names are encrypted in the folder of \(path); make files in its mounted view")
        }
        if let requested { return try FileProtectionClass(requested, for: path) }
        if let present = try? SealedFileInfo(path) { return present.fileClass }
        return record?.defaultClass
    }
}
