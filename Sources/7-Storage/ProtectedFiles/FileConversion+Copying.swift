import Bytes
import CLibrary
import KeychainModel

extension FileConversion {
    /// Makes a protected copy of a plain or protected file, with a new key.
    ///
    /// The copy gets its name when it is complete and on the disk. It has the source's owner, permissions, times and
    /// extended attributes.
    ///
    /// - Parameter fileClass: The class of the copy; nil for the source's own class, if the source is protected.
    /// - Throws: ``SealedFileError/alreadyExists(path:)``, because a copy replaces no file.
    package func copy(
        _ source: String, to target: String, as fileClass: FileProtectionClass? = nil
    ) throws(SealedFileError) {
        // Reads the source's metadata, for plain and protected files alike.
        let plain = try PlainFile(source)
        let buffer = try AlignedBuffer(count: Self.pieceSize)
        let writer: SealedFileWriter
        if try plain.isProtected {
            let sealed = try SealedFile(plain, keys: keys)
            defer { sealed.close() }
            let ownClass = try sealed.fileClass
            writer = try SealedFileWriter(target, fileClass ?? ownClass, keys: keys, durability: .power)
            try Self.copy(sealed, to: writer, buffer.bytes)
        } else {
            guard let fileClass else { throw .notProtected(path: source) }
            writer = try SealedFileWriter(target, fileClass, keys: keys, durability: .power)
            try plain.readPieces(into: buffer.bytes, data: writer.write, hole: writer.skip)
        }
        try writer.finish(replacing: false, with: plain.metadata) { (_) throws(SealedFileError) in
            try plain.checkUnchanged()
        }
    }

    /// Seals the data of the protected file at this path under a new key, in place.
    ///
    /// No copy of the former header opens anything of the new file. Who has opened the former file keeps it. What the
    /// former file was stays on the disk until its blocks are used again.
    ///
    /// - Parameters:
    ///   - fileClass: The class of the file from then on; nil for the one that it has.
    ///   - expected: The file that the path must lead to; nil for any.
    ///   - progress: Called with the size in bytes of each finished piece.
    /// - Throws: Any error that stopped the work. The file is unchanged then.
    package func renewKey(
        _ path: String, movingTo fileClass: FileProtectionClass? = nil, expecting expected: FileIdentity? = nil,
        progress: (UInt64) -> Void = { _ in }
    ) throws(SealedFileError) {
        let former = try PlainFile(path, expected)
        guard try former.isProtected else { throw .notProtected(path: path) }
        try checkNames(former.metadata, path)
        try former.checkWriters()
        let sealed = try SealedFile(former, keys: keys)
        defer { sealed.close() }
        try checkSpace(former.metadata.allocated, beside: path)
        let presentClass = try sealed.fileClass
        let writer = try SealedFileWriter(path, fileClass ?? presentClass, keys: keys, durability: .power)
        let buffer = try AlignedBuffer(count: Self.pieceSize)
        try Self.copy(sealed, to: writer, buffer.bytes, progress)
        try writer.finish(replacing: true, with: former.metadata) { (folder) throws(SealedFileError) in
            try checkUnchanged(former, in: folder)
        }
    }

    private static func copy(
        _ sealed: SealedFile, to writer: SealedFileWriter, _ room: UnsafeMutableRawBufferPointer,
        _ progress: (UInt64) -> Void = { _ in }
    ) throws(SealedFileError) {
        // Of a long file, the writer has a thread of its own, and one more opens the next piece.
        sealed.openAlone()
        let length = try sealed.length
        var offset: UInt64 = 0
        while offset < length {
            let count = try sealed.read(into: room, at: offset)
            guard count > 0 else { throw .changed(path: sealed.path) }
            let piece = UnsafeRawBufferPointer(rebasing: room[..<count])
            if piece.isZero { try writer.skip(UInt64(clamping: count)) } else { try writer.write(piece) }
            offset += UInt64(clamping: count)
            progress(UInt64(clamping: count))
        }
    }
}
