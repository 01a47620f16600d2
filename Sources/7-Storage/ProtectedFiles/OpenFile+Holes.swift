import Bytes
import CLibrary

extension OpenFile {
    private static let pageSize = 4096

    /// Writes all of `bytes`. Leaves holes for whole pages of zeros; nothing may have been written there before.
    func writeWithHoles(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        var start = 0
        while start < bytes.count {
            var end = start
            let isHole = Self.isZero(bytes, start)
            while end < bytes.count, Self.isZero(bytes, end) == isHole { end = min(end + Self.pageSize, bytes.count) }
            if !isHole {
                try write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: offset + UInt64(clamping: start))
            }
            start = end
        }
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + pageSize, bytes.count)]).isZero
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are zeros.
    var isZero: Bool {
        guard first == 0, let baseAddress else { return isEmpty }
        // Each byte equals the one before it, and the first one is zero.
        return memcmp(baseAddress, baseAddress + 1, count - 1) == 0
    }
}
