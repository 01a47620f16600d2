/// Where everything in a protected file stands; follows from the length of the data alone.
///
/// A header block, then chunks. Index blocks stand right before the first chunk they are for.
enum FileLayout {
    /// Bytes of the header and of each index block.
    static let blockSize = 4096
    /// Bytes of data in each chunk but the last.
    static let chunkSize = 65_536
    /// Entries in an index block.
    static let fanout: UInt64 = 128
    /// What four levels of index blocks can hold: 16 TiB.
    static let maximumLength: UInt64 = 1 << 44
    private static let highestLevel = 4

    static func chunkCount(_ length: UInt64) -> UInt64 {
        (length + UInt64(chunkSize) - 1) / UInt64(chunkSize)
    }

    /// Bytes of data in a chunk of a file whose data have this length.
    static func byteCount(ofChunk chunk: UInt64, length: UInt64) -> Int {
        let start = chunk * UInt64(chunkSize)
        return start >= length ? 0 : Int(min(UInt64(chunkSize), length - start))
    }

    /// Index blocks of a level, the table in the header counted as block 0 of level 1.
    static func blockCount(level: Int, chunks: UInt64) -> UInt64 {
        var count = max(chunks, 1)
        for _ in 0..<level { count = (count + fanout - 1) / fanout }
        return count
    }

    /// The level of the one block that all others hang on; 1 when the header's table is enough.
    static func topLevel(chunks: UInt64) -> Int {
        var level = 1
        while level < highestLevel, blockCount(level: level, chunks: chunks) > 1 { level += 1 }
        return level
    }

    static func offset(ofChunk chunk: UInt64) -> UInt64 {
        let group = chunk / fanout
        var blocks = group
        if group > 0 {
            // Block 0 of each level above comes with the second block of the level below.
            var (first, span) = (UInt64(1), fanout)
            for _ in 2...highestLevel where group >= first {
                blocks += 1 + group / span
                (first, span) = (span, span * fanout)
            }
        }
        return UInt64(blockSize) * (1 + blocks) + chunk * UInt64(chunkSize)
    }

    /// Block 0 of level 1 is the header's table and has no place of its own.
    static func offset(of position: IndexPosition) -> UInt64 {
        // Between this block and the first chunk after it stands one block of each level below.
        offset(ofChunk: position.firstChunk) - UInt64(blockSize * position.level)
    }

    /// The size of the file.
    static func size(_ length: UInt64) -> UInt64 {
        guard length > 0 else { return UInt64(blockSize) }
        let last = chunkCount(length) - 1
        return offset(ofChunk: last) + UInt64(byteCount(ofChunk: last, length: length))
    }
}

/// An index block: blocks of level 1 hold the entries of chunks, those of the levels above the entries of blocks.
struct IndexPosition: Hashable {
    var level: Int
    var number: UInt64

    var parent: IndexPosition { IndexPosition(level: level + 1, number: number / FileLayout.fanout) }
    /// Which of its parent's entries is this block's.
    var slot: Int { Int(number % FileLayout.fanout) }

    /// The chunk that this block stands before, with the blocks of lower levels between them.
    var firstChunk: UInt64 {
        var first = number
        for _ in 1...level { first = first == 0 ? 1 : first * FileLayout.fanout }
        return first
    }
}
