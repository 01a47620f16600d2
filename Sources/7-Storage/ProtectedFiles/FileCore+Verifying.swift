/// What a check of a whole file found.
package struct SealedFileReport: Equatable, Sendable {
    /// Chunks that are what was written.
    package var validChunks: UInt64 = 0
    /// Chunks that were never written, and count as zeros.
    package var holes: UInt64 = 0
    package var damagedParts: UInt64 = 0
    /// Which those are; the first hundred.
    package var damage: [SealedFileError.Part] = []
    /// Bytes behind the data that belong to nothing, as an interrupted write leaves them or somebody else adds them.
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
    /// - Parameter progress: Called with the bytes of data that were looked at; returns whether to go on.
    func verify(_ progress: (UInt64) -> Bool) throws(SealedFileError) -> SealedFileReport {
        try file.locked(exclusively: false) { () throws(SealedFileError) in try load() }
        var report = SealedFileReport()
        let (size, proper) = (try file.size, FileLayout.size(header.length))
        if pending == nil, size > proper { report.strayBytes = size - proper }
        var chunk: UInt64 = 0
        while chunk < FileLayout.chunkCount(header.length) {
            if let (next, holes) = try verifyTogether(from: chunk) {
                report.holes += holes
                report.validChunks += next - chunk - holes
                chunk = next
                guard progress(min(chunk * UInt64(FileLayout.chunkSize), header.length)) else { break }
                continue
            }
            do throws(SealedFileError) {
                try verify(chunk, &report)
                chunk += 1
            } catch {
                guard case .damaged(_, let part) = error else { throw error }
                report.add(part)
                // Nothing can be said of what hangs on a damaged index block.
                var span: UInt64 = 1
                if case .index(let level, _) = part { for _ in 0..<level { span *= FileLayout.fanout } }
                chunk = (chunk / span + 1) * span
            }
            guard progress(min(chunk * UInt64(FileLayout.chunkSize), header.length)) else { break }
        }
        return report
    }

    /// Opens chunks at the same time; nil if one of them is not what was written, or there are few.
    private func verifyTogether(
        from chunk: UInt64
    ) throws(SealedFileError) -> (next: UInt64, holes: UInt64)? {
        // Each group is tried once.
        let group = UInt64(Self.stepSize / FileLayout.chunkSize)
        let whole = header.length / UInt64(FileLayout.chunkSize)
        guard chunk % group == 0, chunk < whole else { return nil }
        let next = min(chunk + group, whole)
        do throws(SealedFileError) {
            return try openTogether(chunk..<next, into: nil).map { (next, $0) }
        } catch {
            // An index block, which is damaged or cut off.
            return nil
        }
    }

    /// Opens one chunk, and once more without others writing if it seems damaged.
    private func verify(_ chunk: UInt64, _ report: inout SealedFileReport) throws(SealedFileError) {
        let isHole: Bool
        do throws(SealedFileError) {
            isHole = try check(chunk)
        } catch {
            guard error.mayPass else { throw error }
            isHole = try file.locked(exclusively: false) { () throws(SealedFileError) in
                try load()
                return try check(chunk)
            }
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
        // Cut off meanwhile.
        guard count > 0 else { return true }
        plainChunk = nil
        try open(chunk, into: UnsafeMutableRawBufferPointer(rebasing: plain.bytes[..<count]))
        return try entry(ofChunk: chunk).isHole
    }
}
