import Bytes
import CLibrary

/// An escape of a text, for one character.
enum Escape: Equatable {
    case none
    /// The text ends within what may be one.
    case open
    /// A byte, and how many bytes the escape has.
    case byte(UInt8, length: Int)
    case scalar(Unicode.Scalar, length: Int)

    /// - Parameter place: That of a byte with which an escape begins.
    init(in text: UnsafeBufferPointer<UInt8>, at place: Int) {
        let reader = Reader(text: text, place: place)
        switch text[place] {
        case 0x25: self = reader.percent()
        case 0x26: self = reader.entity()
        default: self = reader.backslash()
        }
    }

    private struct Reader {
        let text: UnsafeBufferPointer<UInt8>
        let place: Int

        /// The byte `offset` after the first one; nil at the end.
        func byte(_ offset: Int) -> UInt8? { place + offset < text.count ? text[place + offset] : nil }

        enum Digits {
            case none, open
            case value(UInt32)
        }

        func digits(_ count: Int, from offset: Int, radix: UInt32) -> Digits {
            var value: UInt32 = 0
            for number in 0..<count {
                guard let byte = byte(offset + number) else { return .open }
                guard let digit = Self.digit(byte, radix) else { return .none }
                value = value * radix + digit
            }
            return .value(value)
        }

        static func digit(_ byte: UInt8, _ radix: UInt32) -> UInt32? {
            let digit: UInt32
            switch byte {
            case 0x30...0x39: digit = UInt32(byte) - 0x30
            case 0x41...0x46: digit = UInt32(byte) - 0x37
            case 0x61...0x66: digit = UInt32(byte) - 0x57
            default: return nil
            }
            return digit < radix ? digit : nil
        }

        /// `%41` (RFC 3986, 2.1), and `%u0041` of JavaScript's escape().
        func percent() -> Escape {
            guard let next = byte(1) else { return .open }
            if next | 0x20 == 0x75 { return unit(from: 2) }
            switch digits(2, from: 1, radix: 16) {
            case .none: return .none
            case .open: return .open
            case .value(let value): return .byte(UInt8(truncatingIfNeeded: value), length: 3)
            }
        }

        /// Four digits, and those of the second half of a surrogate pair.
        private func unit(from offset: Int) -> Escape {
            switch digits(4, from: offset, radix: 16) {
            case .none: return .none
            case .open: return .open
            case .value(let value):
                if let scalar = Unicode.Scalar(value) { return .scalar(scalar, length: offset + 4) }
                guard value < 0xDC00 else { return .none }
                for number in 0..<offset {
                    guard let next = byte(offset + 4 + number) else { return .open }
                    guard next == byte(number) else { return .none }
                }
                switch digits(4, from: 2 * offset + 4, radix: 16) {
                case .none: return .none
                case .open: return .open
                case .value(let low):
                    guard (0xDC00...0xDFFF).contains(low),
                        let scalar = Unicode.Scalar(0x10000 + (value - 0xD800) << 10 + (low - 0xDC00))
                    else { return .none }
                    return .scalar(scalar, length: 2 * offset + 8)
                }
            }
        }

        /// JSON (RFC 8259, 7), and what the languages of programs and shells write.
        func backslash() -> Escape {
            guard let next = byte(1) else { return .open }
            switch next {
            case UInt8(ascii: "n"): return .byte(0x0A, length: 2)
            case UInt8(ascii: "r"): return .byte(0x0D, length: 2)
            case UInt8(ascii: "t"): return .byte(0x09, length: 2)
            case UInt8(ascii: "b"): return .byte(0x08, length: 2)
            case UInt8(ascii: "f"): return .byte(0x0C, length: 2)
            case UInt8(ascii: "x") where byte(2) == UInt8(ascii: "{"): return braces()
            case UInt8(ascii: "U"):
                switch digits(8, from: 2, radix: 16) {
                case .none: return .none
                case .open: return .open
                case .value(let value): return Unicode.Scalar(value).map { .scalar($0, length: 10) } ?? .none
                }
            case UInt8(ascii: "x"):
                switch digits(2, from: 2, radix: 16) {
                case .none: return .none
                case .open: return .open
                case .value(let value): return .byte(UInt8(truncatingIfNeeded: value), length: 4)
                }
            case UInt8(ascii: "u"): return byte(2) == UInt8(ascii: "{") ? braces() : unit(from: 2)
            case UInt8(ascii: "0")...UInt8(ascii: "3"):
                switch digits(3, from: 1, radix: 8) {
                case .none: return .none
                case .open: return .open
                case .value(let value): return .byte(UInt8(truncatingIfNeeded: value), length: 4)
                }
            case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: return .byte(next, length: 2)
            default: return .none
            }
        }

