import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import PasswordFiles
import ProtectedFiles
import Synchronization
import VaultInterface

/// An open protected file, to be read and written at any place: `FileHandle` for protected files.
///
/// ```swift
/// let handle = try ProtectedFileHandle(forUpdating: url)
/// try handle.seekToEnd()
/// try handle.write(contentsOf: line)
/// try handle.synchronize()
/// ```
///
/// Any number of handles, in any number of programs, may have a file open. Each change is there as a whole or not at
/// all, whenever the process ends; a write of more than 1 MiB is several changes. Memory does not grow with the file.
///
/// When the vault is locked, handles of files of class `complete` are closed for use: the key is wiped, and each
/// operation throws ``ProtectedFileError/Code/locked`` from then on, also after an unlocking; open the file again. With
/// a vault in the process that is so when the operation that locks has returned, with a daemon a moment later. Handles
/// of the other classes go on, those of `completeUnlessOpen` as well.
public final class ProtectedFileHandle: Sendable {
    /// What a change outlives when the call that made it has returned.
    public enum Durability: Sendable, Hashable {
        /// The end of this process, in whatever way. ``ProtectedFileHandle/synchronize()`` makes it outlive a loss of
        /// power.
        case process
        /// A loss of power, too. Each change waits for the disk.
        case power
    }

    private enum Access: Sendable {
        case reading, writing, updating
    }

    /// The file that is open.
    public let file: ProtectedFile
    private let sealed: SealedFile
    private let access: Access
    /// Nil for a file under a password.
    private let session: VaultSession?
    private let position = Mutex<UInt64>(0)
    private let lockGuard: Mutex<LockGuard?>

    private init(_ file: ProtectedFile, _ access: Access, _ durability: Durability) throws {
        let path = try file.checkedPath()
        let session = try VaultSession.currentForFiles()
        func open() throws -> SealedFile {
            try ProtectedFileError.translating(path) {
                try SealedFile(
                    path, access == .reading ? .reading : .writing, keys: session,
                    durability: durability == .power ? .power : .process)
            }
        }
        // Watched before the key is there, so that no lock in between is missed.
        var lockGuard = (try? SealedFileInfo(path))?.fileClass == .complete ? LockGuard(session) : nil
        var sealed = try open()
        if lockGuard?.isLocked == true {
            lockGuard = LockGuard(session)
            sealed = try open()
        }
        self.file = file
        self.access = access
        self.session = session
        self.sealed = sealed
        lockGuard?.onLock { [weak sealed] in sealed?.discardKey() }
        self.lockGuard = Mutex(lockGuard)
    }

    /// Opens a file under a password, which no lock closes.
    init(
        _ file: ProtectedFile, _ password: SecretBytes, writing: Bool, _ durability: Durability
    ) throws {
        let path = try file.checkedPath()
        self.file = file
        access = writing ? .updating : .reading
        session = nil
        sealed = try ProtectedFileError.translating(path) {
            try SealedFile(
                path, writing ? .writing : .reading, password: PasswordFileKeys(password),
                durability: durability == .power ? .power : .process)
        }
        lockGuard = Mutex(nil)
    }

    /// Opens a file for reading.
    ///
    /// - Throws: ``ProtectedFileError/Code/locked`` while its class is closed, and
    ///   ``ProtectedFileError/Code/notProtected`` for a plain file.
    public convenience init(forReadingFrom url: URL) throws {
        try self.init(ProtectedFile(url), .reading, .process)
    }

    /// Opens a file that is there for writing. The position is at the beginning.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - durability: What each change outlives.
    /// - Throws: As ``init(forReadingFrom:)``.
    public convenience init(forWritingTo url: URL, durability: Durability = .process) throws {
        try self.init(ProtectedFile(url), .writing, durability)
    }

    /// Opens a file that is there for reading and writing.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - durability: What each change outlives.
    /// - Throws: As ``init(forReadingFrom:)``.
    public convenience init(forUpdating url: URL, durability: Durability = .process) throws {
        try self.init(ProtectedFile(url), .updating, durability)
    }

    /// Makes an empty file and opens it for reading and writing.
    ///
    /// On a locked machine this makes files of class `completeUnlessOpen`, which are written until they are closed and
    /// read again once the vault is unlocked.
    ///
    /// - Parameters:
    ///   - url: The file, which must not be there yet.
    ///   - protection: Its class; nil for that of the folder's new files, else `completeUntilFirstUserAuthentication`.
    ///   - permissions: Who may use the file, in the nine bits of chmod(2), whatever the umask says.
    ///   - durability: What each change outlives.
    /// - Throws: ``ProtectedFileError``.
    public init(
        creating url: URL, protection: FileProtectionType? = nil, permissions: Int = 0o600,
        durability: Durability = .process
    ) throws {
        let file = ProtectedFile(url)
        let path = try file.checkedPath()
        let session = try VaultSession.currentForFiles()
        let found = try NewFileClass.find(path, protection, session)
        let fileClass = found ?? .completeUntilFirstUserAuthentication
        let lockGuard = fileClass == .complete ? LockGuard(session) : nil
        let sealed = try ProtectedFileError.translating(path) {
            try SealedFile.create(
                path, fileClass, mode: mode_t(truncatingIfNeeded: permissions) & 0o7777, keys: session,
                durability: durability == .power ? .power : .process)
        }
        self.file = file
        self.session = session
        self.sealed = sealed
        access = .updating
        lockGuard?.onLock { [weak sealed] in sealed?.discardKey() }
        self.lockGuard = Mutex(lockGuard)
    }

    // MARK: The file

    /// Bytes of data.
    ///
    /// - Throws: ``ProtectedFileError``.
    public var length: UInt64 {
        get throws { try use { file in try file.length } }
    }

