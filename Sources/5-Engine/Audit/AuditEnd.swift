import Access
import FoundationEssentials
import PrivateFiles

/// The place for the next record, and what was found there.
///
/// The head decides, not the file: bytes that someone else wrote into the log are never continued, so that they stay
/// recognisable forever.
struct AuditEnd {
    private(set) var sequence: UInt64 = 0
    private(set) var link = AuditLink.origin
    private(set) var size: Int
    /// Whether the next record must name its key and the link that it continues.
    private(set) var needsBeginning = true
    /// Whether the last line has no end, although the file has its expected size. The next record must not become a
    /// part of it.
    private(set) var isUnfinished = false
    /// What tags the next record.
    private(set) var tagging: AuditTagging
    /// The record about faults at the end of the log.
    private(set) var repair: AuditRecord?

    private enum Reason: String {
        /// Records after the present last one are missing.
        case cut
        /// There was no head to compare the log with, or one of its slots was damaged or replaced.
        case head
        /// A vault did not write the bytes at the end.
        case foreign
    }

    /// The caller holds the lock.
    ///
    /// - Parameters:
    ///   - heads: The slots of the head.
    ///   - key: The key in the head, if this process knows it already.
    init(
        _ log: PrivateFile, _ files: AuditFiles, heads: AuditHeadSlots, under seal: any AuditSeal,
        knowing key: AuditChain? = nil
    ) throws(FileError) {
        size = try log.size
        tagging = .device(seal)
        guard let head = heads.latest(under: seal, anchor: { AuditAnchor.identifier(in: files.folder) }) else {
            try findEnd(of: log, files, under: seal)
            return
        }
        sequence = head.sequence
        link = head.link
        var isOpen = true
        if let sealed = head.chain, head.key == seal.identifier {
            if let chain = key ?? AuditChain(sealed, number: head.sequence + 1, under: seal) {
                tagging = .chain(chain)
            } else {
                isOpen = false
            }
        }
        if size != head.size {
            try follow(head, log, files, under: seal)
        } else if size > 0, try log.read(1, at: size - 1) != Data([0x0A]) {
            isUnfinished = true
            note(.foreign, torn: 0)
        }
        needsBeginning = size == 0 || head.key != seal.identifier
        if !heads.areSound || !isOpen, repair == nil { note(.head, torn: 0) }
    }

    /// Continues the log in an empty file.
    mutating func moveToNewFile() {
        size = 0
        needsBeginning = true
        isUnfinished = false
    }

    /// Continues after the records of a page.
    mutating func move(to page: AuditPage) {
        size += page.bytes.count
        sequence = page.sequence
        link = page.link
        tagging = page.tagging
        needsBeginning = false
        isUnfinished = false
        repair = nil
    }

    /// Handles records that were written without the head, a log that continues in a new file, and a log that was cut.
    private mutating func follow(
        _ head: AuditHead, _ log: PrivateFile, _ files: AuditFiles, under seal: any AuditSeal
    ) throws(FileError) {
        let isShorter = size < head.size
        let wasRotated = isShorter && files.sizeOfLastFull >= head.size
        let start = isShorter ? 0 : head.size
        let (whole, torn) = Self.split(try log.read(size - start, at: start))
        try cut(torn, of: log)
        var walked = 0
        for line in whole {
            guard let line = AuditLine(line), line.link == link.next(line.record) else { break }
            var next = tagging
            guard head.key != seal.identifier || line.tag == next.tagNext(line.link) else { break }
            tagging = next
            link = line.link
            sequence += 1
            walked += 1
        }
        if isShorter, walked == 0, !wasRotated {
            note(.cut, torn: torn)
            let last = whole.last.flatMap { AuditLine($0)?.contents?.sequence }
            if let last, last < head.sequence { repair?.lost = head.sequence - last }
        } else if walked < whole.count {
            note(.foreign, torn: torn)
        } else if torn > 0 {
            note(nil, torn: torn)
        }
    }

    private mutating func findEnd(
        of log: PrivateFile, _ files: AuditFiles, under seal: any AuditSeal
    ) throws(FileError) {
        guard size > 0 || files.sizeOfLastFull > 0 else { return }
        let start = max(0, size - Self.tail)
        let (whole, torn) = Self.split(try log.read(size - start, at: start))
        try cut(torn, of: log)
        if let last = whole.last.flatMap({ AuditLine($0) }), last.tag == last.link.tag(under: seal),
            let number = last.contents?.sequence
        {
            sequence = number
            link = last.link
            needsBeginning = false
        }
        note(.head, torn: torn)
    }

    private mutating func cut(_ torn: Int, of log: PrivateFile) throws(FileError) {
        guard torn > 0 else { return }
        size -= torn
        try log.truncate(to: size)
    }

    private mutating func note(_ reason: Reason?, torn: Int) {
        var record = AuditRecord(sequence: 0, time: 0, event: AuditRecord.repaired)
        record.failure = reason?.rawValue
        record.torn = torn > 0 ? torn : nil
        repair = record
    }

    /// Returns the complete lines, and the number of bytes after them.
    static func split(_ bytes: Data) -> (whole: [Data], torn: Int) {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let torn = lines.popLast()?.count ?? 0
        return (lines, torn)
    }

    /// The number of bytes at the end of a file that always include a whole record.
    private static let tail = 4 * AuditLine.longest
}