        /// `\u{1F600}`.
        private func braces() -> Escape {
            number(from: 3, radix: 16, end: UInt8(ascii: "}"), isEndNeeded: true)
        }

        /// At most twelve digits, of which the first may be zeros, and what ends them.
        private func number(from offset: Int, radix: UInt32, end: UInt8, isEndNeeded: Bool) -> Escape {
            var (value, count): (UInt32, Int) = (0, 0)
            while count < 12, value <= 0x10_FFFF, let byte = byte(offset + count), let digit = Self.digit(byte, radix) {
                value = value * radix + digit
                count += 1
            }
            guard let next = byte(offset + count) else { return .open }
            guard count > 0, next == end || !isEndNeeded, let scalar = Unicode.Scalar(value) else { return .none }
            return .scalar(scalar, length: offset + count + (next == end ? 1 : 0))
        }

        /// HTML Standard, 13.2.5.72: numbers, and names of ASCII.
        func entity() -> Escape {
            guard let next = byte(1) else { return .open }
            let semicolon = UInt8(ascii: ";")
            if next == UInt8(ascii: "#") {
                guard let kind = byte(2) else { return .open }
                return kind | 0x20 == 0x78
                    ? number(from: 3, radix: 16, end: semicolon, isEndNeeded: false)
                    : number(from: 2, radix: 10, end: semicolon, isEndNeeded: false)
            }
            guard (0x61...0x7A).contains(next | 0x20) else { return .none }
            var isOpen = false
            for (name, value) in Self.names {
                var count = 0
                while count < name.count, byte(1 + count) == name[count] { count += 1 }
                if count == name.count { return isOpen ? .open : .byte(value, length: 1 + count) }
                isOpen = isOpen || place + 1 + count == text.count
            }
            return isOpen ? .open : .none
        }

        /// HTML Standard, 13.5: those of the printable characters of ASCII.
        private static let names: [(name: [UInt8], value: UInt8)] =
            [
                ("Tab", "\t"), ("NewLine", "\n"), ("excl", "!"), ("quot", "\""), ("QUOT", "\""), ("num", "#"),
                ("dollar", "$"), ("percnt", "%"), ("amp", "&"),
                ("AMP", "&"), ("apos", "'"), ("lpar", "("), ("rpar", ")"), ("ast", "*"), ("midast", "*"), ("plus", "+"),
                ("comma", ","), ("period", "."), ("sol", "/"), ("colon", ":"), ("semi", ";"), ("lt", "<"), ("LT", "<"),
                ("equals", "="), ("gt", ">"), ("GT", ">"), ("quest", "?"), ("commat", "@"), ("lsqb", "["),
                ("lbrack", "["),
                ("bsol", "\\"), ("rsqb", "]"), ("rbrack", "]"), ("Hat", "^"), ("lowbar", "_"), ("UnderBar", "_"),
                ("grave", "`"), ("DiacriticalGrave", "`"), ("lcub", "{"), ("lbrace", "{"), ("verbar", "|"),
                ("vert", "|"),
                ("VerticalLine", "|"), ("rcub", "}"), ("rbrace", "}"),
            ].map { (Array("\($0.0);".utf8), $0.1.utf8.first ?? 0) }
            // Without a semicolon, as HTML allows for these.
            + [("quot", "\""), ("amp", "&"), ("lt", "<"), ("gt", ">")].map { (Array($0.0.utf8), $0.1.utf8.first ?? 0) }
    }
}

/// Finds where escapes may begin in a text: at a `%`, a `&` or a backslash.
struct EscapeSearch {
    private let text: UnsafeBufferPointer<UInt8>
    /// For each of the three, where it is next; the end of the text if it is nowhere.
    private var places: (percent: Int, ampersand: Int, backslash: Int) = (-1, -1, -1)

    init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// The next such place; the end of the text if there is none.
    ///
    /// - Parameter start: Not before that of the last call.
    mutating func next(from start: Int) -> Int {
        if places.percent < start { places.percent = find(0x25, from: start) }
        if places.ampersand < start { places.ampersand = find(0x26, from: start) }
        if places.backslash < start { places.backslash = find(0x5C, from: start) }
        return min(places.percent, places.ampersand, places.backslash)
    }

    private func find(_ byte: UInt8, from start: Int) -> Int {
        guard start < text.count, let base = text.baseAddress,
            let found = memchr(base + start, Int32(byte), text.count - start)
        else { return text.count }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}
