import Glibc
import KeychainModel

/// Memory that is used again and again, and wiped in the end.
final class AlignedBuffer {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) throws(SealedFileError) {
        var base: UnsafeMutableRawPointer?
        guard posix_memalign(&base, FileLayout.blockSize, count) == 0, let base else { throw .memoryUnavailable }
        bytes = UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    deinit {
        SecretBytes.wipe(bytes)
        free(bytes.baseAddress)
    }
}
