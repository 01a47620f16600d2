import Bytes

/// Reading without copying.
extension FileCore {
    /// Runs `body` with the data from `offset` to the end of its chunk, in the buffer where they were opened.
    ///
    /// - Returns: The number of these bytes: 0 at the end of the data.
    func readChunk(at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) throws(SealedFileError) -> Int {
        guard let part = try held(at: offset) else { return 0 }
        body(UnsafeRawBufferPointer(rebasing: plain.first(part.upperBound)[part]))
        return part.count
    }

    /// Opens the chunk into ``plain``. The file is no longer locked when this returns.
    private func held(at offset: UInt64) throws(SealedFileError) -> Range<Int>? {
        do throws(SealedFileError) {
            try refresh()
            return try hold(at: offset)
        } catch {
            guard error.mayPass else { throw error }
        }
        try file.lock(exclusively: false)
        defer { file.unlock() }
        try load()
        return try hold(at: offset)
    }

    private func hold(at offset: UInt64) throws(SealedFileError) -> Range<Int>? {
        guard offset < header.length else { return nil }
        let chunk = offset / UInt64(clamping: FileLayout.chunkSize)
        let count = FileLayout.byteCount(ofChunk: chunk, length: header.length)
        try keep(chunk)
        return Int(clamping: offset % UInt64(clamping: FileLayout.chunkSize))..<count
    }
}
