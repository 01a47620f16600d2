/// What a page index says beside the versions of pages.
struct IndexState: Equatable {
    /// The number of the last batch, from 1 on.
    var sequence: UInt64 = 0
    var pageCount: UInt32 = 0
    var walFrames: UInt32 = 0
    var walSalts: UInt64 = 0
    var previousWALSalts: UInt64 = 0
}

/// The version of one page.
struct IndexEntry: Equatable {
    var page: UInt32
    var version: UInt64
}

/// Entries that came into force together, as they are before sealing: state 32, flags 4, entries of 12 each.
///
/// More than fit into one batch are spread over several with the same state, of which all but the last say that they continue.
struct IndexBatch: Equatable {
    static let fixedSize = 36
    static let entrySize = 12
    /// Keeps what is in memory at once below a MiB.
    static let maximumCount = 65_536
    private static let flagOfContinuing: UInt32 = 1

    var state: IndexState
    var continues = false
    var entries: [IndexEntry]

    init(state: IndexState, continues: Bool = false, entries: [IndexEntry]) {
        (self.state, self.continues, self.entries) = (state, continues, entries)
    }

    /// All entries, spread over as many batches as it takes; at least one.
    static func spread(
        _ entries: [IndexEntry], _ state: IndexState, by size: Int = maximumCount
    ) -> [IndexBatch] {
        var batches: [IndexBatch] = []
        for start in stride(from: 0, to: max(1, entries.count), by: size) {
            let end = min(entries.count, start + size)
            batches.append(
                IndexBatch(state: state, continues: end < entries.count, entries: Array(entries[start..<end])))
        }
        return batches
    }

    var encoded: [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(Self.fixedSize + Self.entrySize * entries.count)
        bytes.append(state.sequence)
        bytes.append(state.pageCount)
        bytes.append(state.walFrames)
        bytes.append(state.walSalts)
        bytes.append(state.previousWALSalts)
        bytes.append(continues ? Self.flagOfContinuing : 0)
        for entry in entries {
            bytes.append(entry.page)
            bytes.append(entry.version)
        }
        return bytes
    }

    /// Nil for what no batch is.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        let count = (bytes.count - Self.fixedSize) / Self.entrySize
        guard bytes.count >= Self.fixedSize, bytes.count == Self.fixedSize + Self.entrySize * count else { return nil }
        state = IndexState(
            sequence: bytes.number(at: 0), pageCount: bytes.number(at: 8), walFrames: bytes.number(at: 12),
            walSalts: bytes.number(at: 16), previousWALSalts: bytes.number(at: 24))
        let flags: UInt32 = bytes.number(at: 32)
        guard flags & ~Self.flagOfContinuing == 0 else { return nil }
        continues = flags & Self.flagOfContinuing != 0
        entries = (0..<count).map {
            let place = Self.fixedSize + Self.entrySize * $0
            return IndexEntry(page: bytes.number(at: place), version: bytes.number(at: place + 4))
        }
        guard entries.allSatisfy({ $0.page != 0 && $0.page <= state.pageCount && $0.version != 0 }) else { return nil }
    }
}

/// Numbers in the file are big-endian.
extension [UInt8] {
    mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension UnsafeRawBufferPointer {
    func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
        Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
