import Bytes

/// The places of all parts of a protected file. They depend only on the length of the data.
///
/// The file is a header block and then chunks. An index block stands right before the first chunk that it covers.
enum FileLayout {
    /// The size of the header and of each index block in bytes.
    static let blockSize = 4096
    /// The bytes of data in each chunk except the last.
    static let chunkSize = 65_536
    /// The number of entries in an index block.
    static let fanout: UInt64 = 128
    /// The largest length in bytes for four levels of index blocks: 16 TiB.
    static let maximumLength: UInt64 = 1 << 44
    private static let highestLevel = 4

    static func chunkCount(_ length: UInt64) -> UInt64 {
        (length + UInt64(clamping: chunkSize) - 1) / UInt64(clamping: chunkSize)
    }

    /// Returns the bytes of data in a chunk, for a file with data of this length.
    static func byteCount(ofChunk chunk: UInt64, length: UInt64) -> Int {
        let start = chunk * UInt64(clamping: chunkSize)
        return start >= length ? 0 : Int(clamping: min(UInt64(clamping: chunkSize), length - start))
    }

    /// Returns the number of index blocks of a level. The table in the header counts as block 0 of level 1.
    static func blockCount(level: Int, chunks: UInt64) -> UInt64 {
        var count = max(chunks, 1)
        for _ in 0..<level { count = (count + fanout - 1) / fanout }
        return count
    }

    /// Returns the level of the root block; 1 if the table in the header is enough.
    static func topLevel(chunks: UInt64) -> Int {
        var level = 1
        while level < highestLevel, blockCount(level: level, chunks: chunks) > 1 { level += 1 }
        return level
    }

    static func offset(ofChunk chunk: UInt64) -> UInt64 {
        let group = chunk / fanout
        var blocks = group
        if group > 0 {
            // Block 0 of each higher level comes with the second block of the level below it.
            var (first, span) = (UInt64(1), fanout)
            for _ in 2...highestLevel where group >= first {
                blocks += 1 + group / span
                (first, span) = (span, span * fanout)
            }
        }
        return UInt64(clamping: blockSize) * (1 + blocks) + chunk * UInt64(clamping: chunkSize)
    }

    /// Returns the place of an index block. Block 0 of level 1 has none, because it is the table in the header.
    static func offset(of position: IndexPosition) -> UInt64 {
        // One block of each lower level stands between this block and the first chunk after it.
        offset(ofChunk: position.firstChunk) - UInt64(clamping: blockSize * position.level)
    }

    /// Returns the size of the file in bytes.
    static func size(_ length: UInt64) -> UInt64 {
        guard length > 0 else { return UInt64(clamping: blockSize) }
        let last = chunkCount(length) - 1
        return offset(ofChunk: last) + UInt64(clamping: byteCount(ofChunk: last, length: length))
    }
}

/// An index block. Blocks of level 1 hold the entries of chunks; blocks of higher levels hold the entries of blocks.
struct IndexPosition: Hashable {
    var level: Int
    var number: UInt64

    var parent: IndexPosition { IndexPosition(level: level + 1, number: number / FileLayout.fanout) }
    /// The index of this block's entry in its parent.
    var slot: Int { Int(clamping: number % FileLayout.fanout) }

    /// The first chunk after this block. Only blocks of lower levels stand between them.
    var firstChunk: UInt64 {
        var first = number
        for _ in 1...level { first = first == 0 ? 1 : first * FileLayout.fanout }
        return first
    }
}
