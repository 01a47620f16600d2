import Bytes

/// The content of a page index except the versions of pages.
struct IndexState: Equatable {
    /// The number of the last batch, which starts at 1.
    var sequence: UInt64 = 0
    var pageCount: UInt32 = 0
    var walFrames: UInt32 = 0
    var walSalts: UInt64 = 0
    var previousWALSalts: UInt64 = 0
}

/// The version of one page.
struct PageVersionEntry: Equatable {
    var page: UInt32
    var version: UInt64
}

/// Entries that take effect together, before they are sealed: state 32 bytes, flags 4, entries of 12 each.
///
/// Entries that do not fit into one batch are spread over several with the same state. All of these but the last have
/// the flag for 'continues'.
struct IndexBatch: Equatable {
    static let fixedSize = 36
    static let entrySize = 12
    /// The most entries of a batch that is written: it is below 64 KiB, which the allocator has at hand.
    static let usualCount = 4_096
    /// The most entries of a batch that is read: it is below 1 MiB.
    static let maximumCount = 65_536
    private static let flagOfContinuing: UInt32 = 1

    var state: IndexState
    var continues = false
    var entries: [PageVersionEntry]

    init(state: IndexState, continues: Bool = false, entries: [PageVersionEntry]) {
        (self.state, self.continues, self.entries) = (state, continues, entries)
    }

    /// Spreads all entries over as many batches as they need; at least one.
    static func spread(
        _ entries: [PageVersionEntry], _ state: IndexState, by size: Int = usualCount
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
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.fixedSize + Self.entrySize * entries.count)
        bytes.append(bigEndian: state.sequence)
        bytes.append(bigEndian: state.pageCount)
        bytes.append(bigEndian: state.walFrames)
        bytes.append(bigEndian: state.walSalts)
        bytes.append(bigEndian: state.previousWALSalts)
        bytes.append(bigEndian: continues ? Self.flagOfContinuing : 0)
        for entry in entries {
            bytes.append(bigEndian: entry.page)
            bytes.append(bigEndian: entry.version)
        }
        return bytes
    }

    /// Decodes a batch; nil if the bytes are not one.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        let count = (bytes.count - Self.fixedSize) / Self.entrySize
        guard bytes.count >= Self.fixedSize, bytes.count == Self.fixedSize + Self.entrySize * count else { return nil }
        state = IndexState(
            sequence: bytes.bigEndian(at: 0), pageCount: bytes.bigEndian(at: 8), walFrames: bytes.bigEndian(at: 12),
            walSalts: bytes.bigEndian(at: 16), previousWALSalts: bytes.bigEndian(at: 24))
        let flags: UInt32 = bytes.bigEndian(at: 32)
        guard flags & ~Self.flagOfContinuing == 0 else { return nil }
        continues = flags & Self.flagOfContinuing != 0
        // One pass and no closures: opening a database reads an entry for each of its pages.
        let pageCount = state.pageCount
        var isValid = true
        entries = [PageVersionEntry](unsafeUninitializedCapacity: count) { entries, initialized in
            var place = Self.fixedSize
            for index in 0..<count {
                let entry = PageVersionEntry(page: bytes.bigEndian(at: place), version: bytes.bigEndian(at: place + 4))
                isValid = isValid && entry.page != 0 && entry.page <= pageCount && entry.version != 0
                entries.initializeElement(at: index, to: entry)
                place += Self.entrySize
            }
            initialized = count
        }
        guard isValid else { return nil }
    }
}
