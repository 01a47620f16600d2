import Glibc

extension OpenFile {
    private static let pageSize = 4096

    /// Writes all of `bytes`, but leaves holes where whole pages of them are zeros and nothing was written before.
    func writeWithHoles(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        var start = 0
        while start < bytes.count {
            var end = start
            let isHole = Self.isZero(bytes, start)
            while end < bytes.count, Self.isZero(bytes, end) == isHole { end = min(end + Self.pageSize, bytes.count) }
            if !isHole { try write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: offset + UInt64(start)) }
            start = end
        }
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        guard let base = bytes.baseAddress, bytes[start] == 0 else { return false }
        // Each byte is the one before it.
        let count = min(pageSize, bytes.count - start)
        return memcmp(base + start, base + start + 1, count - 1) == 0
    }
}
