import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import VaultInterface

/// A writer of a new protected file, from beginning to end. The file gets its name only when it is complete.
///
/// For one thread. Without ``finish(replacing:)``, nothing remains of the file.
package final class SealedFileWriter {
    private let target: NewFile
    private let core: FileCore
    /// One chunk.
    private let buffer: AlignedBuffer
    private var buffered = 0
    private static let shortLength: UInt64 = 1 << 20

    /// - Parameter mode: The permissions of the file. The umask does not reduce them.
    package convenience init(
        _ path: String, _ fileClass: FileProtectionClass, mode: mode_t = 0o600, keys: any FileKeySource,
        durability: SealedFile.Durability = .power
    ) throws(SealedFileError) {
        try self.init(path, .vault(fileClass), mode: mode, keys: .vault(keys), durability: durability)
    }

    /// Writes a file under a password.
    package convenience init(
        _ path: String, mode: mode_t = 0o600, password: any PasswordKeySource,
        durability: SealedFile.Durability = .power
    ) throws(SealedFileError) {
        try self.init(path, .password, mode: mode, keys: .password(password), durability: durability)
    }

    private init(
        _ path: String, _ kind: FileKeyKind, mode: mode_t, keys: FileKeys, durability: SealedFile.Durability
    ) throws(SealedFileError) {
        buffer = try AlignedBuffer(count: FileLayout.chunkSize)
        target = try NewFile(path, mode: mode)
        core = try FileCore(
            creating: target.file, kind: kind, waitingForDisk: durability == .power, keys: keys)
    }

    /// The number of bytes of data so far.
    package var length: UInt64 { core.unsharedLength + UInt64(clamping: buffered) }

    /// Adds data at the end.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        var rest = bytes
        while !rest.isEmpty {
            if buffered == 0, rest.count >= FileLayout.chunkSize {
                // Writes whole chunks directly from the caller's memory.
                let whole = rest.count / FileLayout.chunkSize * FileLayout.chunkSize
                try append(UnsafeRawBufferPointer(rebasing: rest[..<whole]))
                rest = UnsafeRawBufferPointer(rebasing: rest[whole...])
                continue
            }
            let count = min(rest.count, buffer.count - buffered)
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.first(buffered + count)[buffered...])
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            buffered += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if buffered == buffer.count { try flush() }
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        // For a short file, a thread would gain nothing.
        if core.unsharedLength + UInt64(clamping: bytes.count) > Self.shortLength {
            try core.file.beginWritingBehind()
        }
        try core.appendUnshared(bytes)
    }

    package func write(_ data: Data) throws(SealedFileError) { try data.withBytes(write) }

    /// Adds zeros, which take no room on the disk.
    package func skip(_ count: UInt64) throws(SealedFileError) {
        try flush()
        try core.extendUnshared(by: count)
    }

    private func flush() throws(SealedFileError) {
        guard buffered > 0 else { return }
        try append(UnsafeRawBufferPointer(buffer.first(buffered)))
        buffered = 0
    }

    /// Gives the file its name.
    ///
    /// - Parameter replacing: Whether to replace a file with this name, which stays unchanged until then.
    package func finish(replacing: Bool) throws(SealedFileError) {
        try finish(replacing: replacing, with: nil)
    }

    /// Passes the file from beginning to end to `write` instead. Nothing of it remains elsewhere.
    package func finish(
        copyingWith write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        try flush()
        try core.finishUnshared()
        let size = try core.file.size
        var offset: UInt64 = 0
        while offset < size {
            let count = try core.file.read(into: buffer.bytes, at: offset)
            try write(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
            offset += UInt64(clamping: count)
        }
    }

    /// Does the same as ``finish(replacing:)``, and applies metadata to the file.
    ///
    /// - Parameter check: See ``NewFile``.
    func finish(
        replacing: Bool, with metadata: FileMetadata?,
        _ check: (NewFile.Folder) throws(SealedFileError) -> Void = { _ in }
    ) throws(SealedFileError) {
        try flush()
        try core.finishUnshared()
        try metadata?.apply(to: core.file.descriptor, path: core.path)
        try target.publish(replacing: replacing, waitingForDisk: core.waitsForDisk, check)
    }

    /// Does the same as ``finish(replacing:)``, and opens the file for writing.
    package func finishOpen(replacing: Bool) throws(SealedFileError) -> SealedFile {
        try finish(replacing: replacing)
        return SealedFile(core)
    }
}
