import Foundation

/// A DER value that can be changed in its middle and encoded again, with right or deliberately wrong lengths around it.
struct DERTree {
    private enum Content {
        case bytes([UInt8])
        /// Members after bytes of the value itself, such as the first byte of a bit string.
        case members([UInt8], [DERTree])
    }

    private enum Length {
        case right, tooLong, tooShort, indefinite, padded, huge
    }

    private static let deepest = 24
    private static let tags: [UInt8] = [
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0A, 0x0C, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1C, 0x1E, 0x1F, 0x23,
        0x24, 0x30, 0x31, 0x3F, 0x80, 0x81, 0x82, 0x86, 0xA0, 0xA1, 0xA3, 0xBF, 0xFF,
    ]
    private static let contents: [[UInt8]] = [
        [], [0], [0, 0], [0xFF], [0x80], [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0xFF, 0xFF, 0xFF, 0xFF], [0x00, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0, 0, 0, 0, 0],
        [0x2A, 0x80, 0x80, 0x80],
        Array("991231235959Z".utf8), Array("00000000000000Z".utf8), Array("99991231235960Z".utf8),
    ]

    private var tag: UInt8
    private var content: Content
    private var length = Length.right

    /// Nil unless `data` is exactly one value.
    init?(_ data: Data) {
        guard let (values, _) = Self.read([UInt8](data)[...], depth: 0), values.count == 1 else { return nil }
        self = values[0]
    }

    private init(tag: UInt8, _ content: Content) {
        self.tag = tag
        self.content = content
    }

    private static func read(_ bytes: ArraySlice<UInt8>, depth: Int) -> ([DERTree], Int)? {
        var (rest, values) = (bytes, [DERTree]())
        guard depth < deepest else { return nil }
        while let tag = rest.popFirst() {
            guard tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
            var count = Int(first)
            if first & 0x80 != 0 {
                guard first > 0x80, first <= 0x83, rest.count >= Int(first & 0x7F) else { return nil }
                count = rest.prefix(Int(first & 0x7F)).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(Int(first & 0x7F))
            }
            guard rest.count >= count else { return nil }
            values.append(DERTree(tag: tag, inside(rest.prefix(count), tag, depth)))
            rest = rest.dropFirst(count)
        }
        return (values, depth)
    }

    private static func inside(_ bytes: ArraySlice<UInt8>, _ tag: UInt8, _ depth: Int) -> Content {
        // Octet and bit strings often contain DER.
        let skipped = tag == 0x03 ? 1 : 0
        if tag & 0x20 != 0 || ((tag == 0x03 || tag == 0x04) && bytes.count > skipped + 1),
            let (members, _) = read(bytes.dropFirst(skipped), depth: depth + 1), !members.isEmpty
        {
            return .members(Array(bytes.prefix(skipped)), members)
        }
        return .bytes(Array(bytes))
    }

    private var count: Int {
        guard case .members(_, let members) = content else { return 1 }
        return members.reduce(1) { $0 + $1.count }
    }

    var encoded: Data { Data(bytes) }

    private var bytes: [UInt8] {
        let inner: [UInt8] =
            switch content {
            case .bytes(let bytes): bytes
            case .members(let head, let members): head + members.flatMap(\.bytes)
            }
        return [tag] + lengthBytes(inner.count) + inner + (length == .indefinite ? [0, 0] : [])
    }

    private func lengthBytes(_ count: Int) -> [UInt8] {
        func plain(_ count: Int) -> [UInt8] {
            switch count {
            case ..<0x80: [UInt8(max(count, 0))]
            case ..<0x100: [0x81, UInt8(count)]
            case ..<0x1_0000: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            default: [0x83, UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
            }
        }
        return switch length {
        case .right: plain(count)
        case .tooLong: plain(count + 1)
        case .tooShort: plain(count - 1)
        case .indefinite: [0x80]
        case .padded: [0x84, 0] + (0..<3).map { UInt8(count >> (16 - 8 * $0) & 0xFF) }
        case .huge: [0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        }
    }

    private func value(at index: Int) -> DERTree {
        var index = index
        guard index > 0, case .members(_, let members) = content else { return self }
        index -= 1
        for member in members {
            if index < member.count { return member.value(at: index) }
            index -= member.count
        }
        return self
    }

    /// Changes one randomly chosen value inside.
    mutating func change(_ random: inout SeededGenerator, other: DERTree?) {
        let donor = other ?? self
        let part = donor.value(at: random.int(below: donor.count))
        change(at: random.int(below: count), part, &random)
    }

    private mutating func change(at index: Int, _ part: DERTree, _ random: inout SeededGenerator) {
        guard index > 0, case .members(let head, var members) = content else {
            changeThis(part, &random)
            return
        }
        var place = index - 1
        for position in members.indices {
            guard place >= members[position].count else {
                if place == 0, random.int(below: 3) == 0 {
                    Self.rearrange(&members, position, part, &random)
                } else {
                    members[position].change(at: place, part, &random)
                }
                content = .members(head, members)
                return
            }
            place -= members[position].count
        }
    }

    private static func rearrange(
        _ members: inout [DERTree], _ position: Int, _ part: DERTree, _ random: inout SeededGenerator
    ) {
        switch random.int(below: 5) {
        case 0: members.remove(at: position)
        case 1: members.insert(members[position], at: position)
        case 2: members.insert(part, at: position)
        case 3: members.swapAt(position, random.int(below: members.count))
        default: members.append(contentsOf: repeatElement(members[position], count: 1 + random.int(below: 40)))
        }
    }

    private mutating func changeThis(_ part: DERTree, _ random: inout SeededGenerator) {
        switch random.int(below: 8) {
        case 0: tag = Self.tags[random.int(below: Self.tags.count)]
        case 1: length = [.tooLong, .tooShort, .indefinite, .padded, .huge][random.int(below: 5)]
        case 2: self = part
        case 3: content = .bytes(Self.contents[random.int(below: Self.contents.count)])
        case 4: self = DERTree(tag: [0x30, 0x31, 0x04, 0xA0][random.int(below: 4)], .members([], [self]))
        case 5: content = part.content
        default:
            guard case .bytes(let bytes) = content else {
                content = .members([], [])
                return
            }
            content = .bytes([UInt8](random.mutated(Data(bytes))))
        }
    }
}
