import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import VaultInterface

/// An open protected file, for one thread at a time.
///
/// All remembered contents of the file belong to ``header``. Other processes may change the file between two
/// operations. The seal of the header on the disk shows such a change.
final class FileCore {
    let file: OpenFile
    let isWritable: Bool
    /// Whether changes wait for the disk, so that they survive a loss of power, too.
    var waitsForDisk: Bool
    /// Nil after ``discardKey()``.
    private(set) var secrets: FileSecrets?
    var header: FileHeader
    /// The seal of the header on the disk at the time when ``header`` was read. It differs from the seal of ``header``
    /// while a change waits in the journal for a process that may write.
    var sealOnDisk: IndexEntry
    /// The change that waits in the journal. Its parts replace those in the file.
    var pending: JournalRecord?
    /// The chunks of a new file that are not in its index yet.
    var growth: FileChange?
    /// Why a new file cannot be completed.
    var growthFailure: SealedFileError?
    /// Whether all processors open the chunks of a large read.
    var opensTogether = true
    /// The index blocks that were verified under ``header``.
    var index: [IndexPosition: [UInt8]] = [:]
    /// The data of one chunk. Several small reads and writes in the same chunk open it only once.
    let plain: AlignedBuffer
    var plainChunk: UInt64?
    /// The buffer for sealing a chunk.
    let sealed: AlignedBuffer
    /// The buffers in which threads verify chunks that nobody reads; allocated at first use.
    var rooms: [AlignedBuffer] = []

    /// The largest number of remembered index blocks of 4 KiB. All blocks of a file of 1 GiB fit.
    static let indexLimit = 160

    var path: String { file.path }

    /// Opens an existing file. Finishes an interrupted change if it may write.
    convenience init(
        _ path: String, writing: Bool, waitingForDisk: Bool, keys: FileKeys
    ) throws(SealedFileError) {
        let file = try OpenFile(path, flags: writing ? O_RDWR : O_RDONLY)
        try self.init(file, writing: writing, waitingForDisk: waitingForDisk, keys: keys)
    }

    /// - Parameter file: Open for writing if `writing` is true.
    init(_ file: OpenFile, writing: Bool, waitingForDisk: Bool, keys: FileKeys) throws(SealedFileError) {
        self.file = file
        let path = file.path
        (isWritable, waitsForDisk) = (writing, waitingForDisk)
        plain = try AlignedBuffer(count: FileLayout.chunkSize)
        sealed = try AlignedBuffer(count: FileLayout.chunkSize)
        // The key of a file never changes, so it stays valid whatever happens to the file after this read.
        let block = try file.locked(file.read(FileLayout.blockSize, at: 0))
        let first = try FileHeader(block, path: path)
        secrets = FileSecrets(try keys.key(of: first, path: path), file: first.file)
        (header, sealOnDisk) = (first, first.seal)
        try file.lock(exclusively: writing)
        defer { file.unlock() }
        try load()
        if writing { try settle() }
    }

    /// Creates a new file without data, which no other process has open. ``finishUnshared()`` writes its header.
    init(
        creating file: OpenFile, kind: FileKeyKind, waitingForDisk: Bool, keys: FileKeys
    ) throws(SealedFileError) {
        let id = [UInt8].random(count: FileKey.identifierSize)
        let key = try keys.makeKey(kind, file: Data(id), path: file.path)
        guard key.wrapped.count <= FileHeader.wrappedLimit else {
            throw .refused(
                .invalidRequest(reason: "a wrapped key of \(key.wrapped.count) bytes does not fit into a file"))
        }
        self.file = file
        plain = try AlignedBuffer(count: FileLayout.chunkSize)
        sealed = try AlignedBuffer(count: FileLayout.chunkSize)
        (isWritable, waitsForDisk) = (true, waitingForDisk)
        secrets = FileSecrets(key.key, file: id)
        header = FileHeader(kind: kind, file: id, wrapped: key.wrapped)
        sealOnDisk = header.seal
    }

    /// Opens a file with the keys of a vault.
    convenience init(
        _ path: String, writing: Bool, waitingForDisk: Bool, keys: any FileKeySource
    ) throws(SealedFileError) {
        try self.init(path, writing: writing, waitingForDisk: waitingForDisk, keys: .vault(keys))
    }

    func usableSecrets() throws(SealedFileError) -> FileSecrets {
        guard let secrets else { throw .keyDiscarded(path: path) }
        return secrets
    }

    func discardKey() {
        secrets = nil
        plainChunk = nil
        plain.wipe()
    }

    /// Fetches a discarded key again.
    func renewKey(_ keys: any FileKeySource) throws(SealedFileError) {
        let block = try file.locked(file.read(FileLayout.blockSize, at: 0))
        let found = try FileHeader(block, path: path)
        guard found.file == header.file else { throw .damaged(path: path, part: .header) }
        let fileClass = try found.fileClass(path)
        do throws(VaultError) {
            let key = try keys.fileKey(for: fileClass, file: Data(found.file), wrapped: found.wrapped)
            secrets = FileSecrets(key, file: found.file)
        } catch {
            throw .refused(error)
        }
        do throws(SealedFileError) {
            try file.locked(load())
        } catch {
            discardKey()
            throw error
        }
    }

    func writeHeader(_ header: FileHeader) throws(SealedFileError) {
        try file.write(header.block, at: 0)
    }
}
