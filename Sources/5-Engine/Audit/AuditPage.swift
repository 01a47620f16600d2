import Access
import Bytes
import FoundationEssentials
import PrivateFiles

/// Records that are written together.
struct AuditPage {
    private(set) var bytes = Data()
    private var sequence: UInt64
    private var link: AuditLink
    private let start: AuditHead
    private let other: UInt64?
    private let seal: any AuditSeal

    /// - Parameters:
    ///   - other: The number of the last record of the other log; nil if it has none.
    ///   - time: The time of a record about the state of the log.
    init(_ end: AuditEnd, under seal: any AuditSeal, other: UInt64?, time: Date) {
        sequence = end.sequence
        link = end.link
        start = AuditHead(sequence: end.sequence, link: end.link, size: end.size, key: seal.identifier)
        self.other = other
        self.seal = seal
        if end.isUnfinished { bytes.append(0x0A) }
        if end.needsBeginning {
            var began = AuditRecord(
                sequence: sequence + 1, time: Self.milliseconds(time), event: AuditRecord.began)
            began.key = seal.identifier.uuidString
            began.previous = link.bytes.hexadecimal()
            add(began)
        }
        if var repair = end.repair {
            repair.sequence = sequence + 1
            repair.time = Self.milliseconds(time)
            add(repair)
        }
    }

    /// - Parameter missed: The number of earlier events that could not be written.
    mutating func add(_ moment: AuditLog.Moment, missed: Int) {
        var record = AuditRecord(
            moment.event, sequence: sequence + 1, time: Self.milliseconds(moment.time), seal: seal)
        if let repeats = moment.repeats {
            record.count = repeats.count
            record.until = Self.milliseconds(repeats.last)
        }
        record.missed = missed > 0 ? missed : nil
        add(record)
    }

    private mutating func add(_ record: AuditRecord) {
        var record = record
        record.other = other
        let line = AuditLine(record.encoded(), after: link, under: seal)
        bytes.append(line.encoded)
        link = line.link
        sequence = record.sequence
    }

    /// Writes the new end of the log to the head.
    ///
    /// - Returns: The new contents of the head's file.
    func writeHead(
        _ file: PrivateFile, _ slots: AuditHeadSlots, _ stored: Data
    ) throws(FileError) -> (file: Data, slots: AuditHeadSlots) {
        let head = AuditHead(sequence: sequence, link: link, size: start.size + bytes.count, key: seal.identifier)
        let slot = head.encoded(under: seal)
        var contents = stored
        var heads = slots.slots
        if stored.count != AuditHead.fileSize || !slots.areAll(under: seal) {
            // Not two equal slots: those would mean that the last append was taken from the log.
            contents = start.encoded(under: seal) + slot
            heads = [start, head]
            if stored.count > contents.count { try file.truncate(to: contents.count) }
            try file.write(contents, at: 0)
        } else {
            let next = slots.next(under: seal)
            let offset = next * AuditHead.slotSize
            contents.replaceSubrange(offset..<offset + AuditHead.slotSize, with: slot)
            heads[next] = head
            try file.write(slot, at: offset)
        }
        return (contents, AuditHeadSlots(heads))
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        // A clock may show any time. A time out of range becomes the nearest one in range.
        let value = (date.timeIntervalSince1970 * 1000).rounded(.down)
        return value.isNaN ? 0 : Int64(max(-9e15, min(value, 9e15)))
    }
}
