import Foundation
import Glibc
import KeychainModel
import VaultInterface

/// Writes a new protected file from beginning to end, which has its name only once it is complete.
///
/// Not for several threads. Without ``finish(replacing:)`` nothing is left of it.
package final class SealedFileWriter {
    private let path: String
    private let temporaryPath: String
    private let core: FileCore
    private let buffer: AlignedBuffer
    private var buffered = 0
    private var isPublished = false

    /// - Parameter mode: Who may use the file, whatever the umask says.
    package init(
        _ path: String, _ fileClass: FileProtectionClass, mode: mode_t = 0o600, keys: any FileKeySource,
        durability: SealedFile.Durability = .power
    ) throws(SealedFileError) {
        self.path = path
        let (folder, name) = Self.split(path)
        // Names have at most 255 bytes.
        temporaryPath =
            folder + "." + String(decoding: name.utf8.prefix(200), as: UTF8.self)
            + ".\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        buffer = try AlignedBuffer(count: FileCore.stepSize)
        core = try FileCore(
            creating: temporaryPath, fileClass: fileClass, mode: mode, waitingForDisk: durability == .power, keys: keys)
    }

    deinit {
        if !isPublished { unlink(temporaryPath) }
    }

    /// The folder, with the slash, and the name in it.
    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        let start = path.utf8.index(after: slash)
        return (String(path[..<start]), String(path[start...]))
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
        try flush()
        if core.waitsForDisk { try core.file.synchronizeWhole() }
        try publish(replacing: replacing)
    }

    /// As ``finish(replacing:)``, and opens the file for writing.
    package func finishOpen(replacing: Bool) throws(SealedFileError) -> SealedFile {
        try finish(replacing: replacing)
        core.file.renamed(path)
        return SealedFile(core)
    }

    private func publish(replacing: Bool) throws(SealedFileError) {
        if replacing {
            guard rename(temporaryPath, path) == 0 else { throw .last("replace", path) }
        } else {
            guard link(temporaryPath, path) == 0 else { throw .last("create", path) }
            unlink(temporaryPath)
        }
        isPublished = true
        guard core.waitsForDisk else { return }
        let folder = Self.split(path).folder
        let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open the folder of", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last("flush the folder of", path) }
    }
}
