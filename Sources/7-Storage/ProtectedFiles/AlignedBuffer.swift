import Bytes
import CLibrary

/// Memory that is reused many times and wiped at its end.
final class AlignedBuffer {
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes that were used. The system gives memory only to those. Wiping the others would take more.
    private var used = 0

    var bytes: UnsafeMutableRawBufferPointer { first(count) }

    /// Returns the first `count` bytes.
    func first(_ count: Int) -> UnsafeMutableRawBufferPointer {
        used = max(used, count)
        return UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }

    var count: Int { memory.count }

    init(count: Int) throws(SealedFileError) {
        var base: UnsafeMutableRawPointer?
        guard posix_memalign(&base, FileLayout.blockSize, count) == 0, let base else { throw .memoryUnavailable }
        memory = UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    /// Allocates room for `pieces` bytes of a file of `size` bytes; less if the file is smaller.
    convenience init(pieces: Int, of size: UInt64) throws(SealedFileError) {
        let block = UInt64(clamping: FileLayout.blockSize)
        try self.init(count: Int(clamping: min(UInt64(clamping: pieces), max(1, (size + block - 1) / block) * block)))
    }

    func wipe() {
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: memory[..<used]))
    }

    deinit {
        wipe()
        free(memory.baseAddress)
    }
}
