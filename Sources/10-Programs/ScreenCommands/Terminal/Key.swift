import Bytes

/// A key that a person pressed.
package enum Key: Hashable, Sendable {
    case scalar(Unicode.Scalar)
    /// A letter with the control key.
    case control(Unicode.Scalar)
    case up, down, left, right, pageUp, pageDown, home, end, enter, escape, backspace
    /// A key that means nothing here.
    case other
}

/// Makes keys of the bytes that a terminal sends (ECMA-48, and the function keys of xterm).
package struct KeyParser {
    /// The longest sequence whose bytes are kept. Of a longer one, only the end is waited for.
    private static let longest = 32

    private var pending: [UInt8] = []

    package init() {}

    /// Whether more bytes may belong to what was read. After a while without any, ``finish()`` is called: the escape
    /// key sends the byte with which the sequences of other keys begin.
    package var isWaiting: Bool { !pending.isEmpty }

    package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes {
            if pending.count < Self.longest {
                pending.append(byte)
            } else {
                pending[Self.longest - 1] = byte
            }
            if pending == [0x1B, 0x1B] {
                keys.append(.escape)
                pending = [0x1B]
            } else if let key = Self.key(pending) {
                keys.append(key)
                pending = []
            }
        }
        return keys
    }

    /// Takes what is there as complete.
    package mutating func finish() -> Key? {
        defer { pending = [] }
        return pending.isEmpty ? nil : pending == [0x1B] ? .escape : .other
    }

    /// Returns the key that the bytes are; nil if more have to come.
    private static func key(_ bytes: [UInt8]) -> Key? {
        switch bytes[0] {
        case 0x1B: sequence(bytes)
        case 0x0A, 0x0D: .enter
        case 0x08, 0x7F: .backspace
        case 0x00: .other
        case 0x01...0x1F: .control(Unicode.Scalar(bytes[0] | 0x60))
        case ..<0x80: .scalar(Unicode.Scalar(bytes[0]))
        default: character(bytes)
        }
    }

    private static func character(_ bytes: [UInt8]) -> Key? {
        let count =
            switch bytes[0] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        let isContinued = bytes.dropFirst().allSatisfy { 0x80...0xBF ~= $0 }
        if isContinued, bytes.count < count { return nil }
        guard let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first else { return .other }
        return .scalar(scalar)
    }

    private static func sequence(_ bytes: [UInt8]) -> Key? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "["), UInt8(ascii: "O"):
            guard bytes.count > 2, let last = bytes.last else { return nil }
            // The Linux console's function keys have a second bracket.
            if bytes.count == 3, last == UInt8(ascii: "[") { return nil }
            // Parameters go on.
            if 0x20...0x3F ~= last { return nil }
            return function(last, bytes)
        default:
            // A key with Alt.
            return .other
        }
    }

    private static func function(_ last: UInt8, _ bytes: [UInt8]) -> Key {
        guard bytes.count < longest, !(bytes.count > 3 && bytes[2] == UInt8(ascii: "[")) else { return .other }
        switch last {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return .right
        case UInt8(ascii: "D"): return .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "M") where bytes[1] == UInt8(ascii: "O"): return .enter
        case UInt8(ascii: "~"):
            let number = bytes.dropFirst(2).prefix { 0x30...0x39 ~= $0 }
            return switch Int(String(decoding: number, as: UTF8.self)) {
            case 1, 7: .home
            case 4, 8: .end
            case 5: .pageUp
            case 6: .pageDown
            default: .other
            }
        default: return .other
        }
    }
}
