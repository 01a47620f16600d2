import Bytes
import CLibrary
import KeychainModel
import VaultInterface

/// A conversion of plain files to protected ones and back, in place.
///
/// At every moment, also after a crash or a loss of power, the name leads to the whole old file or the whole new one:
/// the new file gets the name only when it is on the disk. Owner, permissions, times, extended attributes and holes
/// stay. A file with several names (hard links) is refused, because its other names would still lead to the old file.
package struct FileConversion: Sendable {
    let keys: any FileKeySource

    package init(keys: any FileKeySource) { self.keys = keys }

    /// The number of bytes that are read at a time.
    static let pieceSize = 1 << 20

    /// Protects the plain file at this path.
    ///
    /// - Parameters:
    ///   - expected: The file that the path must lead to; nil for any.
    ///   - progress: Called with the size in bytes of each finished piece.
    /// - Throws: ``SealedFileError/alreadyProtected(path:)``, and any error that stopped the work. The file is
    ///   unchanged then.
    package func protect(
        _ path: String, _ fileClass: FileProtectionClass, expecting expected: FileIdentity? = nil,
        progress: (UInt64) -> Void = { _ in }
    ) throws(SealedFileError) {
        let plain = try PlainFile(path, expected)
        guard try !plain.isProtected else { throw .alreadyProtected(path: path) }
        guard !VaultFiles.include(path) else { throw .ofVault(path: path) }
        try checkNames(plain.metadata, path)
        try plain.checkWriters()
        // Room for the header, and for an index with 28 bytes per chunk of 64 KiB.
        try checkSpace(plain.metadata.allocated + plain.metadata.allocated / 1024 + 65_536, beside: path)
        let writer = try SealedFileWriter(path, fileClass, keys: keys, durability: .power)
        let buffer = try AlignedBuffer(pieces: Self.pieceSize, of: plain.metadata.size)
        try plain.readPieces(into: buffer.bytes) { (bytes) throws(SealedFileError) in
            try writer.write(bytes)
            progress(UInt64(clamping: bytes.count))
        } hole: { (count) throws(SealedFileError) in
            try writer.skip(count)
            progress(count)
        }
        try writer.finish(replacing: true, with: plain.metadata) { (folder) throws(SealedFileError) in
            try checkUnchanged(plain, in: folder)
        }
    }

    /// Makes the protected file at this path plain again.
    ///
    /// - Parameters:
    ///   - expected: The file that the path must lead to; nil for any.
    ///   - progress: Called with the size in bytes of each finished piece.
    /// - Throws: ``SealedFileError/notProtected(path:)``, and any error that stopped the work. The file is unchanged
    ///   then.
    package func unprotect(
        _ path: String, expecting expected: FileIdentity? = nil, progress: (UInt64) -> Void = { _ in }
    ) throws(SealedFileError) {
        // Does not follow a link, because the new file would replace the link.
        let former = try PlainFile(path, expected)
        // First: nothing is done to a plain file, so that it may have several names and be open.
        guard try former.isProtected else { throw .notProtected(path: path) }
        try checkNames(former.metadata, path)
        try former.checkWriters()
        let sealed = try SealedFile(former, keys: keys)
        defer { sealed.close() }
        try checkSpace(former.metadata.allocated, beside: path)
        let target = try NewFile(path, mode: 0o600)
        try copy(sealed, try sealed.length, to: target.file, progress)
        try former.metadata.apply(to: target.file.descriptor, path: path)
        try target.publish(replacing: true, waitingForDisk: true) { (folder) throws(SealedFileError) in
            try checkUnchanged(former, in: folder)
        }
    }

    private func copy(
        _ sealed: SealedFile, _ length: UInt64, to file: OpenFile, _ progress: (UInt64) -> Void
    ) throws(SealedFileError) {
        if length > UInt64(clamping: Self.pieceSize) { try file.beginWritingBehind() }
        // Writing takes longer than reading and opening, which leave the other processor to it.
        if file.behind != nil { sealed.openAlone() }
        let buffer = file.behind == nil ? try AlignedBuffer(pieces: Self.pieceSize, of: length) : nil
        var offset: UInt64 = 0
        while offset < length {
            let count = try file.writeWithHoles(buffer, at: offset) { (room) throws(SealedFileError) in
                try sealed.read(into: room, at: offset)
            }
            guard count > 0 else { throw .changed(path: sealed.path) }
            offset += UInt64(clamping: count)
            progress(UInt64(clamping: count))
        }
        try file.endWritingBehind()
        try file.truncate(to: length)
    }

    func checkUnchanged(_ file: PlainFile, in folder: NewFile.Folder) throws(SealedFileError) {
        try file.checkWriters()
        try file.checkUnchanged(in: folder)
    }

    func checkNames(_ metadata: FileMetadata, _ path: String) throws(SealedFileError) {
        guard metadata.linkCount == 1 else { throw .hardLinked(path: path, names: metadata.linkCount) }
    }

    func checkSpace(_ needed: UInt64, beside path: String) throws(SealedFileError) {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { throw .last("examine the file system of", path) }
        guard UInt64(system.f_bavail).timesClamping(UInt64(system.f_frsize)) >= needed else {
            throw .diskFull(path: path)
        }
    }
}
