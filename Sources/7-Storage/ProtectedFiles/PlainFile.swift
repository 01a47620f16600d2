import Glibc

/// A plain file that is about to be protected, read from beginning to end without what lies in its holes.
final class PlainFile {
    let path: String
    let descriptor: Int32
    let metadata: FileMetadata

    /// - Parameter expected: Which file it has to be, of those that the name may lead to by now; nil for any.
    /// - Throws: ``SealedFileError/symbolicLink(path:)``, ``SealedFileError/notRegular(path:)`` and
    ///   ``SealedFileError/changed(path:)``.
    init(_ path: String, _ expected: FileIdentity? = nil) throws(SealedFileError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard opened >= 0 else {
            throw errno == ELOOP ? .symbolicLink(path: path) : .last("open", path)
        }
        do throws(SealedFileError) {
            let found = try FileMetadata(of: opened, path: path)
            guard found.isRegular else { throw .notRegular(path: path) }
            guard expected == nil || expected == found.identity else { throw .changed(path: path) }
            (self.path, descriptor, metadata) = (path, opened, found)
        } catch {
            close(opened)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Whether it begins as protected files do.
    var isProtected: Bool {
        get throws(SealedFileError) {
            do throws(SealedFileError) {
                _ = try SealedFileInfo(OpenFile(path, sharing: descriptor))
                return true
            } catch {
                switch error {
                case .notProtected: return false
                // Protected by a newer version of this program.
                case .unsupportedVersion: return true
                default: throw error
                }
            }
        }
    }

    /// - Throws: ``SealedFileError/changed(path:)`` if it is no longer what ``metadata`` says.
    func checkUnchanged() throws(SealedFileError) {
        guard metadata.isUnchanged(of: descriptor) else { throw .changed(path: path) }
    }

    /// Checks also that this is the file that is about to be replaced: the folder could be another by now.
    ///
    /// - Throws: ``SealedFileError/changed(path:)``.
    func checkUnchanged(in folder: NewFile.Folder) throws(SealedFileError) {
        try checkUnchanged()
        guard folder.identity(of: path) == metadata.identity else { throw .changed(path: path) }
    }

    /// Hands out the data in order: `data` gets the bytes of a piece, `hole` the length of a stretch of zeros that takes
    /// no room.
    func readPieces(
        into buffer: UnsafeMutableRawBufferPointer, data: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void,
        hole: (UInt64) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        // SEEK_DATA and SEEK_HOLE (unistd.h), which Glibc's module hides.
        let (seekData, seekHole): (Int32, Int32) = (3, 4)
        let size = off_t(metadata.size)
        var offset: off_t = 0
        while offset < size {
            var start = lseek(descriptor, offset, seekData)
            // ENXIO: nothing but a hole is left. Otherwise, a file system that knows of no holes.
            if start < 0 { start = errno == ENXIO ? size : offset }
            start = min(start, size)
            if start > offset { try hole(UInt64(start - offset)) }
            var end = lseek(descriptor, start, seekHole)
            if end < 0 { end = size }
            offset = start
            while offset < min(end, size) {
                let room = min(buffer.count, Int(min(end, size) - offset))
                let count = pread(descriptor, buffer.baseAddress, room, offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw count < 0 ? .last("read", path) : .changed(path: path) }
                try data(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
                offset += off_t(count)
            }
        }
    }
}
