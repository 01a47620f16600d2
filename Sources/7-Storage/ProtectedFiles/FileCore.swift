import FoundationEssentials
import Glibc
import KeychainModel
import VaultInterface

/// An open protected file, for one thread at a time.
///
/// Whatever is remembered of the file's contents belongs to ``header``. Others may change the file between two
/// operations: the seal of the header on the disk tells.
final class FileCore {
    let file: OpenFile
    let isWritable: Bool
    /// Whether changes wait for the disk, so that they also outlive a loss of power.
    var waitsForDisk: Bool
    /// Nil once the key was given up.
    private(set) var secrets: FileSecrets?
    var header: FileHeader
    /// The seal that the header on the disk had when ``header`` was read. Not that of ``header`` while a change waits in
    /// the journal for somebody who may write.
    var sealOnDisk: IndexEntry
    /// The change that waits in the journal: its parts count before those in their places.
    var pending: JournalRecord?
    /// Index blocks that were verified under ``header``.
    var index: [IndexPosition: [UInt8]] = [:]
    /// The data of one chunk, so that small reads and writes next to each other open it once.
    let plain: AlignedBuffer
    var plainChunk: UInt64?
    /// Where a chunk is sealed.
    let sealed: AlignedBuffer
    /// Where threads open chunks that nobody wants to have; made when they are wanted.
    var rooms: [AlignedBuffer] = []

    /// Blocks of 4 KiB: those of a file of 1 GiB, and of any file as many.
    static let indexLimit = 160

    var path: String { file.path }

    /// Opens what is there, and finishes a change that was interrupted if it may.
    convenience init(
        _ path: String, writing: Bool, waitingForDisk: Bool, keys: FileKeys
    ) throws(SealedFileError) {
        let file = try OpenFile(path, flags: writing ? O_RDWR : O_RDONLY)
        try self.init(file, writing: writing, waitingForDisk: waitingForDisk, keys: keys)
    }

    /// - Parameter file: Open for writing if it is to be written to.
    init(_ file: OpenFile, writing: Bool, waitingForDisk: Bool, keys: FileKeys) throws(SealedFileError) {
        self.file = file
        let path = file.path
        (isWritable, waitsForDisk) = (writing, waitingForDisk)
        plain = try AlignedBuffer(count: FileLayout.chunkSize)
        sealed = try AlignedBuffer(count: FileLayout.chunkSize)
        // The key never changes, so that whatever happens after this look at its wrapped form, it is the key.
        let block = try file.locked(exclusively: false) { () throws(SealedFileError) in
            try file.read(FileLayout.blockSize, at: 0)
        }
        let first = try FileHeader(block, path: path)
        secrets = FileSecrets(try keys.key(of: first, path: path), file: first.file)
        (header, sealOnDisk) = (first, first.seal)
        try file.locked(exclusively: writing) { () throws(SealedFileError) in
            try load()
            if writing { try settle() }
        }
    }

    /// A new file without data, which nobody else has open.
    init(
        creating file: OpenFile, kind: FileKeyKind, waitingForDisk: Bool, keys: FileKeys
    ) throws(SealedFileError) {
        let id = [UInt8].random(count: FileKey.identifierSize)
        let key = try keys.makeKey(kind, file: Data(id), path: file.path)
        guard key.wrapped.count <= FileHeader.wrappedLimit else {
            throw .refused(
                .invalidRequest(reason: "a wrapped key of \(key.wrapped.count) bytes has no place in a file"))
        }
        self.file = file
        plain = try AlignedBuffer(count: FileLayout.chunkSize)
        sealed = try AlignedBuffer(count: FileLayout.chunkSize)
        (isWritable, waitsForDisk) = (true, waitingForDisk)
        let secrets = FileSecrets(key.key, file: id)
        self.secrets = secrets
        header = FileHeader(kind: kind, file: id, wrapped: key.wrapped)
        header.seals = 1
        try header.seal(secrets)
        sealOnDisk = header.seal
        try writeHeader(header)
    }

    /// Opens a file under a vault's keys.
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

    /// Fetches a key that was given up once more.
    func renewKey(_ keys: any FileKeySource) throws(SealedFileError) {
        let block = try file.locked(exclusively: false) { () throws(SealedFileError) in
            try file.read(FileLayout.blockSize, at: 0)
        }
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
            try file.locked(exclusively: false) { () throws(SealedFileError) in try load() }
        } catch {
            discardKey()
            throw error
        }
    }

    func writeHeader(_ header: FileHeader) throws(SealedFileError) {
        try header.block.withBytes { (bytes) throws(SealedFileError) in try file.write(bytes, at: 0) }
    }
}
