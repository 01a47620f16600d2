import Bytes

/// A change in preparation: its new index blocks, and the parts that must go through the journal.
struct FileChange {
    var header: FileHeader
    /// The changed index blocks, without the table in the header.
    var blocks: [IndexPosition: [UInt8]] = [:]
    /// The bytes that replace parts in use.
    var replaced: [(offset: UInt64, bytes: [UInt8])] = []
    /// The chunk in the buffer of ``FileCore/plain`` after the change.
    var plainChunk: UInt64?

    init(_ header: FileHeader, length: UInt64, journaled: Bool) {
        self.header = header
        self.header.length = length
        self.header.generation += 1
        // One seal for the header and one for the journal.
        if journaled { self.header.seals += 2 }
    }

    var chunks: UInt64 { FileLayout.chunkCount(header.length) }
}

extension [UInt8] {
    fileprivate var isZero: Bool { allSatisfy { $0 == 0 } }
}

/// The index during a change.
extension FileCore {
    private func exists(_ position: IndexPosition) -> Bool {
        let chunks = FileLayout.chunkCount(header.length)
        return position.level <= FileLayout.topLevel(chunks: chunks)
            && position.number < FileLayout.blockCount(level: position.level, chunks: chunks)
    }

    /// Returns a block as the change has it so far.
    private func block(_ position: IndexPosition, in change: FileChange) throws(SealedFileError) -> [UInt8] {
        if let block = change.blocks[position] { return block }
        if exists(position) { return try indexBlock(position) }
        return [UInt8](repeating: 0, count: FileLayout.blockSize)
    }

    func setEntry(
        _ entry: IndexEntry, ofChunk chunk: UInt64, in change: inout FileChange
    ) throws(SealedFileError) {
        let slot = Int(clamping: chunk % FileLayout.fanout)
        guard chunk >= FileLayout.fanout else {
            change.header[slot] = entry
            return
        }
        try setEntry(entry, slot, of: IndexPosition(level: 1, number: chunk / FileLayout.fanout), in: &change)
    }

    private func setEntry(
        _ entry: IndexEntry, _ slot: Int, of position: IndexPosition, in change: inout FileChange
    ) throws(SealedFileError) {
        var block = try block(position, in: change)
        change.blocks[position] = nil
        entry.store(in: &block, at: slot * IndexEntry.byteCount)
        change.blocks[position] = block
    }

    /// Fits the index to the new number of chunks: adds a topmost block above the old one, or clears the entries after
    /// the end.
    func resizeIndex(in change: inout FileChange) throws(SealedFileError) {
        let old = FileLayout.chunkCount(header.length)
        let (oldTop, newTop) = (FileLayout.topLevel(chunks: old), FileLayout.topLevel(chunks: change.chunks))
        if newTop > oldTop, oldTop > 1 {
            try setEntry(header.top, 0, of: IndexPosition(level: oldTop + 1, number: 0), in: &change)
        }
        guard change.chunks < old else { return }
        for level in 1...newTop {
            // The last block of this level, and the number of its entries that stay in use.
            let below =
                level == 1 ? max(change.chunks, 1) : FileLayout.blockCount(level: level - 1, chunks: change.chunks)
            let position = IndexPosition(level: level, number: (below - 1) / FileLayout.fanout)
            let used = change.chunks == 0 ? 0 : Int(clamping: (below - 1) % FileLayout.fanout) + 1
            if position == IndexPosition(level: 1, number: 0) {
                for slot in used..<Int(clamping: FileLayout.fanout) { change.header[slot] = .hole }
            } else {
                var block = try block(position, in: change)
                for place in (used * IndexEntry.byteCount)..<block.count { block[place] = 0 }
                change.blocks[position] = block
            }
        }
    }

    /// Seals every changed block and stores its entry in the block above, up to the header.
    func sealIndex(in change: inout FileChange, _ secrets: FileSecrets) throws(SealedFileError) {
        let top = FileLayout.topLevel(chunks: change.chunks)
        if top == 1 {
            change.header.top = .hole
            change.blocks = [:]
        }
        var level = 1
        while level <= top {
            for (position, block) in change.blocks where position.level == level {
                let entry = block.isZero ? IndexEntry.hole : try secrets.entry(for: block, at: position)
                if !entry.isHole {
                    change.header.seals += 1
                    let isInUse = exists(position) ? !(try self.entry(of: position).isHole) : false
                    try put(block, at: FileLayout.offset(of: position), replacing: isInUse, in: &change)
                }
                if level == top {
                    change.header.top = entry
                } else {
                    try setEntry(entry, position.slot, of: position.parent, in: &change)
                }
            }
            level += 1
        }
    }

    /// Writes bytes to an unused place, or notes them for the journal if they replace a part in use.
    private func put(
        _ bytes: [UInt8], at offset: UInt64, replacing isInUse: Bool, in change: inout FileChange
    ) throws(SealedFileError) {
        if isInUse {
            change.replaced.append((offset, bytes))
        } else {
            try file.write(bytes, at: offset)
        }
    }

    /// Seals a chunk, and writes or notes it.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, chunk: UInt64, in change: inout FileChange, _ secrets: FileSecrets
    ) throws(SealedFileError) {
        let offset = FileLayout.offset(ofChunk: chunk)
        let isInUse =
            chunk < FileLayout.chunkCount(header.length) ? !(try self.entry(ofChunk: chunk).isHole) : false
        if !isInUse, let behind = file.behind {
            let room = try behind.room(for: plaintext.count)
            let entry = try secrets.chunks.seal(plaintext, chunk: chunk, into: room)
            change.header.seals += 1
            behind.commit(room.count, at: offset)
            return try setEntry(entry, ofChunk: chunk, in: &change)
        }
        let ciphertext = sealed.first(plaintext.count)
        let entry = try secrets.chunks.seal(plaintext, chunk: chunk, into: ciphertext)
        let bytes = UnsafeRawBufferPointer(ciphertext)
        change.header.seals += 1
        if isInUse {
            change.replaced.append((offset, [UInt8](bytes)))
            // Also writes the bytes after the former end now, so that the disk has room for them before the change
            // counts.
            let former = FileLayout.byteCount(ofChunk: chunk, length: header.length)
            if former < bytes.count {
                try file.write(
                    UnsafeRawBufferPointer(rebasing: bytes[former...]), at: offset + UInt64(clamping: former))
            }
        } else {
            try file.write(bytes, at: offset)
        }
        try setEntry(entry, ofChunk: chunk, in: &change)
    }
}
