import Bytes

/// The bytes that a change writes over parts of a file. They are written after the end of the file before any part is
/// overwritten.
///
/// The record ends at the end of the file, so that it can be found without the header.
struct JournalRecord {
    private enum Trailer {
        static let magic = Array("SKPJRNL\0".utf8)
        static let start = NumberField<UInt64>(at: 8)
        static let count = NumberField<UInt32>(at: 16)
        static let file = 20
        static let previous = 36
        static let seal = 64
        static let size = 92
    }

    private static let rowSize = 12
    /// Larger than sixteen chunks with their index blocks.
    private static let sizeLimit: UInt64 = 2 << 20

    let bytes: [UInt8]
    /// The header after the change.
    let header: FileHeader
    /// The places in the file of the parts in ``bytes``, without the header.
    let parts: [(offset: UInt64, range: Range<Int>)]
    /// The seal of the header before the change.
    let previous: IndexEntry

    /// Makes the record of a change from the header with the seal `previous` to `header`.
    ///
    /// - Parameter start: The offset of the record in the file.
    init(
        _ header: FileHeader, after previous: IndexEntry, _ blocks: [(offset: UInt64, bytes: [UInt8])],
        start: UInt64, _ secrets: FileSecrets
    ) throws(SealedFileError) {
        let content = blocks.reduce(FileLayout.blockSize) { $0 + $1.bytes.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content + blocks.count * Self.rowSize + Trailer.size)
        bytes.append(contentsOf: header.block)
        var parts: [(offset: UInt64, range: Range<Int>)] = []
        for block in blocks {
            parts.append((block.offset, bytes.count..<(bytes.count + block.bytes.count)))
            bytes.append(contentsOf: block.bytes)
        }
        for part in parts {
            bytes.append(bigEndian: part.offset)
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: part.range.count))
        }
        bytes.append(contentsOf: Trailer.magic)
        bytes.append(bigEndian: start)
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: parts.count))
        bytes.append(contentsOf: header.file)
        var seal = [UInt8](repeating: 0, count: IndexEntry.byteCount)
        previous.store(in: &seal, at: 0)
        bytes.append(contentsOf: seal)
        try secrets.journal.entry(for: bytes).store(in: &seal, at: 0)
        bytes.append(contentsOf: seal)
        (self.bytes, self.header, self.parts, self.previous) = (bytes, header, parts, previous)
    }

    /// Reads the record at the end of a file; nil if there is none or if it is not complete.
    init?(_ file: OpenFile, size: UInt64, id: [UInt8], _ secrets: FileSecrets) throws(SealedFileError) {
        guard size > UInt64(clamping: Trailer.size + 2 * FileLayout.blockSize) else { return nil }
        let trailer = try file.read(Trailer.size, at: size - UInt64(clamping: Trailer.size))
        guard trailer.count == Trailer.size, trailer.starts(with: Trailer.magic) else { return nil }
        let start = trailer[Trailer.start]
        guard start < size, start % UInt64(clamping: FileLayout.blockSize) == 0, size - start <= Self.sizeLimit else {
            return nil
        }
        let bytes = try file.read(Int(clamping: size - start), at: start)
        let sealStart = bytes.count - IndexEntry.byteCount
        let tableEnd = bytes.count - Trailer.size
        let count = Int(trailer[Trailer.count])
        guard UInt64(clamping: bytes.count) == size - start, tableEnd - count * Self.rowSize >= FileLayout.blockSize,
            Array(trailer[Trailer.file..<Trailer.previous]) == id,
            secrets.journal.verifies(IndexEntry(bytes, at: sealStart), for: bytes[..<sealStart])
        else { return nil }

        // Everything that follows was written with the key, but maybe by another user than the reader. A record that no
        // writer makes counts as none.
        let header = try FileHeader(Array(bytes[..<FileLayout.blockSize]), path: file.path)
        guard header.verifies(secrets), start >= FileLayout.size(header.length) else { return nil }
        var parts: [(offset: UInt64, range: Range<Int>)] = []
        var place = FileLayout.blockSize
        for row in 0..<count {
            let at = tableEnd - (count - row) * Self.rowSize
            let length = Int(bytes.number(at: at + 8, as: UInt32.self))
            let offset: UInt64 = bytes.number(at: at)
            guard place + length <= tableEnd - count * Self.rowSize, offset >= UInt64(clamping: FileLayout.blockSize),
                offset <= start, UInt64(clamping: length) <= start - offset
            else { return nil }
            parts.append((offset, place..<(place + length)))
            place += length
        }
        (self.bytes, self.header, self.parts) = (bytes, header, parts)
        previous = IndexEntry(trailer, at: Trailer.previous)
    }
}
