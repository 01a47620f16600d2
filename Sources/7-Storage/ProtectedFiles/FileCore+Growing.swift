import Bytes

/// Writing a new file, which no other process has open, from beginning to end.
///
/// Nothing of the file counts before ``finishUnshared()``. Its header is therefore written once, and an index block
/// when all of its chunks are there. After a failure, the file cannot be completed: parts of it may be missing.
extension FileCore {
    /// The largest number of index blocks in memory that are not sealed yet. Each covers 8 MiB of data.
    private static let growthLimit = 64

    /// The length of the data in bytes, with those that are not in the index yet.
    var unsharedLength: UInt64 { growth?.header.length ?? header.length }

    /// Writes at the end.
    func appendUnshared(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) {
        let secrets = try usableSecrets()
        let length = unsharedLength
        guard length <= FileLayout.maximumLength, UInt64(clamping: bytes.count) <= FileLayout.maximumLength - length
        else {
            throw .tooLarge(path: path, limit: FileLayout.maximumLength)
        }
        try growing { () throws(SealedFileError) in try append(bytes, after: length, secrets) }
    }

    private func append(
        _ bytes: UnsafeRawBufferPointer, after length: UInt64, _ secrets: FileSecrets
    ) throws(SealedFileError) {
        var rest = bytes
        if length % UInt64(clamping: FileLayout.chunkSize) == 0 {
            let whole = bytes.count / FileLayout.chunkSize * FileLayout.chunkSize
            try grow(by: UnsafeRawBufferPointer(rebasing: bytes[..<whole]), secrets)
            rest = UnsafeRawBufferPointer(rebasing: bytes[whole...])
        }
        guard !rest.isEmpty else { return }
        try settleGrowth()
        try writeSteps(rest, at: header.length, secrets, journaled: false)
    }

    /// Adds zeros at the end.
    func extendUnshared(by count: UInt64) throws(SealedFileError) {
        guard count <= FileLayout.maximumLength - unsharedLength else {
            throw .tooLarge(path: path, limit: FileLayout.maximumLength)
        }
        guard count > 0 else { return }
        try growing { () throws(SealedFileError) in
            try settleGrowth()
            try changeLength(to: header.length + count, try usableSecrets(), journaled: false)
        }
    }

    /// Runs a step, unless one has failed before.
    private func growing(_ step: () throws(SealedFileError) -> Void) throws(SealedFileError) {
        if let growthFailure { throw growthFailure }
        do throws(SealedFileError) {
            try step()
        } catch {
            growthFailure = error
            throw error
        }
    }

    /// Seals and writes whole chunks, and notes their entries.
    private func grow(by bytes: UnsafeRawBufferPointer, _ secrets: FileSecrets) throws(SealedFileError) {
        guard !bytes.isEmpty else { return }
        var change = growth ?? FileChange(header, length: header.length, journaled: false)
        growth = nil
        for start in stride(from: 0, to: bytes.count, by: FileLayout.chunkSize) {
            try checkSeals(change.header)
            let chunk = change.chunks
            change.header.length += UInt64(clamping: FileLayout.chunkSize)
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + FileLayout.chunkSize)])
            try seal(part, chunk: chunk, in: &change, secrets)
        }
        let isLarge = change.blocks.count > Self.growthLimit
        growth = change
        if isLarge { try settleGrowth() }
    }

    /// Brings the noted entries into the index.
    private func settleGrowth() throws(SealedFileError) {
        guard var change = growth else { return }
        growth = nil
        try resizeIndex(in: &change)
        try sealIndex(in: &change, try usableSecrets())
        try adopt(change)
    }

    /// Takes over a change of a file that no other process has open. Its header is written later.
    func adopt(_ change: FileChange) throws(SealedFileError) {
        takeOver(change)
        for part in change.replaced { try file.write(part.bytes, at: part.offset) }
    }

    /// Completes the file: its index, its header, and the room for zeros at its end.
    func finishUnshared() throws(SealedFileError) {
        try growing { () throws(SealedFileError) in
            try settleGrowth()
            header.seals += 1
            try header.seal(usableSecrets())
            try writeHeader(header)
            sealOnDisk = header.seal
            try file.endWritingBehind()
            let size = FileLayout.size(header.length)
            if try file.size < size { try file.truncate(to: size) }
        }
    }
}
