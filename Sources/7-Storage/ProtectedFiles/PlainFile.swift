import Bytes
import CLibrary

/// A plain file before its protection. It is read from beginning to end without its holes.
final class PlainFile {
    let path: String
    let descriptor: Int32
    let metadata: FileMetadata

    /// - Parameter expected: The file that the path must lead to; nil for any.
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

    /// Whether it begins like a protected file.
    var isProtected: Bool {
        get throws(SealedFileError) {
            do throws(SealedFileError) {
                _ = try SealedFileInfo(OpenFile(path, sharing: descriptor))
                return true
            } catch {
                switch error {
                case .notProtected: return false
                // A newer version of this program protected it.
                case .unsupportedVersion: return true
                default: throw error
                }
            }
        }
    }

    /// - Throws: ``SealedFileError/changed(path:)`` if it differs from ``metadata``.
    func checkUnchanged() throws(SealedFileError) {
        guard metadata.isUnchanged(of: descriptor) else { throw .changed(path: path) }
    }

    /// Also checks that the name in the folder still leads to this file, which is about to be replaced.
    ///
    /// - Throws: ``SealedFileError/changed(path:)``.
    func checkUnchanged(in folder: NewFile.Folder) throws(SealedFileError) {
        try checkUnchanged()
        guard folder.identity(of: path) == metadata.identity else { throw .changed(path: path) }
    }

    /// Reads the data in order. `data` gets the bytes of each piece, `hole` the length of each hole.
    func readPieces(
        into buffer: UnsafeMutableRawBufferPointer, data: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void,
        hole: (UInt64) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        // SEEK_DATA and SEEK_HOLE (unistd.h), which Glibc's module does not declare.
        let (seekData, seekHole): (Int32, Int32) = (3, 4)
        let size = off_t(clamping: metadata.size)
        var offset: off_t = 0
        while offset < size {
            var start = lseek(descriptor, offset, seekData)
            // ENXIO: only a hole is left. Any other error: the file system does not support holes.
            if start < 0 { start = errno == ENXIO ? size : offset }
            start = min(start, size)
            if start > offset { try hole(UInt64(clamping: start - offset)) }
            var end = lseek(descriptor, start, seekHole)
            if end < 0 { end = size }
            offset = start
            while offset < min(end, size) {
                let room = min(buffer.count, Int(min(end, size) - offset))
                let count = SystemCall.retryOnInterrupt { pread(descriptor, buffer.baseAddress, room, offset) }
                guard count > 0 else { throw count < 0 ? .last("read", path) : .changed(path: path) }
                try data(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
                offset += off_t(count)
            }
        }
    }
}
