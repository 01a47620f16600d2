/// Reading without copying.
extension FileCore {
    /// Hands out the data from `offset` to the end of the chunk that it is in, where the cipher put them.
    ///
    /// - Returns: How many bytes that were: 0 at the end of the data.
    func readChunk(at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) throws(SealedFileError) -> Int {
        guard let (chunk, part) = try held(at: offset) else { return 0 }
        if plainChunk == chunk {
            body(UnsafeRawBufferPointer(rebasing: plain.bytes[part]))
        } else {
            opened?.withBytes(part, body)
        }
        return part.count
    }

    /// Sees to it that the chunk is in ``plain`` or ``opened``. The file is not locked any more when this returns.
    private func held(at offset: UInt64) throws(SealedFileError) -> (chunk: UInt64, part: Range<Int>)? {
        do throws(SealedFileError) {
            try refresh()
            return try hold(at: offset)
        } catch {
            guard error.mayPass else { throw error }
        }
        return try file.locked(exclusively: false) { () throws(SealedFileError) in
            try load()
            return try hold(at: offset)
        }
    }

    private func hold(at offset: UInt64) throws(SealedFileError) -> (chunk: UInt64, part: Range<Int>)? {
        guard offset < header.length else { return nil }
        let chunk = offset / UInt64(FileLayout.chunkSize)
        let count = FileLayout.byteCount(ofChunk: chunk, length: header.length)
        if plainChunk != chunk, opened?.number != chunk {
            opened = nil
            if let data = try openedData(chunk, count) {
                opened = OpenedChunk(number: chunk, data: data)
            } else {
                try keep(chunk)
            }
        }
        return (chunk, Int(offset % UInt64(FileLayout.chunkSize))..<count)
    }
}
