import Access
import Foundation

/// Where the log ends: what a cut end is recognised by.
struct AuditHead: Equatable, Sendable {
    /// The number of the last record; 0 before the first.
    var sequence: UInt64
    var link: AuditLink
    /// The length of `audit.log` in bytes.
    var size: Int
    /// The keybag whose key authenticates the head.
    var key: UUID

    private struct Slot: Codable {
        var seq: UInt64
        var size: Int
        var link: String
        var key: String
        var tag: String
    }

    /// Two slots, written in turn, so that one of them is whole at any moment.
    static let slotSize = 256
    static let fileSize = 2 * slotSize

    /// More than a log will ever have; what comes from a file is not counted on beyond it.
    private static let mostRecords: UInt64 = 1 << 53

    private var message: Data {
        var message = Data("head".utf8)
        withUnsafeBytes(of: sequence.bigEndian) { message.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt64(size).bigEndian) { message.append(contentsOf: $0) }
        return message + link.bytes
    }

    func encoded(under seal: any AuditSeal) -> Data {
        let link = String(decoding: link.bytes.hexadecimal, as: UTF8.self)
        let tag = String(decoding: seal.tag(of: message).hexadecimal, as: UTF8.self)
        let text =
            #"{"seq":\#(sequence),"size":\#(size),"link":"\#(link)","key":"\#(key.uuidString)","tag":"\#(tag)"}"#
        var slot = Data(text.utf8)
        slot.append(Data(repeating: 0x20, count: Self.slotSize - 1 - slot.count))
        return slot + [0x0A]
    }

    /// Nil if the slot is not as it was written. Of another key's slot only the form can be told.
    init?(_ slot: Data, under seal: any AuditSeal) {
        guard slot.count == Self.slotSize, let parsed = try? JSONDecoder().decode(Slot.self, from: slot),
            let link = Data(hexadecimal: Data(parsed.link.utf8)), link.count == 32, parsed.size >= 0,
            parsed.seq <= Self.mostRecords, let key = UUID(uuidString: parsed.key)
        else { return nil }
        self.init(sequence: parsed.seq, link: AuditLink(bytes: link), size: parsed.size, key: key)
        // The one way to write it, byte for byte.
        if key == seal.identifier, encoded(under: seal) != slot { return nil }
    }

    init(sequence: UInt64, link: AuditLink, size: Int, key: UUID) {
        self.sequence = sequence
        self.link = link
        self.size = size
        self.key = key
    }
}

/// The two slots of `audit.head`.
struct AuditHeadSlots: Sendable {
    /// In the order of the file; nil for one that is not whole.
    let slots: [AuditHead?]

    init(_ file: Data, under seal: any AuditSeal) {
        let size = AuditHead.slotSize
        slots = (0..<2).map { number in
            guard file.count == AuditHead.fileSize else { return nil }
            let start = file.startIndex + number * size
            return AuditHead(Data(file[start..<start + size]), under: seal)
        }
    }

    init(_ slots: [AuditHead?]) { self.slots = slots }

    /// Whether both slots are as the present key's vault writes them.
    func areAll(under seal: any AuditSeal) -> Bool {
        slots.allSatisfy { $0?.key == seal.identifier }
    }

    /// The later of the two; one that the present key vouches for comes before one it does not.
    func latest(under seal: any AuditSeal) -> AuditHead? {
        let whole = slots.compactMap { $0 }
        let own = whole.filter { $0.key == seal.identifier }
        return (own.isEmpty ? whole : own).max { $0.sequence < $1.sequence }
    }

    /// The slot to be overwritten next.
    func next(under seal: any AuditSeal) -> Int {
        latest(under: seal) == slots[0] ? 1 : 0
    }
}
