import Access
import Bytes
import FoundationEssentials
import PrivateFiles

/// Records that are written together.
struct AuditPage {
    private(set) var bytes = Data()
    private var sequence: UInt64
    private var link: AuditLink
    private let start: Int
    private let seal: any AuditSeal

    /// - Parameter time: The time of a record about the state of the log.
    init(_ end: AuditEnd, under seal: any AuditSeal, time: Date) {
        sequence = end.sequence
        link = end.link
        start = end.size
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
        record.missed = missed > 0 ? missed : nil
        add(record)
    }

    private mutating func add(_ record: AuditRecord) {
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
        let head = AuditHead(sequence: sequence, link: link, size: start + bytes.count, key: seal.identifier)
        let slot = head.encoded(under: seal)
        var contents = stored
        var heads = slots.slots
        if stored.count != AuditHead.fileSize || !slots.areAll(under: seal) {
            contents = slot + slot
            heads = [head, head]
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
