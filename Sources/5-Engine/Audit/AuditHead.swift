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

    /// Two slots, which are written in turn, so that one of them is always complete.
    static let slotSize = 256
    static let fileSize = 2 * slotSize

    /// A larger number than any log reaches. Larger numbers in a file are invalid.
    private static let largestNumber: UInt64 = 1 << 53

    private var message: Data {
        var message = Data("head".utf8)
        message.append(bigEndian: sequence)
        message.append(bigEndian: UInt64(size))
        return message + link.bytes
    }

    func encoded(under seal: any AuditSeal) -> Data {
        let link = link.bytes.hexadecimal()
        let tag = seal.tag(of: message).hexadecimal()
        let text =
            #"{"seq":\#(sequence),"size":\#(size),"link":"\#(link)","key":"\#(key.uuidString)","tag":"\#(tag)"}"#
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
        guard slot.count == Self.slotSize, skip(#"{"seq":"#), let sequence = number(),
            skip(#","size":"#), let size = number(),
            skip(#","link":""#), let link = [UInt8](lowercaseHexadecimal: take(64)), link.count == 32,
            skip(#"","key":""#), let key = UUID(uuidString: String(decoding: take(36), as: UTF8.self)),
            skip(#"","tag":""#)
        else { return nil }
        self.init(sequence: sequence, link: AuditLink(bytes: Data(link)), size: Int(size), key: key)
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

    /// Returns whether the vault with the present key wrote both slots.
    func areAll(under seal: any AuditSeal) -> Bool {
        slots.allSatisfy { $0?.key == seal.identifier }
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
