import FoundationEssentials
import Glibc
import KeychainModel
import Synchronization
import VaultInterface

/// An open protected file: its data, read and written at any place.
///
/// Any number of programs may have a file open. Each change is made while the others wait, and is there as a whole
/// or not at all, whenever this process ends; a write is one change for each MiB of the file that it reaches into. The file's key stays in
/// memory until ``discardKey()`` or ``close()``, whether or not its class is open. Memory does not grow with the file.
// Safe to share between threads: `path` never changes, and `core`, to which nobody else has a reference, is touched
// only while `lock` is held. In a `Mutex<FileCore?>` the closures that callers hand in could not use it: they are theirs,
// and what they capture cannot be sent.
package final class SealedFile: @unchecked Sendable {
    package enum Mode: Sendable {
        case reading
        case writing
    }

    /// What a change outlives when the call has returned.
    package enum Durability: Sendable {
        /// The end of this process, in whatever way. A loss of power may damage what was written last, which shows when it
        /// is read.
        case process
        /// A loss of power, too. Each change waits for the disk twice.
        case power
    }

    package let path: String
    private let lock = Mutex(())
    /// Nil once closed.
    private var core: FileCore?

    /// Opens a file.
    ///
    /// - Throws: ``SealedFileError/refused(_:)`` while its class is closed.
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

    /// Makes an empty file.
    ///
    /// - Parameters:
    ///   - mode: Who may use the file, whatever the umask says.
    ///   - replacing: Whether a file that has the name may be replaced.
    package static func create(
        _ path: String, _ fileClass: FileProtectionClass, mode: mode_t = 0o600, replacing: Bool = false,
        keys: any FileKeySource, durability: Durability = .process
    ) throws(SealedFileError) -> SealedFile {
        let writer = try SealedFileWriter(path, fileClass, mode: mode, keys: keys, durability: durability)
        return try writer.finishOpen(replacing: replacing)
    }

    /// Opens the file that is examined, whatever its name leads to by now.
    convenience init(_ file: PlainFile, keys: any FileKeySource) throws(SealedFileError) {
        let file = try OpenFile(file.path, sharing: file.descriptor)
        self.init(try FileCore(file, writing: false, waitingForDisk: false, keys: .vault(keys)))
    }

    init(_ core: FileCore) {
        self.core = core
        path = core.path
    }

    private func use<Value: Sendable>(
        _ body: (FileCore) throws(SealedFileError) -> Value
    ) throws(SealedFileError) -> Value {
        try lock.withLock { _ throws(SealedFileError) in
            guard let core else { throw .closed(path: path) }
            return try body(core)
        }
    }

    /// Which file it is.
    package var fileIdentity: FileIdentity {
        get throws(SealedFileError) {
            try use { (core) throws(SealedFileError) in try FileIdentity(of: core.file.descriptor, path: core.path) }
        }
    }

    /// Bytes of data.
    package var length: UInt64 {
        get throws(SealedFileError) {
            try use { (core) throws(SealedFileError) in
                try core.refresh()
                return core.header.length
            }
        }
    }

    /// - Throws: ``SealedFileError/encryptedWithPassword(path:)`` for a file that is in none.
    package var fileClass: FileProtectionClass {
        get throws(SealedFileError) {
            try use { (core) throws(SealedFileError) in
                try core.refresh()
                return try core.header.fileClass(core.path)
            }
        }
    }

    /// The 16 bytes that tell this file from all others.
    package var identifier: Data {
        get throws(SealedFileError) { try use { Data($0.header.file) } }
    }

    /// Reads until the buffer is full or the data end.
    ///
    /// - Returns: How many bytes were read: 0 at the end of the data.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SealedFileError) -> Int {
        try use { (core) throws(SealedFileError) in try core.read(into: buffer, at: offset) }
    }

    /// Hands out the data from `offset` to the end of the chunk of 64 KiB there, without copying them. The file is this
    /// thread's alone until `body` returns.
    ///
    /// - Returns: How many bytes that were: 0 at the end of the data.
    package func readChunk(
        at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(SealedFileError) -> Int {
        try use { (core) throws(SealedFileError) in try core.readChunk(at: offset, body) }
    }

    /// Reads up to `count` bytes, into memory that is wiped when it is freed; fewer where the data end.
    package func read(_ count: Int, at offset: UInt64) throws(SealedFileError) -> Data {
        let length = try length
        guard offset < length, count > 0 else { return Data() }
        let room = Int(min(UInt64(count), length - offset))
        return try .wipedWhenFreed(upTo: room, orOutOfMemory: SealedFileError.memoryUnavailable) {
            (buffer) throws(SealedFileError) in
            try read(into: buffer, at: offset)
        }
    }

    /// Writes all of `bytes`. What lies between the end of the data and `offset` becomes zeros.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        try use { (core) throws(SealedFileError) in try core.write(bytes, at: offset) }
    }

    package func write(_ data: Data, at offset: UInt64) throws(SealedFileError) {
        try data.withBytes { (bytes) throws(SealedFileError) in try write(bytes, at: offset) }
    }

    /// Writes all of `bytes` behind the data, wherever other programs have moved their end.
    ///
    /// - Returns: Where that was.
    @discardableResult
    package func append(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) -> UInt64 {
        try use { (core) throws(SealedFileError) in try core.append(bytes) }
    }

    @discardableResult
    package func append(_ data: Data) throws(SealedFileError) -> UInt64 {
        try data.withBytes { (bytes) throws(SealedFileError) in try append(bytes) }
    }

    /// Gives the data another length; what is added are zeros, which take no room on the disk.
    package func truncate(to length: UInt64) throws(SealedFileError) {
        try use { (core) throws(SealedFileError) in try core.truncate(to: length) }
    }

    /// Returns when everything written is on the disk.
    package func synchronize() throws(SealedFileError) {
        try use { (core) throws(SealedFileError) in try core.file.synchronize() }
    }

    /// Moves the file to another class, in a time that does not depend on its size. Both have to be open.
    package func changeClass(
        to fileClass: FileProtectionClass, keys: any FileKeySource
    ) throws(SealedFileError) {
        try use { (core) throws(SealedFileError) in try core.changeClass(to: fileClass, keys: keys) }
    }

    /// Opens everything in the file and says what is damaged.
    ///
    /// - Parameter progress: Called with the bytes of data that were looked at; returns whether to go on.
    package func verify(
        progress: (UInt64) -> Bool = { _ in true }
    ) throws(SealedFileError) -> SealedFileReport {
        try use { (core) throws(SealedFileError) in try core.verify(progress) }
    }

    /// Wipes the key and what was read: everything from now on fails with ``SealedFileError/keyDiscarded(path:)``.
    package func discardKey() {
        lock.withLock { _ in core?.discardKey() }
    }

    /// Fetches the key again after ``discardKey()``.
    ///
    /// - Throws: ``SealedFileError/refused(_:)`` while its class is closed.
    package func renewKey(_ keys: any FileKeySource) throws(SealedFileError) {
        try use { (core) throws(SealedFileError) in try core.renewKey(keys) }
    }

    /// Says what changes outlive from now on.
    package func setDurability(_ durability: Durability) {
        lock.withLock { _ in core?.waitsForDisk = durability == .power }
    }

    /// Closes the file. Whatever was written before is in it.
    package func close() {
        lock.withLock { _ in core = nil }
    }
}
