import Bytes

/// Finding the state of the file.
extension FileCore {
    /// Reads the header again if it has changed on the disk.
    func refresh() throws(SealedFileError) {
        _ = try usableSecrets()
        let seal = try file.read(IndexEntry.byteCount, at: FileHeader.sealOffset)
        guard seal.count < IndexEntry.byteCount || IndexEntry(seal, at: 0) != sealOnDisk else { return }
        try file.locked(load())
    }

    /// Reads header and journal. The caller holds the lock, so a change in the journal was interrupted.
    func load() throws(SealedFileError) {
        let secrets = try usableSecrets()
        let block = try file.read(FileLayout.blockSize, at: 0)
        let onDisk = try FileHeader(block, path: path)
        // A file with another identifier was put in place of this one.
        guard onDisk.file == header.file else { throw .damaged(path: path, part: .header) }
        let isWhole = onDisk.verifies(secrets)
        let size = try file.size
        let record = try JournalRecord(file, size: size, id: onDisk.file, secrets)
        forget()
        sealOnDisk = onDisk.seal
        if let record, !isWhole || record.previous == onDisk.seal || record.header.seal == onDisk.seal {
            pending = record
            header = record.header
            return
        }
        guard isWhole else { throw .damaged(path: path, part: .header) }
        header = onDisk
        guard size >= FileLayout.size(header.length) else { throw .truncated(path: path) }
    }

    /// Clears everything that belongs to a header.
    private func forget() {
        index = [:]
        plainChunk = nil
        pending = nil
    }

    /// Finishes an interrupted change of a writable file and removes stray bytes after its end. The caller holds the
    /// lock and has loaded the header.
    func settle() throws(SealedFileError) {
        if let record = pending {
            try apply(record, waiting: waitsForDisk)
            pending = nil
        }
        let size = FileLayout.size(header.length)
        if try file.size != size { try file.truncate(to: size) }
    }

    /// Writes all parts of a record to their places, the header last.
    func apply(_ record: JournalRecord, waiting: Bool) throws(SealedFileError) {
        try record.bytes.withBytes { (bytes) throws(SealedFileError) in
            for part in record.parts {
                try file.write(UnsafeRawBufferPointer(rebasing: bytes[part.range]), at: part.offset)
            }
        }
        try writeHeader(record.header)
        sealOnDisk = record.header.seal
        // The record may be removed when its parts are on the disk.
        if waiting { try file.synchronize() }
    }
}
