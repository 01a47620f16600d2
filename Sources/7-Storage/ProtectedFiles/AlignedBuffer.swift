import Bytes
import CLibrary

/// Memory that is reused many times and wiped at its end.
final class AlignedBuffer {
    private let memory: UnsafeMutableRawBufferPointer
    /// Whether the memory was used. Unused memory takes no room, and wiping it would give it some.
    private var isUsed = false

    var bytes: UnsafeMutableRawBufferPointer {
        isUsed = true
        return memory
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
        if isUsed { SecretBytes.wipe(memory) }
    }

    deinit {
        wipe()
        free(memory.baseAddress)
    }
}
