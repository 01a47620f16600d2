import Bytes
import CLibrary

/// One file of a page index, with the part of it that was read.
final class IndexLog {
    let file: IndexFile
    private let seal: IndexSeal
    /// The end of the last valid batch, and its tag.
    private(set) var end: Int
    private var tag: [UInt8]
    private(set) var state = IndexState()
    /// The version of page n + 1 at index n; 0 for none.
    private(set) var versions: [UInt64] = []
    /// The size and links of the file when it was read. The size is -1 if the bytes after `end` were not valid.
    private var seen: (size: Int, links: nlink_t)
    /// Whether a part of the file may not be on the disk yet.
    private var needsSync = true
    /// The end of the room reserved on the disk.
    private var reservedEnd = 0

    /// How many bytes are read at a time: a whole batch, of the usual size or of the largest.
    private static let (usualRoom, largestRoom) = (1 << 16, 1 << 20)

    /// The reason why a batch does not verify.
    private enum Flaw: Error {
        /// The file ends within a batch: its writer was killed, lost power, or has not finished.
        case torn
        case damaged
    }

    /// Reads a file.
    init(_ file: IndexFile, _ key: SecretBytes, _ database: DatabaseID) throws(PageIndexError) {
        let header = try file.read(IndexSeal.headerSize, at: 0)
        guard let seal = IndexSeal(key, database, header: header) else { throw .foreign(path: file.path) }
        (self.file, self.seal) = (file, seal)
        (end, tag, seen) = (IndexSeal.headerSize, IndexSeal.firstTag, (-1, 0))
        do throws(PageIndexError) {
            try readOn()
        } catch {
            if case .damaged = error, state.sequence == 0 { throw .wrongKey(path: file.path) }
            throw error
        }
        guard state.sequence > 0 else { throw .wrongKey(path: file.path) }
    }

    /// Writes a new file durably.
    init(
        new file: IndexFile, _ key: SecretBytes, _ database: DatabaseID, _ state: IndexState, _ versions: [UInt64]
    ) throws(PageIndexError) {
        (self.file, seal) = (file, IndexSeal(key, database))
        (end, tag, seen) = (IndexSeal.headerSize, IndexSeal.firstTag, (-1, 0))
        try file.write(seal.header, at: 0)
        (self.state, self.versions) = (state, versions)
        // Makes the entries while writing them, because those of a large database do not fit into memory twice.
        for start in stride(from: 0, to: max(1, versions.count), by: IndexBatch.usualCount) {
            let stop = min(versions.count, start + IndexBatch.usualCount)
            let entries = (start..<stop).compactMap {
                versions[$0] == 0
                    ? nil : PageVersionEntry(page: UInt32(truncatingIfNeeded: $0 + 1), version: versions[$0])
            }
            let bytes = try seal.seal(
                IndexBatch(state: state, continues: stop < versions.count, entries: entries), after: &tag)
            try file.write(bytes, at: end)
            end += bytes.count
        }
        try file.synchronizeWhole()
        needsSync = false
    }

    /// The size in bytes of a file with only the valid entries.
    var smallestSize: Int {
        IndexSeal.headerSize + IndexSeal.smallestSize * (1 + versions.count / IndexBatch.usualCount)
            + IndexBatch.entrySize * versions.count
    }

    // MARK: Reading

    enum Change {
        case none
        case read
        /// Another file has the name now, or this one was cut. The index must be read from its start.
        case other
    }

    /// Whether the file has the size that it had when it was read to its end. A replaced file has become longer.
    var looksUnchanged: Bool { file.size == seen.size }

    /// Shows the connections with this file open that another file has replaced it.
    ///
    /// If this fails, they notice the replacement at the first page with an unknown seal.
    func markReplaced() { try? file.truncate(to: max(end, seen.size) + 1) }

    /// Reads appended batches.
    func refresh() throws(PageIndexError) -> Change {
        let status = try file.status
        if Int(status.st_size) == seen.size, status.st_nlink == seen.links { return .none }
        guard try file.isInPlace(status), Int(status.st_size) >= end else { return .other }
        let former = end
        try readOn()
        return end == former ? .none : .read
    }

    /// Reads on after the last known batch.
    private func readOn() throws(PageIndexError) {
        if try readTail() { return }
        // Another process may be writing now. While this process holds the lock, no process writes.
        try file.lock()
        defer { file.unlock() }
        guard try readTail() else { throw .damaged(path: file.path) }
    }

