import Foundation
import Glibc
import KeychainModel
import VaultInterface

/// Writes a new protected file from beginning to end, which has its name only once it is complete.
///
/// Not for several threads. Without ``finish(replacing:)`` nothing is left of it.
package final class SealedFileWriter {
    private let target: NewFile
    private let core: FileCore
    private let buffer: AlignedBuffer
    private var buffered = 0

    /// - Parameter mode: Who may use the file, whatever the umask says.
    package init(
        _ path: String, _ fileClass: FileProtectionClass, mode: mode_t = 0o600, keys: any FileKeySource,
        durability: SealedFile.Durability = .power
    ) throws(SealedFileError) {
        buffer = try AlignedBuffer(count: FileCore.stepSize)
        target = try NewFile(path, mode: mode)
        core = try FileCore(
            creating: target.file, fileClass: fileClass, waitingForDisk: durability == .power, keys: keys)
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
            let count = min(rest.count, FileCore.stepSize - buffered)
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[buffered..<(buffered + count)])
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            buffered += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if buffered == FileCore.stepSize { try flush() }
        }
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

    /// As ``finish(replacing:)``, with what the file has besides its contents.
    ///
    /// - Parameter check: See ``NewFile``.
    func finish(
        replacing: Bool, with metadata: FileMetadata?, _ check: () throws(SealedFileError) -> Void = {}
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