    /// The file's class.
    ///
    /// - Throws: ``ProtectedFileError``.
    public var protection: FileProtectionType {
        get throws {
            FileProtectionType(try use { file in try file.fileClass })
        }
    }

    /// Moves the file to another class, in a time that does not depend on its size. Both have to be open.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func setProtection(_ type: FileProtectionType) throws {
        let fileClass = try FileProtectionClass(type, for: file.path)
        try checkWritable()
        guard let session else {
            throw ProtectedFileError(SealedFileError.encryptedWithPassword(path: sealed.path))
        }
        let becoming = fileClass == .complete ? LockGuard(session) : nil
        try use { file in try file.changeClass(to: fileClass, keys: session) }
        becoming?.onLock { [weak sealed] in sealed?.discardKey() }
        lockGuard.withLock { $0 = becoming }
    }

    // MARK: Reading

    /// Reads from the position on, up to `count` bytes, and moves it behind them.
    ///
    /// - Returns: Fewer bytes where the data end, and nil at their end. They are wiped from memory when the last copy
    ///   goes.
    /// - Throws: ``ProtectedFileError``.
    public func read(upToCount count: Int) throws -> Data? {
        try position.withLock { position in
            let data = try read(upToCount: count, at: position)
            position += UInt64(clamping: data?.count ?? 0)
            return data
        }
    }

    /// Reads from the position to the end of the data; nil at their end.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func readToEnd() throws -> Data? {
        try position.withLock { position in
            let rest = try length
            guard rest > position else { return nil }
            let data = try read(upToCount: Int(clamping: rest - position), at: position)
            position += UInt64(clamping: data?.count ?? 0)
            return data
        }
    }

    /// Reads at a place, up to `count` bytes, and leaves the position as it is.
    ///
    /// - Returns: Fewer bytes where the data end, and nil behind their end.
    /// - Throws: ``ProtectedFileError``.
    public func read(upToCount count: Int, at offset: UInt64) throws -> Data? {
        guard access != .writing else { throw wrongMode("reading") }
        guard count > 0 else { return Data() }
        return try use { file in
            let length = try file.length
            guard offset < length else { return nil }
            let count = Int(clamping: min(UInt64(clamping: count), length - offset))
            let data = try Data.wipedWhenFreed(upTo: count, orOutOfMemory: SealedFileError.memoryUnavailable) {
                try file.read(into: $0, at: offset)
            }
            return data.isEmpty ? nil : data
        }
    }

    // MARK: Writing

    /// Writes at the position, and moves it behind what was written. What lies between the end of the data and the
    /// position becomes zeros.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func write(contentsOf data: some DataProtocol) throws {
        try position.withLock { position in
            try write(contentsOf: data, at: position)
            position += UInt64(clamping: data.count)
        }
    }

    /// Writes at a place, and leaves the position as it is.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func write(contentsOf data: some DataProtocol, at offset: UInt64) throws {
        try checkWritable()
        try use { file in
            var place = offset
            for region in data.regions {
                try region.withBytes { bytes in try file.write(bytes, at: place) }
                place += UInt64(clamping: region.count)
            }
        }
    }

    /// Writes behind the data, wherever other programs have moved their end, and leaves the position as it is.
    ///
    /// - Returns: Where that was.
    /// - Throws: ``ProtectedFileError``.
    @discardableResult
    public func append(contentsOf data: some DataProtocol) throws -> UInt64 {
        try checkWritable()
        return try use { file in
            var first: UInt64?
            for region in data.regions {
                let place = try region.withBytes { bytes in try file.append(bytes) }
                first = first ?? place
            }
            if let first { return first }
            return try file.length
        }
    }

    /// Gives the data another length; what is added are zeros, which take no room on the disk. The position moves to
    /// the end.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func truncate(atOffset offset: UInt64) throws {
        try checkWritable()
        try position.withLock { position in
            try use { file in try file.truncate(to: offset) }
            position = offset
        }
    }

    /// Returns when everything written is on the disk.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func synchronize() throws {
        try use { file in try file.synchronize() }
    }

    // MARK: The position

    /// The position, in bytes from the beginning of the data.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func offset() throws -> UInt64 {
        try checkOpen()
        return position.withLock { $0 }
    }

    /// Moves the position, which may be behind the end of the data.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func seek(toOffset offset: UInt64) throws {
        try checkOpen()
        position.withLock { $0 = offset }
    }

    /// Moves the position to the end of the data.
    ///
    /// - Returns: Where that is.
    /// - Throws: ``ProtectedFileError``.
    @discardableResult
    public func seekToEnd() throws -> UInt64 {
        try position.withLock { position in
            position = try length
            return position
        }
    }

    // MARK: The end

    /// Closes the file and wipes its key; operations throw ``ProtectedFileError/Code/closed`` from now on. So does
    /// letting go of the handle.
    public func close() {
        lockGuard.withLock { $0 = nil }
        sealed.close()
    }

    private func checkOpen() throws {
        guard lockGuard.withLock({ $0?.isLocked }) != true else {
            throw ProtectedFileError(SealedFileError.keyDiscarded(path: sealed.path))
        }
    }

    private func checkWritable() throws {
        guard access != .reading else { throw wrongMode("writing") }
    }

    private func wrongMode(_ purpose: String) -> ProtectedFileError {
        ProtectedFileError(
            .wrongMode, path: sealed.path, message: "\(sealed.path) was not opened for \(purpose)")
    }

    private func use<Value: Sendable>(
        _ body: (SealedFile) throws -> Value
    ) throws -> Value {
        try checkOpen()
        return try ProtectedFileError.translating(sealed.path) { try body(sealed) }
    }
}
