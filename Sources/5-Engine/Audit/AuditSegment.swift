import FoundationEssentials
import PrivateFiles

/// The records of a log since its anchor.
enum AuditSegment {
    /// Whether the anchored record is in its place, a vault wrote each record after it, and the head continues them.
    ///
    /// Reads the files from the one with the anchored record on, and decodes no record.
    static func isWhole(
        _ writer: AuditWriter, since anchor: AuditAnchor, limits: AuditLimits
    ) throws(FileError) -> Bool {
        guard let end = anchor.ends[writer.files.part] else { return false }
        var chain = end.chain(anchor.identifier)
        let snapshot = try AuditSnapshot(of: writer.files, nil, limits: limits)
        guard let files = try files(of: snapshot, from: end.sequence) else { return false }
        var last: (sequence: UInt64, link: AuditLink)?
        for (index, file) in files.enumerated() {
            let start = index == 0 ? try offset(of: end.sequence, in: file) : 0
            for line in AuditEnd.split(try file.file.read(file.size - start, at: start)).whole {
                guard let line = AuditLine(line), let sequence = line.sequence else { return false }
                if let last {
                    guard sequence == last.sequence + 1, line.link == last.link.next(line.record) else { return false }
                }
                last = (sequence, line.link)
                if sequence == end.sequence, line.link != end.link { return false }
                guard sequence > end.sequence else { continue }
                guard chain.advance(to: sequence), chain.tag(of: line.link) == line.tag else { return false }
                chain.advance()
            }
        }
        guard let head = writer.end.tagging.chain, head.anchor == anchor.identifier else { return false }
        // Also the link: the next anchor is to hold these records, and not others that the head tells of.
        guard (last?.sequence ?? 0) == writer.end.sequence, (last?.link ?? .origin) == writer.end.link,
            writer.end.sequence >= end.sequence
        else { return false }
        return chain.number == head.number && chain.key == head.key
    }

    /// Returns where to begin to read a file: at a record with this number or one not long before it.
    private static func offset(of number: UInt64, in file: AuditSnapshot.File) throws(FileError) -> Int {
        var (low, high) = (0, file.size)
        while high - low > 8 * AuditLine.longest {
            let middle = low + (high - low) / 2
            let bytes = try file.file.read(2 * AuditLine.longest, at: middle)
            guard let newline = bytes.firstIndex(of: 0x0A) else { return low }
            let line = bytes[bytes.index(after: newline)...].prefix { $0 != 0x0A }
            guard let found = AuditLine(Data(line))?.sequence else { return low }
            if found <= number {
                low = middle + bytes.distance(from: bytes.startIndex, to: newline) + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Returns the files from the one with record `number` on; nil if records after it are missing.
    private static func files(
        of snapshot: AuditSnapshot, from number: UInt64
    ) throws(FileError) -> [AuditSnapshot.File]? {
        var found: [AuditSnapshot.File] = []
        for file in snapshot.files.reversed() {
            found.insert(file, at: 0)
            let start = try file.file.read(AuditLine.longest, at: 0)
            let line = start.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).first
            let first = line.flatMap { AuditLine(Data($0))?.sequence }
            if let first, first <= max(number, 1) { return found }
        }
        // Older files may have been removed to make room, as long as the log is full.
        return number == 0 && found.allSatisfy { $0.size == 0 } || snapshot.isFull ? found : nil
    }
}
