import Access
import Bytes
import CLibrary
import FoundationEssentials
import PrivateFiles

/// Records that are written together.
struct AuditPage {
    private(set) var bytes = Data()
    private(set) var sequence: UInt64
    private(set) var link: AuditLink
    private(set) var tagging: AuditTagging
    private let start: AuditHead
    private let other: UInt64?
    private let seal: any AuditSeal

    /// - Parameters:
    ///   - other: The number of the last record of the other log; nil if it has none.
    ///   - time: The time of a record about the state of the log.
    init(_ end: AuditEnd, under seal: any AuditSeal, other: UInt64?, time: Date) {
        sequence = end.sequence
        link = end.link
        tagging = end.tagging
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
        if let repair = end.repair { add(about: repair, at: time) }
    }

    /// Adds a record about the state of the log.
    mutating func add(about repair: AuditRecord, at time: Date) {
        var repair = repair
        repair.sequence = sequence + 1
        repair.time = Self.milliseconds(time)
        add(repair)
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
        let line = AuditLine(record.encoded(), after: link, taggedBy: &tagging)
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
        var head = AuditHead(sequence: sequence, link: link, size: start.size + bytes.count, key: seal.identifier)
        if tagging.chain != nil || slots.isOfVersion3 {
            try head.moveToVersion3(tagging, file, under: seal)
            return try head.write(to: file, slots, stored, under: seal)
        }
        var contents = stored
        var heads = slots.slots
        if stored.count != AuditHead.fileSize || !slots.areAll(version: 2, under: seal) {
            // Not two equal slots: those would mean that the last append was taken from the log.
            contents = start.encoded(in: 0, under: seal) + head.encoded(in: 1, under: seal)
            heads = [start, head]
            if stored.count > contents.count { try file.truncate(to: contents.count) }
            try file.write(contents, at: 0)
        } else {
            let next = slots.next(under: seal)
            let slot = head.encoded(in: next, under: seal)
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
        return value.isNaN ? 0 : Int64(clamping: max(-9e15, min(value, 9e15)))
    }
}

extension AuditHead {
    /// Takes the form of version 3, with the key of the next record.
    mutating func moveToVersion3(
        _ tagging: AuditTagging, _ file: PrivateFile, under seal: any AuditSeal
    ) throws(FileError) {
        version = 3
        guard case .chain(var key) = tagging else { return }
        chain = key.sealed(under: seal)
        guard chain != nil else { throw .system(operation: "seal the key in", path: file.path, errno: ENOMEM) }
    }

    /// Writes both slots in version 3, one after the other, so that one of them is always complete. No slot keeps the
    /// key from before.
    ///
    /// - Returns: The new contents of the head's file.
    func write(
        to file: PrivateFile, _ slots: AuditHeadSlots, _ stored: Data, under seal: any AuditSeal
    ) throws(FileError) -> (file: Data, slots: AuditHeadSlots) {
        let encoded = encodedTwice(under: seal)
        let contents = encoded[0] + encoded[1]
        if stored.count == Self.longFileSize, slots.areAll(version: 3, under: seal) {
            // First the slot that counts less.
            let first = slots.latest(under: seal, anchor: { nil }) == slots.slots[0] ? 1 : 0
            for number in [first, 1 - first] { try file.write(encoded[number], at: number * Self.longSlotSize) }
        } else {
            if stored.count > contents.count { try file.truncate(to: contents.count) }
            try file.write(contents, at: 0)
        }
        return (contents, AuditHeadSlots([self, self]))
    }
}
