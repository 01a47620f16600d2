import Bytes
import CLibrary

extension FileCore {
    /// Reads data until the buffer is full or the data end. Returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealedFileError) -> Int {
        do throws(SealedFileError) {
            try refresh()
            return try readData(into: buffer, at: offset)
        } catch {
            guard error.mayPass else { throw error }
        }
        // Another process may have been writing. While this process holds the lock, no process writes.
        try file.lock(exclusively: false)
        defer { file.unlock() }
        try load()
        return try readData(into: buffer, at: offset)
    }

    /// Does the same as ``read(into:at:)``, but with the known state of the file.
    func readData(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealedFileError) -> Int {
        guard offset < header.length, let base = buffer.baseAddress else { return 0 }
        let count = Int(clamping: min(UInt64(clamping: buffer.count), header.length - offset))
        var done = 0
        while done < count {
            let place = offset + UInt64(clamping: done)
            let chunk = place / UInt64(clamping: FileLayout.chunkSize)
            let start = Int(clamping: place % UInt64(clamping: FileLayout.chunkSize))
            let size = FileLayout.byteCount(ofChunk: chunk, length: header.length)
            let wanted = min(size - start, count - done)
            let whole = start == 0 ? (count - done) / FileLayout.chunkSize : 0
            let together = UnsafeMutableRawBufferPointer(start: base + done, count: whole * FileLayout.chunkSize)
            if try openTogether(chunk..<(chunk + UInt64(clamping: whole)), into: together) != nil {
                done += together.count
                continue
            }
            let target = UnsafeMutableRawBufferPointer(start: base + done, count: wanted)
            if wanted == size, plainChunk != chunk {
                try open(chunk, into: target)
            } else {
                try copy(start..<(start + wanted), of: chunk, to: target)
            }
            done += wanted
        }
        return count
    }

    /// Copies a part of a chunk. The chunk stays open for the next read.
    private func copy(
        _ part: Range<Int>, of chunk: UInt64, to target: UnsafeMutableRawBufferPointer
    ) throws(SealedFileError) {
        try keep(chunk)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain.first(part.upperBound)[part]))
    }

    /// Opens a chunk into ``plain``, unless it is there already.
    func keep(_ chunk: UInt64) throws(SealedFileError) {
        guard plainChunk != chunk else { return }
        plainChunk = nil
        let size = FileLayout.byteCount(ofChunk: chunk, length: header.length)
        try open(chunk, into: plain.first(size))
        plainChunk = chunk
    }

    /// Opens a whole chunk into a buffer of its size. The buffer must not be used if this throws.
    func open(_ chunk: UInt64, into target: UnsafeMutableRawBufferPointer) throws(SealedFileError) {
        let secrets = try usableSecrets()
        let entry = try entry(ofChunk: chunk)
        guard !entry.isHole else {
            target.initializeMemory(as: UInt8.self, repeating: 0)
            return
        }
        try readPart(into: target, at: FileLayout.offset(ofChunk: chunk))
        guard secrets.chunks.open(target, chunk: chunk, entry: entry) else {
            throw .damaged(path: path, part: .chunk(chunk))
        }
    }

    func entry(ofChunk chunk: UInt64) throws(SealedFileError) -> IndexEntry {
        let slot = Int(clamping: chunk % FileLayout.fanout)
        let group = chunk / FileLayout.fanout
        if group == 0 { return header[slot] }
        return IndexEntry(try indexBlock(IndexPosition(level: 1, number: group)), at: slot * IndexEntry.byteCount)
    }

    /// Returns the entry of an index block in the current state of the file.
    func entry(of position: IndexPosition) throws(SealedFileError) -> IndexEntry {
        if position.level == FileLayout.topLevel(chunks: FileLayout.chunkCount(header.length)) { return header.top }
        return IndexEntry(try indexBlock(position.parent), at: position.slot * IndexEntry.byteCount)
    }

    /// Returns an index block of the file after verifying it.
    func indexBlock(_ position: IndexPosition) throws(SealedFileError) -> [UInt8] {
        if let block = index[position] { return block }
        let secrets = try usableSecrets()
        let entry = try entry(of: position)
        guard !entry.isHole else { return [UInt8](repeating: 0, count: FileLayout.blockSize) }
        var block = [UInt8](repeating: 0, count: FileLayout.blockSize)
        let offset = FileLayout.offset(of: position)
        var failure: SealedFileError?
        block.withUnsafeMutableBytes { bytes in
            do throws(SealedFileError) {
                try readPart(into: bytes, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard secrets.verifies(entry, for: block, at: position) else {
            throw .damaged(path: path, part: .index(level: position.level, number: position.number))
        }
        remember(block, at: position)
        return block
    }

    func remember(_ block: [UInt8], at position: IndexPosition) {
        if index.count >= Self.indexLimit { index = [:] }
        index[position] = block
    }

    /// Reads a chunk or an index block. Takes it from the journal if that has a newer one.
    private func readPart(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        if let pending, let part = pending.parts.first(where: { $0.offset == offset }) {
            guard part.range.count == buffer.count else { throw .damaged(path: path, part: .header) }
            buffer.copyBytes(from: pending.bytes[part.range])
            return
        }
        guard try file.read(into: buffer, at: offset) == buffer.count else { throw .truncated(path: path) }
    }
}
