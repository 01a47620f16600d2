import Bytes
import FoundationEssentials
import KeychainModel
import VaultInterface

extension FileCore {
    /// The bytes of data in one change. A whole change is in memory and in the journal.
    static let stepSize = 16 * FileLayout.chunkSize

    /// Takes the lock for a change, and brings the file and the known state up to date. The caller releases the lock.
    private func lockForChange() throws(SealedFileError) -> FileSecrets {
        guard isWritable else { throw .openedForReading(path: path) }
        try file.lock(exclusively: true)
        do throws(SealedFileError) {
            let secrets = try usableSecrets()
            let seal = try file.read(IndexEntry.byteCount, at: FileHeader.sealOffset)
            let isKnown = seal.count == IndexEntry.byteCount && IndexEntry(seal, at: 0) == sealOnDisk && pending == nil
            let size = try file.size
            if !isKnown || size != FileLayout.size(header.length) {
                try load()
                try settle()
            }
            return secrets
        } catch {
            file.unlock()
            throw error
        }
    }

    /// Writes data. Fills the space between the end of the data and `offset` with zeros.
    ///
    /// Makes one change for every ``stepSize`` bytes of the file. Each change is in the file as a whole or not at all.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        let secrets = try lockForChange()
        defer { file.unlock() }
        try writeSteps(bytes, at: offset, secrets, journaled: true)
    }

    /// Writes data at the end of the file and returns their offset.
    func append(_ bytes: UnsafeRawBufferPointer) throws(SealedFileError) -> UInt64 {
        let secrets = try lockForChange()
        defer { file.unlock() }
        let end = header.length
        try writeSteps(bytes, at: end, secrets, journaled: true)
        return end
    }

    func writeSteps(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ secrets: FileSecrets, journaled: Bool
    ) throws(SealedFileError) {
        guard offset <= FileLayout.maximumLength, UInt64(clamping: bytes.count) <= FileLayout.maximumLength - offset
        else {
            throw .tooLarge(path: path, limit: FileLayout.maximumLength)
        }
        var done = 0
        while done < bytes.count {
            let place = offset + UInt64(clamping: done)
            let count = min(bytes.count - done, Self.stepSize - Int(clamping: place % UInt64(clamping: Self.stepSize)))
            let step = UnsafeRawBufferPointer(rebasing: bytes[done..<(done + count)])
            let length = max(header.length, place + UInt64(clamping: count))
            try change(to: length, secrets, journaled: journaled) { (change) throws(SealedFileError) in
                try seal(step, at: place, in: &change, secrets)
            }
            done += count
        }
    }

    func truncate(to length: UInt64) throws(SealedFileError) {
        guard length <= FileLayout.maximumLength else {
            throw .tooLarge(path: path, limit: FileLayout.maximumLength)
        }
        let secrets = try lockForChange()
        defer { file.unlock() }
        guard length != header.length else { return }
        try changeLength(to: length, secrets, journaled: true)
    }

    func changeLength(
        to length: UInt64, _ secrets: FileSecrets, journaled: Bool
    ) throws(SealedFileError) {
        try change(to: length, secrets, journaled: journaled) { (change) throws(SealedFileError) in
            // The last chunk of the shorter file has another length in the longer one.
            let shorter = min(length, header.length)
            if shorter > 0 {
                try resealChunk((shorter - 1) / UInt64(clamping: FileLayout.chunkSize), in: &change, secrets)
            }
        }
    }

    func changeClass(to fileClass: FileProtectionClass, keys: any FileKeySource) throws(SealedFileError) {
        let secrets = try lockForChange()
        defer { file.unlock() }
        guard try fileClass != header.fileClass(path) else { return }
        _ = try rewrapKey(for: fileClass, keys, secrets)
    }

    /// Wraps the key anew in the file's class.
    ///
    /// - Returns: Whether the wrapped key is another one now.
    func rewrapKey(_ keys: any FileKeySource) throws(SealedFileError) -> Bool {
        let secrets = try lockForChange()
        defer { file.unlock() }
        return try rewrapKey(for: header.fileClass(path), keys, secrets)
    }

    private func rewrapKey(
        for fileClass: FileProtectionClass, _ keys: any FileKeySource, _ secrets: FileSecrets
    ) throws(SealedFileError) -> Bool {
        let former = try header.fileClass(path)
        let wrapped: Data
        do throws(VaultError) {
            wrapped = try keys.rewrapFileKey(
                from: former, to: fileClass, file: Data(header.file), wrapped: header.wrapped)
        } catch {
            throw .refused(error)
        }
        guard fileClass != former || wrapped != header.wrapped else { return false }
        // The data do not change, so the time of their last change stays.
        let times = try file.times
        try change(to: header.length, secrets, journaled: true) { (change) throws(SealedFileError) in
            change.header.kind = .vault(fileClass)
            change.header.wrapped = wrapped
        }
        try file.setTimes(times)
        return true
    }

    /// Seals the chunks that `bytes` reach into.
    func seal(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, in change: inout FileChange, _ secrets: FileSecrets
    ) throws(SealedFileError) {
        let size = UInt64(clamping: FileLayout.chunkSize)
        let (first, last) = (offset / size, (offset + UInt64(clamping: bytes.count) - 1) / size)
        for chunk in first...last {
            let count = FileLayout.byteCount(ofChunk: chunk, length: change.header.length)
            let start = chunk * size
            // The part of the chunk that is written, and its offset in `bytes`.
            let from = Int(clamping: max(start, offset) - start)
            let source = Int(clamping: max(start, offset) - offset)
            let written = min(count - from, bytes.count - source)
            let part = UnsafeRawBufferPointer(rebasing: bytes[source..<(source + written)])
            if written == count {
                if plainChunk == chunk { plainChunk = nil }
                try seal(part, chunk: chunk, in: &change, secrets)
            } else {
                try keepForChange(chunk, count)
                UnsafeMutableRawBufferPointer(rebasing: plain.first(from + written)[from...]).copyMemory(from: part)
                try seal(UnsafeRawBufferPointer(plain.first(count)), chunk: chunk, in: &change, secrets)
                change.plainChunk = chunk
            }
        }
        // The former last chunk is longer now, even if nothing was written into it.
        let former = FileLayout.chunkCount(header.length)
        if former > 0, former - 1 < first { try resealChunk(former - 1, in: &change, secrets) }
    }

    /// Seals a chunk again if the change gives it another length.
    private func resealChunk(
        _ chunk: UInt64, in change: inout FileChange, _ secrets: FileSecrets
    ) throws(SealedFileError) {
        let count = FileLayout.byteCount(ofChunk: chunk, length: change.header.length)
        guard count != FileLayout.byteCount(ofChunk: chunk, length: header.length),
            try !entry(ofChunk: chunk).isHole
        else { return }
        try keepForChange(chunk, count)
        try seal(UnsafeRawBufferPointer(plain.first(count)), chunk: chunk, in: &change, secrets)
        change.plainChunk = chunk
    }

    /// Opens a chunk into ``plain`` before it is changed, and adds zeros up to its new length.
    private func keepForChange(_ chunk: UInt64, _ count: Int) throws(SealedFileError) {
        let former = FileLayout.byteCount(ofChunk: chunk, length: header.length)
        if former > 0 { try keep(chunk) }
        plainChunk = nil
        guard former < count else { return }
        UnsafeMutableRawBufferPointer(rebasing: plain.first(count)[former...])
            .initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Makes a change. Whatever happens, it is in the file as a whole or not at all.
    private func change(
        to length: UInt64, _ secrets: FileSecrets, journaled: Bool,
        _ body: (inout FileChange) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        let (change, record) = try prepare(to: length, secrets, journaled: journaled, body)
        try carryOut(change, record)
    }

    func checkSeals(_ header: FileHeader) throws(SealedFileError) {
        guard header.seals < FileHeader.sealLimit, header.generation < .max else { throw .keyExhausted(path: path) }
    }

    /// Does everything up to the point from which the change counts.
    ///
    /// - Returns: The change and its record in the journal; no record for a change without a journal.
    func prepare(
        to length: UInt64, _ secrets: FileSecrets, journaled: Bool,
        _ body: (inout FileChange) throws(SealedFileError) -> Void
    ) throws(SealedFileError) -> (change: FileChange, record: JournalRecord?) {
        try checkSeals(header)
        var change = FileChange(header, length: length, journaled: journaled)
        do throws(SealedFileError) {
            try body(&change)
            try resizeIndex(in: &change)
            try sealIndex(in: &change, secrets)
            // A file that no other process has open gets its header at its end.
            guard journaled else { return (change, nil) }
            try change.header.seal(secrets)
            return (change, try note(change, secrets))
        } catch {
            // Nothing refers to the written bytes.
            plainChunk = nil
            if journaled { try? file.truncate(to: FileLayout.size(header.length)) }
            throw error
        }
    }

    /// Writes the journal. The change counts when this returns.
    private func note(_ change: FileChange, _ secrets: FileSecrets) throws(SealedFileError) -> JournalRecord {
        let block = UInt64(clamping: FileLayout.blockSize)
        let end = max(FileLayout.size(header.length), FileLayout.size(change.header.length))
        let start = (end + block - 1) / block * block
        let record = try JournalRecord(change.header, after: header.seal, change.replaced, start: start, secrets)
        try file.write(record.bytes, at: start)
        if waitsForDisk { try file.synchronize() }
        return record
    }

    private func carryOut(_ change: FileChange, _ record: JournalRecord?) throws(SealedFileError) {
        let isSameLength = header.length == change.header.length
        plainChunk = change.plainChunk ?? (isSameLength ? plainChunk : nil)
        guard let record else { return try adopt(change) }
        takeOver(change)
        // Reads take the parts from the journal until all of them are in their places.
        pending = record
        try apply(record, waiting: waitsForDisk)
        pending = nil
        try file.truncate(to: FileLayout.size(header.length))
    }

    /// Makes the change the known state.
    func takeOver(_ change: FileChange) {
        if change.chunks < FileLayout.chunkCount(header.length) { index = [:] }
        for (position, block) in change.blocks { remember(block, at: position) }
        header = change.header
    }
}