    /// - Returns: False if something is damaged in a way that an interrupted writer cannot leave.
    private func readTail() throws(PageIndexError) -> Bool {
        let status = try file.status
        let size = Int(status.st_size)
        seen = (-1, status.st_nlink)
        var (place, tag) = (end, tag)
        /// Batches that take effect only together with a later one.
        var waiting: [IndexBatch] = []
        var room = Self.usualRoom
        while place < size {
            let bytes = try file.read(min(size - place, room), at: place)
            // The file is shorter than a moment ago.
            if bytes.count < min(size - place, room) { return true }
            var offset = 0
            repeat {
                let batch: IndexBatch
                do throws(Flaw) {
                    guard let found = try next(in: bytes, from: offset, left: size - place - offset, &tag) else {
                        break
                    }
                    batch = found
                } catch {
                    return error == .torn
                }
                offset += IndexSeal.size(batch.entries.count)
                // Applies the first batches of a file at once, because no valid state precedes them. Only these can
                // be many.
                if self.state.sequence == 0 || !batch.continues {
                    for batch in waiting + [batch] { apply(batch) }
                    waiting = []
                } else {
                    waiting.append(batch)
                }
                if !batch.continues {
                    (end, self.tag, state) = (place + offset, tag, batch.state)
                    needsSync = true
                }
            } while offset < bytes.count
            place += offset
            // A batch is larger than the usual room.
            room = offset == 0 ? Self.largestRoom : Self.usualRoom
        }
        // The last batch of a group is missing: torn.
        if end == size { seen.size = size }
        return true
    }

    /// Returns the batch at `offset`; nil if more bytes must be read.
    private func next(
        in bytes: [UInt8], from offset: Int, left: Int, _ tag: inout [UInt8]
    ) throws(Flaw) -> IndexBatch? {
        let rest = bytes.count - offset
        let found = bytes.withUnsafeBytes { bytes -> Result<IndexBatch?, Flaw> in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            guard left >= 8 else { return .failure(.torn) }
            guard rest >= 8 else { return .success(nil) }
            guard let count = IndexSeal.count(bytes) else {
                // After a loss of power, the file may have its new length without its contents.
                return .failure(rest == left && bytes.allSatisfy { $0 == 0 } ? .torn : .damaged)
            }
            let size = IndexSeal.size(count)
            guard size <= left else { return .failure(.torn) }
            guard size <= rest else { return .success(nil) }
            if let batch = seal.open(UnsafeRawBufferPointer(rebasing: bytes[..<size]), after: &tag) {
                return .success(batch)
            }
            return .failure(size == left ? .torn : .damaged)
        }
        return try found.get()
    }

    private func apply(_ batch: IndexBatch) {
        let count = Int(batch.state.pageCount)
        if versions.count > count { versions.removeLast(versions.count - count) }
        var last: UInt32 = 0
        for entry in batch.entries { last = max(last, entry.page) }
        if versions.count < last {
            versions.append(contentsOf: repeatElement(0, count: Int(last) - versions.count))
        }
        // Within bounds: a batch has no page 0, and `versions` reaches to the last page of this one.
        versions.withUnsafeMutableBufferPointer { versions in
            for entry in batch.entries { versions[Int(entry.page) - 1] = entry.version }
        }
    }

    // MARK: Writing

    /// Reserves room for `count` more entries.
    func reserve(_ count: Int) throws(PageIndexError) {
        let needed = end + IndexSeal.size(count) + IndexSeal.smallestSize * (count / IndexBatch.usualCount)
        guard needed > reservedEnd else { return }
        let start = max(end, reservedEnd)
        // Reserves more than needed, so that not every page makes a call.
        let stop = needed + 65_536
        try file.reserve(stop - start, at: start)
        reservedEnd = stop
    }

    /// Appends entries that take effect together. The caller holds the lock and has read everything.
    func append(_ entries: [PageVersionEntry], _ state: IndexState, durably: Bool) throws(PageIndexError) {
        if seen.size != end {
            // The bytes that an interrupted process left.
            try file.truncate(to: end)
            reservedEnd = 0
        }
        seen.size = -1
        var (place, tag) = (end, tag)
        let batches = IndexBatch.spread(entries, state)
        do throws(PageIndexError) {
            for batch in batches {
                let bytes = try seal.seal(batch, after: &tag)
                try file.write(bytes, at: place)
                place += bytes.count
            }
            if durably { try file.synchronize() }
        } catch {
            // A caller that gets an error must not find the batch in effect later.
            try? file.truncate(to: end)
            reservedEnd = 0
            throw error
        }
        (end, self.tag, self.state) = (place, tag, state)
        seen.size = place
        needsSync = !durably
        for batch in batches { apply(batch) }
    }

    func synchronize() throws(PageIndexError) {
        guard needsSync else { return }
        try file.synchronize()
        needsSync = false
    }
}
