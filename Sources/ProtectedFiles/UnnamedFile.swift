import Glibc

/// A new file that has no name until it is complete, so that nothing is left of it when this process ends.
final class UnnamedFile {
    let descriptor: Int32
    private let place: FilePlace

    init(beside path: String) throws(SealedFileError) {
        place = FilePlace(path)
        // O_TMPFILE (asm-generic/fcntl.h) contains O_DIRECTORY.
        let temporary = Int32(0o20_000_000) | O_DIRECTORY
        let opened = open(place.folder, temporary | O_RDWR | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .last("create a file beside", path) }
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// Writes all of `bytes`, but leaves a hole where they are zeros.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        let pageSize = 4096
        var start = 0
        while start < bytes.count {
            var end = start
            let isHole = Self.isZero(bytes, start, pageSize)
            while end < bytes.count, Self.isZero(bytes, end, pageSize) == isHole {
                end = min(end + pageSize, bytes.count)
            }
            if !isHole {
                try writeWhole(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: offset + UInt64(start))
            }
            start = end
        }
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ size: Int) -> Bool {
        bytes[start..<min(start + size, bytes.count)].allSatisfy { $0 == 0 }
    }

    private func writeWhole(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        var written = 0
        while written < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                off_t(offset) + off_t(written))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last("write", place.path) }
            written += count
        }
    }

    func setSize(_ size: UInt64) throws(SealedFileError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("write", place.path) }
    }

    /// Puts it in the place of the file with the name, once it is on the disk.
    func replace() throws(SealedFileError) {
        guard fsync(descriptor) == 0 else { throw .last("flush", place.path) }
        let temporary = place.temporaryPath()
        // A name can be given to it only where there is none, and replaced only from another name.
        guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0 else {
            throw .last("create", place.path)
        }
        guard rename(temporary, place.path) == 0 else {
            let failure = SealedFileError.last("replace", place.path)
            unlink(temporary)
            throw failure
        }
        try place.synchronizeFolder()
    }
}
