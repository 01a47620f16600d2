import Access
import Bytes
import FoundationEssentials

/// The recorded end of the log, with which a cut end is detected.
struct AuditHead: Equatable, Sendable {
    /// The number of the last record; 0 before the first.
    var sequence: UInt64
    var link: AuditLink
    /// The size of `audit.log` in bytes.
    var size: Int
    /// The keybag whose key authenticates the head.
    var key: UUID

    /// The version of the encoding. Writers of version 1 may leave two equal slots, those of version 2 never do.
    var version = 2

    /// Two slots, which are written in turn, so that one of them is always complete.
    static let slotSize = 256
    static let fileSize = 2 * slotSize

    /// A larger number than any log reaches. Larger numbers in a file are invalid.
    private static let largestNumber: UInt64 = 1 << 53

    private var message: Data {
        var message = Data((version == 1 ? "head" : "head2").utf8)
        message.append(bigEndian: sequence)
        message.append(bigEndian: UInt64(size))
        return message + link.bytes
    }

    private static let beginning = #"{"v":2,"#

    func encoded(under seal: any AuditSeal) -> Data {
        let link = link.bytes.hexadecimal()
        let tag = seal.tag(of: message).hexadecimal()
        let text =
            (version == 1 ? "{" : Self.beginning)
            + #""seq":\#(sequence),"size":\#(size),"link":"\#(link)","key":"\#(key.uuidString)","tag":"\#(tag)"}"#
        var slot = Data(text.utf8)
        slot.append(Data(repeating: 0x20, count: Self.slotSize - 1 - slot.count))
        return slot + [0x0A]
    }

    /// Decodes a slot; nil if it was changed. For a slot under another key, only the form can be checked.
    init?(_ slot: Data, under seal: any AuditSeal) {
        // Parsed by hand, because starting a JSON decoder takes longer than the rest of an append.
        var rest = slot[...]
        func skip(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }
        func number() -> UInt64? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            return UInt64(String(decoding: digits, as: UTF8.self)).flatMap { $0 <= Self.largestNumber ? $0 : nil }
        }
        func take(_ count: Int) -> Data {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        let version = skip(Self.beginning) ? 2 : skip("{") ? 1 : 0
        guard slot.count == Self.slotSize, version > 0, skip(#""seq":"#), let sequence = number(),
            skip(#","size":"#), let size = number(),
            skip(#","link":""#), let link = [UInt8](lowercaseHexadecimal: take(64)), link.count == 32,
            skip(#"","key":""#), let key = UUID(uuidString: String(decoding: take(36), as: UTF8.self)),
            skip(#"","tag":""#)
        else { return nil }
        self.init(sequence: sequence, link: AuditLink(bytes: Data(link)), size: Int(size), key: key)
        self.version = version
        // Only this exact encoding is valid.
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
    /// In the order of the file; nil for an invalid slot.
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

    /// Returns whether the vault with the present key wrote both slots in this version.
    func areAll(under seal: any AuditSeal) -> Bool {
        slots.allSatisfy { $0?.key == seal.identifier && $0?.version == 2 }
    }

    /// Whether both slots are as a writer leaves them. They are not if one slot is a copy of the other, or destroyed:
    /// the earlier slot alone would stand for a log without its last append.
    var areSound: Bool {
        guard let first = slots[0], let second = slots[1] else { return false }
        if first.version == 1, second.version == 1 { return first.key == second.key }
        return first.key == second.key && first.version == second.version && first.sequence != second.sequence
    }

    /// Returns the later slot. A slot under the present key takes precedence.
    func latest(under seal: any AuditSeal) -> AuditHead? {
        let whole = slots.compactMap { $0 }
        let own = whole.filter { $0.key == seal.identifier }
        return (own.isEmpty ? whole : own).max { $0.sequence < $1.sequence }
    }

    /// Returns the slot to overwrite next.
    func next(under seal: any AuditSeal) -> Int {
        latest(under: seal) == slots[0] ? 1 : 0
    }
}
