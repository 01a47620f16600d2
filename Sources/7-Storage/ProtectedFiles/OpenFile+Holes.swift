import Bytes
import CLibrary

extension OpenFile {
    private static let pageSize = 4096

    /// Writes what `fill` puts into the room that it gets. Leaves holes for whole pages of zeros; nothing may have been
    /// written there before.
    ///
    /// - Parameters:
    ///   - buffer: The room if the file has no other.
    ///   - fill: Returns the number of bytes.
    func writeWithHoles(
        _ buffer: AlignedBuffer?, at offset: UInt64,
        _ fill: (UnsafeMutableRawBufferPointer) throws(SealedFileError) -> Int
    ) throws(SealedFileError) -> Int {
        if let behind {
            let room = try behind.room(for: WriteBehind.bufferSize)
            let count = try fill(room)
            for part in Self.parts(of: UnsafeRawBufferPointer(rebasing: room[..<count])) {
                if part.isHole {
                    behind.leave(part.range.count)
                } else {
                    behind.commit(part.range.count, at: offset + UInt64(clamping: part.range.lowerBound))
                }
            }
            return count
        }
        guard let room = buffer?.bytes else { return 0 }
        let count = try fill(room)
        let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
        for part in Self.parts(of: bytes) where !part.isHole {
            try write(
                UnsafeRawBufferPointer(rebasing: bytes[part.range]),
                at: offset + UInt64(clamping: part.range.lowerBound))
        }
        return count
    }

    /// Divides the bytes into runs of pages with data and of pages of zeros.
    private static func parts(of bytes: UnsafeRawBufferPointer) -> [(range: Range<Int>, isHole: Bool)] {
        var parts: [(range: Range<Int>, isHole: Bool)] = []
        var start = 0
        while start < bytes.count {
            var end = start
            let isHole = isZero(bytes, start)
            while end < bytes.count, isZero(bytes, end) == isHole { end = min(end + pageSize, bytes.count) }
            parts.append((start..<end, isHole))
            start = end
        }
        return parts
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
