import Access
import FoundationEssentials
import PrivateFiles
import SecureMemory

/// A log to which nobody else appends: its head is locked until this value ends.
struct AuditWriter {
    /// What a process left in the head. It is still valid unless another process has appended.
    struct Left: Sendable {
        var file: Data
        var slots: AuditHeadSlots
        /// The key in the head; nil in a log without an anchor.
        var chain: AuditChain?
        /// The head of the other log, and what it told.
        var other: OtherHead
    }

    /// The head of the other log as it was read last. While it stays the same, it need not be decoded again.
    struct OtherHead: Sendable {
        var file = Data()
        /// The key that it was decoded with.
        var key: UUID?
        /// The number of the last record; nil if the head does not tell.
        var number: UInt64?
    }

    let files: AuditFiles
    let seal: any AuditSeal
    let headFile: PrivateFile
    private(set) var log: PrivateFile
    private(set) var stored: Data
    private(set) var slots: AuditHeadSlots
    private(set) var end: AuditEnd
    private var other: OtherHead

    /// - Parameters:
    ///   - patience: The longest wait for other processes.
    ///   - left: What this process left in the head.
    init(
        _ files: AuditFiles, patience: Duration, under seal: any AuditSeal, left: Left? = nil
    ) throws(FileError) {
        self.files = files
        self.seal = seal
        headFile = try PrivateFile(files.part.headName, in: files.folder, creating: true)
        try headFile.lock(deadline: patience)
        stored = try headFile.read(AuditHead.longFileSize + 1, at: 0)
        log = try files.openLog()
        other = left?.other ?? OtherHead()
        if let left, left.file == stored {
            slots = left.slots
            end = try AuditEnd(log, files, heads: slots, under: seal, knowing: left.chain)
        } else {
            slots = AuditHeadSlots(stored, under: seal)
            end = try AuditEnd(log, files, heads: slots, under: seal)
        }
    }

    /// Whether nothing has to be written before the next event.
    var isUpToDate: Bool { !end.needsBeginning && end.repair == nil && !slots.isBehind(under: seal) }

    /// Appends records.
    ///
    /// - Parameters:
    ///   - fileLimit: The size in bytes at which a file is full.
    ///   - time: The time of records about the state of the log.
    ///   - fill: Adds the records.
    /// - Returns: What is in the head now; nil if the head could not be written. Then the records are there, and the
    ///   next writer continues after them.
    mutating func append(
        fileLimit: Int, at time: Date, _ fill: (inout AuditPage) -> Void
    ) throws(FileError) -> Left? {
        if end.size >= fileLimit {
            try files.rotate()
            log = try files.openLog()
            end.moveToNewFile()
        }
        readOtherHead()
        var page = AuditPage(end, under: seal, other: other.number, time: time)
        defer { if page.tagging.chain != nil { wipeRecentlyFreed(.derivation) } }
        fill(&page)
        do {
            try log.write(page.bytes, at: end.size)
        } catch {
            // Otherwise a part of a record would look like the trace of a crash.
            try? log.truncate(to: end.size)
            throw error
        }
        guard let written = try? page.writeHead(headFile, slots, stored) else { return nil }
        (stored, slots) = written
        end.move(to: page)
        return Left(file: stored, slots: slots, chain: page.tagging.chain, other: other)
    }

    /// The present end of the log, as version 3 of the head tells it.
    var head: AuditHead {
        get throws(FileError) {
            try head(tagging: end.tagging)
        }
    }

    /// The present end of the log, with the key of a chain.
    func head(tagging: AuditTagging) throws(FileError) -> AuditHead {
        var head = AuditHead(sequence: end.sequence, link: end.link, size: end.size, key: seal.identifier)
        try head.moveToVersion3(tagging, headFile, under: seal)
        return head
    }

    /// Writes a slot of the head alone, in version 3.
    mutating func write(_ head: AuditHead, in slot: Int) throws(FileError) {
        let encoded = head.encoded(in: slot, under: seal)
        var heads = slots.slots
        if stored.count != AuditHead.longFileSize || !slots.areAll(version: 3, under: seal) {
            // The other slot tells the present end.
            let present = try self.head
            let contents = (0..<2).map { $0 == slot ? encoded : present.encoded(in: $0, under: seal) }
            if stored.count > AuditHead.longFileSize { try headFile.truncate(to: AuditHead.longFileSize) }
            stored = contents[0] + contents[1]
            heads = (0..<2).map { $0 == slot ? head : present }
            try headFile.write(stored, at: 0)
        } else {
            let offset = slot * AuditHead.longSlotSize
            stored.replaceSubrange(offset..<offset + AuditHead.longSlotSize, with: encoded)
            heads[slot] = head
            try headFile.write(encoded, at: offset)
        }
        slots = AuditHeadSlots(heads)
    }

    /// Reads the head of the other log. Needs no lock: a head is written after its records, and a half-written one is
    /// not valid.
    private mutating func readOtherHead() {
        let (folder, name) = (files.folder, files.part.other.headName)
        guard folder.contains(name),
            let file = try? PrivateFile(name, in: folder, creating: false).read(AuditHead.longFileSize, at: 0)
        else {
            other = OtherHead()
            return
        }
        if other.file == file, other.key == seal.identifier { return }
        other = OtherHead(file: file, key: seal.identifier)
        let latest = AuditHeadSlots(file, under: seal).latest(
            under: seal, anchor: { AuditAnchor.identifier(in: folder) })
        if let latest, latest.key == seal.identifier, latest.sequence > 0 { other.number = latest.sequence }
    }
}
