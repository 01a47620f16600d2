import KeychainModel

/// Finding out which state the file is in.
extension FileCore {
    /// Reads the header anew if it is another than the one that is known.
    func refresh() throws(SealedFileError) {
        _ = try usableSecrets()
        let seal = try file.read(IndexEntry.byteCount, at: FileHeader.sealOffset)
        guard seal.count < IndexEntry.byteCount || IndexEntry(seal, at: 0) != sealOnDisk else { return }
        try file.locked(exclusively: false) { () throws(SealedFileError) in try load() }
    }

    /// Reads header and journal. The caller has the lock, so that a change that is there was interrupted.
    func load() throws(SealedFileError) {
        let secrets = try usableSecrets()
        let block = try file.read(FileLayout.blockSize, at: 0)
        let onDisk = try FileHeader(block, path: path)
        // Whoever puts another file in this one's place puts a damaged one there.
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

    /// Forgets everything that belongs to a header.
    private func forget() {
        index = [:]
        plainChunk = nil
        pending = nil
    }

    /// Brings a file that may be written to into the form it has between changes. The caller has the lock and loaded
    /// the header.
    func settle() throws(SealedFileError) {
        if let record = pending {
            try apply(record, waiting: waitsForDisk)
            pending = nil
        }
        let size = FileLayout.size(header.length)
        if try file.size != size { try file.truncate(to: size) }
    }

    /// Puts everything in a record in its place, the header last.
    func apply(_ record: JournalRecord, waiting: Bool) throws(SealedFileError) {
        try record.bytes.withBytes { (bytes) throws(SealedFileError) in
            for part in record.parts {
                try file.write(UnsafeRawBufferPointer(rebasing: bytes[part.range]), at: part.offset)
            }
        }
        try writeHeader(record.header)
        sealOnDisk = record.header.seal
        // The record may go once its parts are where they belong.
        if waiting { try file.synchronize() }
    }
}
