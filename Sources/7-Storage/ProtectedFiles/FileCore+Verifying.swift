import Bytes

/// The result of verifying a whole file.
package struct SealedFileReport: Equatable, Sendable {
    /// The number of intact chunks.
    package var validChunks: UInt64 = 0
    /// The number of chunks that were never written. They read as zeros.
    package var holes: UInt64 = 0
    package var damagedParts: UInt64 = 0
    /// The first hundred damaged parts.
    package var damage: [SealedFileError.Part] = []
    /// Bytes after the data that belong to nothing. An interrupted write leaves them, or somebody adds them.
    package var strayBytes: UInt64 = 0

    package var isSound: Bool { damagedParts == 0 }

    mutating func add(_ part: SealedFileError.Part) {
        damagedParts += 1
        if damage.count < 100 { damage.append(part) }
    }
}

extension FileCore {
    /// Opens every chunk.
    ///
    /// - Parameter progress: Called with the number of bytes verified so far. Returns whether to continue.
    func verify(_ progress: (UInt64) -> Bool) throws(SealedFileError) -> SealedFileReport {
        try file.locked(load())
        var report = SealedFileReport()
        let (size, proper) = (try file.size, FileLayout.size(header.length))
        if pending == nil, size > proper { report.strayBytes = size - proper }
        var chunk: UInt64 = 0
        while chunk < FileLayout.chunkCount(header.length) {
            if let (next, holes) = try verifyTogether(from: chunk) {
                report.holes += holes
                report.validChunks += next - chunk - holes
                chunk = next
                guard progress(min(chunk * UInt64(clamping: FileLayout.chunkSize), header.length)) else { break }
                continue
            }
            do throws(SealedFileError) {
                try verify(chunk, &report)
                chunk += 1
            } catch {
                guard case .damaged(_, let part) = error else { throw error }
                report.add(part)
                // Skips all chunks below a damaged index block, because nothing is known of them.
                var span: UInt64 = 1
                if case .index(let level, _) = part { for _ in 0..<level { span *= FileLayout.fanout } }
                chunk = (chunk / span + 1) * span
            }
            guard progress(min(chunk * UInt64(clamping: FileLayout.chunkSize), header.length)) else { break }
        }
        return report
    }

    /// Opens several chunks at the same time; nil if one of them is damaged or if there are too few.
    private func verifyTogether(
        from chunk: UInt64
    ) throws(SealedFileError) -> (next: UInt64, holes: UInt64)? {
        // Tries each group once.
        let group = UInt64(clamping: Self.stepSize / FileLayout.chunkSize)
        let whole = header.length / UInt64(clamping: FileLayout.chunkSize)
        guard chunk % group == 0, chunk < whole else { return nil }
        let next = min(chunk + group, whole)
        do throws(SealedFileError) {
            return try openTogether(chunk..<next, into: nil).map { (next, $0) }
        } catch {
            // An index block is damaged or cut off.
            return nil
        }
    }

    /// Opens one chunk. If it seems damaged, opens it again under the lock, when no other process writes.
    private func verify(_ chunk: UInt64, _ report: inout SealedFileReport) throws(SealedFileError) {
        let isHole: Bool
        do throws(SealedFileError) {
            isHole = try check(chunk)
        } catch {
            guard error.mayPass else { throw error }
            try file.lock(exclusively: false)
            defer { file.unlock() }
            try load()
            isHole = try check(chunk)
        }
        if isHole {
            report.holes += 1
        } else {
            report.validChunks += 1
        }
    }

    /// Returns whether the chunk was never written.
    private func check(_ chunk: UInt64) throws(SealedFileError) -> Bool {
        let count = FileLayout.byteCount(ofChunk: chunk, length: header.length)
        // The chunk was cut off meanwhile.
        guard count > 0 else { return true }
        plainChunk = nil
        try open(chunk, into: plain.first(count))
        return try entry(ofChunk: chunk).isHole
    }
}
