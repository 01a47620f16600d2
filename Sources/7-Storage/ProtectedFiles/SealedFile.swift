import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import VaultInterface

/// An open protected file, which is read and written at any offset.
///
/// Any number of programs may have a file open. Each change is made while the others wait. It is in the file as a whole
/// or not at all, even if this process ends. A write makes one change for each MiB of the file that it reaches into.
/// The file's key stays in memory until ``discardKey()`` or ``close()``, even while its class is locked. The memory
/// does not grow with the file.
// Safe to share between threads: `path` never changes, and `core`, which has no other reference, is used only while
// `lock` is held.
package final class SealedFile: @unchecked Sendable {
    package enum Mode: Sendable {
        case reading
        case writing
    }

    /// The events that a finished change survives.
    package enum Durability: Sendable {
        /// Any end of this process. A loss of power may damage the last written data; reading them then fails.
        case process
        /// Also a loss of power. Each change waits for the disk twice.
        case power
    }

    package let path: String
    private let lock = ThreadLock()
    /// Nil after closing.
    private var core: FileCore?

    /// Opens a file.
    ///
    /// - Throws: ``SealedFileError/refused(_:)`` while its class is locked.
    package convenience init(
        _ path: String, _ mode: Mode, keys: any FileKeySource, durability: Durability = .process
    ) throws(SealedFileError) {
        self.init(
            try FileCore(path, writing: mode == .writing, waitingForDisk: durability == .power, keys: keys))
    }

    /// Opens a file that was encrypted with a password.
    ///
    /// - Throws: ``SealedFileError/wrongPassword(path:)``.
    package convenience init(
        _ path: String, _ mode: Mode, password: any PasswordKeySource, durability: Durability = .process
    ) throws(SealedFileError) {
        self.init(
            try FileCore(
                path, writing: mode == .writing, waitingForDisk: durability == .power, keys: .password(password)))
    }

    /// Creates an empty file.
    ///
    /// - Parameters:
    ///   - mode: The permissions of the file. The umask does not reduce them.
    ///   - replacing: Whether to replace a file with this name.
    package static func create(
        _ path: String, _ fileClass: FileProtectionClass, mode: mode_t = 0o600, replacing: Bool = false,
        keys: any FileKeySource, durability: Durability = .process
    ) throws(SealedFileError) -> SealedFile {
        let writer = try SealedFileWriter(path, fileClass, mode: mode, keys: keys, durability: durability)
        return try writer.finishOpen(replacing: replacing)
    }

    /// Opens the examined file, even if its name leads to another file by now.
    convenience init(_ file: PlainFile, keys: any FileKeySource) throws(SealedFileError) {
        let file = try OpenFile(file.path, sharing: file.descriptor)
        self.init(try FileCore(file, writing: false, waitingForDisk: false, keys: .vault(keys)))
    }

    init(_ core: FileCore) {
        self.core = core
        path = core.path
    }

    /// The state of the open file, for the holder of the lock.
    private var opened: FileCore {
        get throws(SealedFileError) {
            guard let core else { throw .closed(path: path) }
            return core
        }
    }

    private func locked<Value>(
        _ body: @autoclosure () throws(SealedFileError) -> Value
    ) throws(SealedFileError) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// The identity of the file in its file system.
    package var fileIdentity: FileIdentity {
        get throws(SealedFileError) {
            try locked(opened.file.identity)
        }
    }

    /// The length of the data in bytes.
    package var length: UInt64 {
        get throws(SealedFileError) {
            lock.lock()
            defer { lock.unlock() }
            let core = try opened
            try core.refresh()
            return core.header.length
        }
    }

    /// - Throws: ``SealedFileError/encryptedWithPassword(path:)`` for a file without a class.
    package var fileClass: FileProtectionClass {
        get throws(SealedFileError) {
            lock.lock()
            defer { lock.unlock() }
            let core = try opened
            try core.refresh()
            return try core.header.fileClass(core.path)
        }
    }

    /// The file's unique identifier of 16 bytes.
    package var identifier: Data {
        get throws(SealedFileError) { try locked(Data(opened.header.file)) }
    }

    /// Reads until the buffer is full or the data end.
    ///
    /// - Returns: The number of bytes: 0 at the end of the data.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SealedFileError) -> Int {
        try locked(opened.read(into: buffer, at: offset))
    }

    /// Lets only the calling thread open the chunks of a read, because others have other work.
    func openAlone() {
        lock.lock()
        defer { lock.unlock() }
        core?.opensTogether = false
    }

    /// Runs `body` with the data from `offset` to the end of its chunk of 64 KiB, without copying them. No other thread
    /// can use the file until `body` returns.
    ///
    /// - Returns: The number of these bytes: 0 at the end of the data.
    package func readChunk(
        at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(SealedFileError) -> Int {
        try locked(opened.readChunk(at: offset, body))
    }

    /// Reads up to `count` bytes into memory that is wiped when it is freed; fewer at the end of the data.
    package func read(_ count: Int, at offset: UInt64) throws(SealedFileError) -> Data {
        let length = try length
        guard offset < length, count > 0 else { return Data() }
        let room = Int(clamping: min(UInt64(clamping: count), length - offset))
        return try .wipedWhenFreed(upTo: room, orOutOfMemory: SealedFileError.memoryUnavailable) {
            (buffer) throws(SealedFileError) in
            try read(into: buffer, at: offset)
        }
    }

    /// Writes all of `bytes`. Fills the space between the end of the data and `offset` with zeros.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        try locked(opened.write(bytes, at: offset))
    }

    package func write(_ data: Data, at offset: UInt64) throws(SealedFileError) {
        try data.withBytes { (bytes) throws(SealedFileError) in try write(bytes, at: offset) }
    }

    /// Writes all of `bytes` at the end of the data, even if other programs have moved the end.
    ///
    /// - Returns: The offset of the written bytes.
    @discardableResult
    package func append(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) -> UInt64 {
        try locked(opened.append(bytes))
    }

    @discardableResult
    package func append(_ data: Data) throws(SealedFileError) -> UInt64 {
        try data.withBytes(append)
    }

    /// Changes the length of the data. Added bytes are zeros and take no room on the disk.
    package func truncate(to length: UInt64) throws(SealedFileError) {
        try locked(opened.truncate(to: length))
    }

    /// Waits until all written data are on the disk.
    package func synchronize() throws(SealedFileError) { try locked(opened.file.synchronize()) }

    /// Moves the file to another class, in a time that does not depend on its size. Both classes must be unlocked.
    package func changeClass(
        to fileClass: FileProtectionClass, keys: any FileKeySource
    ) throws(SealedFileError) {
        try locked(opened.changeClass(to: fileClass, keys: keys))
    }

    /// Wraps the file's key anew, under the present key of its class, in a time that does not depend on its size.
    /// The class must be unlocked.
    ///
    /// - Returns: Whether the wrapped key is another one now. In the class `completeUnlessOpen` it always is, because
    ///   each wrapping has a key pair of its own.
    package func rewrapKey(keys: any FileKeySource) throws(SealedFileError) -> Bool {
        try locked(opened.rewrapKey(keys))
    }

    /// Opens all parts of the file and reports the damaged ones.
    ///
    /// - Parameter progress: Called with the number of bytes verified so far. Returns whether to continue.
    package func verify(
        progress: (UInt64) -> Bool = { _ in true }
    ) throws(SealedFileError) -> SealedFileReport {
        try locked(opened.verify(progress))
    }

    /// Wipes the key and the read data. From now on every operation throws ``SealedFileError/keyDiscarded(path:)``.
    package func discardKey() {
        lock.lock()
        defer { lock.unlock() }
        core?.discardKey()
    }

    /// Fetches the key again after ``discardKey()``.
    ///
    /// - Throws: ``SealedFileError/refused(_:)`` while its class is locked.
    package func renewKey(_ keys: any FileKeySource) throws(SealedFileError) {
        try locked(opened.renewKey(keys))
    }

    /// Sets the durability of later changes.
    package func setDurability(_ durability: Durability) {
        lock.lock()
        defer { lock.unlock() }
        core?.waitsForDisk = durability == .power
    }

    /// Closes the file. All earlier writes are in it.
    package func close() {
        lock.lock()
        defer { lock.unlock() }
        core = nil
    }
}
