import FoundationEssentials
import Glibc
import KeychainModel
import VaultInterface

/// Writes a new protected file from beginning to end, which has its name only once it is complete.
///
/// Not for several threads. Without ``finish(replacing:)`` nothing is left of it.
package final class SealedFileWriter {
    private let target: NewFile
    private let core: FileCore
    /// One chunk at first: most files are no longer.
    private var buffer: AlignedBuffer
    private var buffered = 0

    /// - Parameter mode: Who may use the file, whatever the umask says.
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

    /// Bytes of data so far.
    package var length: UInt64 { core.header.length + UInt64(buffered) }

    /// Adds data at the end.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        var rest = bytes
        while !rest.isEmpty {
            if buffered == 0, rest.count >= FileCore.stepSize {
                // Nothing to gather: straight from where it is.
                let whole = rest.count / FileCore.stepSize * FileCore.stepSize
                try core.appendUnshared(UnsafeRawBufferPointer(rebasing: rest[..<whole]))
                rest = UnsafeRawBufferPointer(rebasing: rest[whole...])
                continue
            }
            if buffered == buffer.count { try enlarge() }
            let count = min(rest.count, buffer.count - buffered)
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[buffered..<(buffered + count)])
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            buffered += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if buffered == FileCore.stepSize { try flush() }
        }
    }

    private func enlarge() throws(SealedFileError) {
        let larger = try AlignedBuffer(count: FileCore.stepSize)
        larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer.bytes[..<buffered]))
        buffer = larger
    }

    package func write(_ data: Data) throws(SealedFileError) {
        try data.withBytes { (bytes) throws(SealedFileError) in try write(bytes) }
    }

    /// Adds zeros, which take no room on the disk.
    package func skip(_ count: UInt64) throws(SealedFileError) {
        try flush()
        try core.extendUnshared(by: count)
    }

    private func flush() throws(SealedFileError) {
        guard buffered > 0 else { return }
        try core.appendUnshared(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<buffered]))
        buffered = 0
    }

    /// Gives the file its name.
    ///
    /// - Parameter replacing: Whether a file that has the name may be replaced; it stays as it is until then.
    package func finish(replacing: Bool) throws(SealedFileError) {
        try finish(replacing: replacing, with: nil)
    }

    /// Writes the file to `descriptor` instead, from its beginning to its end, and leaves nothing of it elsewhere.
    package func finish(
        copyingWith write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        try flush()
        let size = try core.file.size
        var offset: UInt64 = 0
        while offset < size {
            let count = try core.file.read(into: buffer.bytes, at: offset)
            try write(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
            offset += UInt64(count)
        }
    }

    /// As ``finish(replacing:)``, with what the file has besides its contents.
    ///
    /// - Parameter check: See ``NewFile``.
    func finish(
        replacing: Bool, with metadata: FileMetadata?,
        _ check: (NewFile.Folder) throws(SealedFileError) -> Void = { _ in }
    ) throws(SealedFileError) {
        try flush()
        try metadata?.apply(to: core.file.descriptor, path: core.path)
        try target.publish(replacing: replacing, waitingForDisk: core.waitsForDisk, check)
    }

    /// As ``finish(replacing:)``, and opens the file for writing.
    package func finishOpen(replacing: Bool) throws(SealedFileError) -> SealedFile {
        try finish(replacing: replacing)
        return SealedFile(core)
    }
}
