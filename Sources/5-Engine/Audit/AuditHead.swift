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

    /// The key of the next record, in a log that was anchored; only in version 3.
    var chain: AuditChain.Sealed?

    /// The version of the encoding. Writers of version 1 may leave two equal slots, those of version 2 never do. In
    /// version 3, both slots tell the same: the state before the last append would hold a key that is to be gone.
    var version = 2

    /// Two slots, which are written in turn, so that one of them is always complete.
    static let slotSize = 256
    static let fileSize = 2 * slotSize
    /// The same in version 3: the slots are in different sectors of the disk.
    static let longSlotSize = 512
    static let longFileSize = 2 * longSlotSize

    /// A larger number than any log reaches. Larger numbers in a file are invalid.
    private static let largestNumber: UInt64 = 1 << 53

    private func message(in slot: Int) -> Data {
        var message = Data((version == 1 ? "head" : "head\(version)").utf8)
        // One slot is no valid copy of the other.
        if version == 3 { message.append(UInt8(truncatingIfNeeded: slot)) }
        message.append(bigEndian: sequence)
        message.append(bigEndian: UInt64(clamping: size))
        message += link.bytes
        if let chain { message += chain.anchor.bytes + chain.key }
        return message
    }

    private func beginning(of slot: Int) -> String {
        switch version {
        case 1: "{"
        case 2: #"{"v":2,"#
        default: #"{"v":3,"slot":\#(slot),"#
        }
    }

    /// - Parameter slot: The number of the slot, 0 or 1.
    func encoded(in slot: Int, under seal: any AuditSeal) -> Data {
        encoded(in: slot, body, under: seal)
    }

    /// What both slots have in common.
    private var body: String {
        var text =
            #""seq":\#(sequence),"size":\#(size),"link":"\#(link.bytes.hexadecimal())","key":"\#(key.uuidString)""#
        if let chain {
            text += #","anchor":"\#(chain.anchor.bytes.hexadecimal())","next":"\#(chain.key.hexadecimal())""#
        }
        return text
    }

    private func encoded(in slot: Int, _ body: String, under seal: any AuditSeal) -> Data {
        var text = beginning(of: slot) + body
        text += #","tag":"\#(seal.tag(of: message(in: slot)).hexadecimal())"}"#
        var encoded = Data(text.utf8)
        let length = version == 3 ? Self.longSlotSize : Self.slotSize
        encoded.append(Data(repeating: 0x20, count: length - 1 - encoded.count))
        return encoded + [0x0A]
    }

    /// Both slots of version 3.
    func encodedTwice(under seal: any AuditSeal) -> [Data] {
        let body = body
        return [0, 1].map { encoded(in: $0, body, under: seal) }
    }

    /// Decodes a slot; nil if it was changed. For a slot under another key, only the form can be checked.
    init?(_ encoded: Data, in slot: Int, under seal: any AuditSeal) {
        // Parsed by hand, because starting a JSON decoder takes longer than the rest of an append.
        var rest = encoded[...]
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
        func take(bytes count: Int) -> Data? {
            [UInt8](lowercaseHexadecimal: take(2 * count)).flatMap { $0.count == count ? Data($0) : nil }
        }
        let version =
            skip(#"{"v":3,"slot":\#(slot),"#) ? 3 : skip(#"{"v":2,"#) ? 2 : skip("{") ? 1 : 0
        guard encoded.count == (version == 3 ? Self.longSlotSize : Self.slotSize), version > 0,
            skip(#""seq":"#), let sequence = number(), skip(#","size":"#), let size = number(),
            skip(#","link":""#), let link = take(bytes: 32),
            skip(#"","key":""#), let key = UUID(uuidString: String(decoding: take(36), as: UTF8.self))
        else { return nil }
        self.init(sequence: sequence, link: AuditLink(bytes: link), size: Int(clamping: size), key: key)
        self.version = version
        if version == 3, skip(#"","anchor":""#) {
            guard let anchor = take(bytes: AuditAnchor.Identifier.size), skip(#"","next":""#),
                let next = take(bytes: AuditChain.Sealed.size)
            else { return nil }
            chain = AuditChain.Sealed(anchor: AuditAnchor.Identifier(bytes: anchor), key: next)
        }
        guard skip(#"","tag":""#) else { return nil }
        // Only this exact encoding is valid.
        if key == seal.identifier, self.encoded(in: slot, under: seal) != encoded { return nil }
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
        let size =
            switch file.count {
            case AuditHead.fileSize: AuditHead.slotSize
            case AuditHead.longFileSize: AuditHead.longSlotSize
            default: 0
            }
        slots = (0..<2).map { number in
            guard size > 0 else { return nil }
            let start = file.startIndex + number * size
            return AuditHead(Data(file[start..<start + size]), in: number, under: seal)
        }
    }

    init(_ slots: [AuditHead?]) { self.slots = slots }

    /// Returns whether the vault with the present key wrote both slots in this version of the encoding.
    func areAll(version: Int, under seal: any AuditSeal) -> Bool {
        slots.allSatisfy { $0?.key == seal.identifier && $0?.version == version }
    }

    /// Whether the head is of version 3. It stays so, because the other versions have files of another size, and
    /// nothing changes size and contents at once.
    var isOfVersion3: Bool { slots.contains { $0?.version == 3 } }

    /// Whether both slots are as a writer leaves them. In the versions 1 and 2, they are not if one slot is a copy of
    /// the other: the earlier slot alone would stand for a log without its last append. In version 3, no slot is a
    /// copy of the other, and they differ only after a crash.
    var areSound: Bool {
        guard let first = slots[0], let second = slots[1] else { return false }
        guard first.key == second.key, first.version == second.version else { return false }
        return first.version != 2 || first.sequence != second.sequence
    }

    /// Whether a crash, or an earlier version, left a slot that does not tell the present state.
    func isBehind(under seal: any AuditSeal) -> Bool {
        guard isOfVersion3, let first = slots[0], let second = slots[1] else { return false }
        return first != second
    }

    /// Returns the later slot. A slot under the present key takes precedence.
    ///
    /// - Parameter anchor: The identifier of the anchor that is in its place. It decides which slot counts if a crash
    ///   left slots of two anchors.
    func latest(under seal: any AuditSeal, anchor: () -> AuditAnchor.Identifier?) -> AuditHead? {
        let whole = slots.compactMap { $0 }
        let own = whole.filter { $0.key == seal.identifier }
        var candidates = own.isEmpty ? whole : own
        if candidates.count == 2, candidates[0].chain?.anchor != candidates[1].chain?.anchor {
            let present = anchor()
            let matching = candidates.filter { $0.chain?.anchor == present }
            if !matching.isEmpty { candidates = matching }
        }
        return candidates.max { $0.sequence < $1.sequence }
    }

    /// Returns the slot to overwrite next, in the versions 1 and 2.
    func next(under seal: any AuditSeal) -> Int {
        latest(under: seal, anchor: { nil }) == slots[0] ? 1 : 0
    }
}
