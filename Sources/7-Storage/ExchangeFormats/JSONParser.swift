import Bytes
import FoundationEssentials

/// Reads JSON (RFC 8259) in one pass. Its time grows with the length of the text alone: Foundation's decoder, which has
/// to try what each value is, takes minutes for a megabyte of numbers in deep arrays.
struct JSONParser {
    /// The text is no JSON.
    private struct Failure: Error {}

    /// The most arrays and objects inside each other, as in Foundation's decoder.
    private static let deepest = 512

    private var bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: Data) { self.bytes = [UInt8](bytes) }

    /// Returns nil if the bytes are not exactly one value.
    static func value(of bytes: Data) -> JSONValue? {
        var parser = JSONParser(bytes)
        defer { parser.bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return try? parser.wholeValue()
    }

    private mutating func wholeValue() throws(Failure) -> JSONValue {
        let value = try value()
        skipSpace()
        guard position == bytes.count else { throw Failure() }
        return value
    }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Skips one character if it comes next.
    private mutating func takes(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func require(_ word: StaticString) throws(Failure) {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, word.description.utf8.elementsEqual(bytes[position..<end]) else { throw Failure() }
        position = end
    }

    // MARK: Values

    private mutating func value() throws(Failure) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return .object(try inside(Self.members))
        case UInt8(ascii: "["): return .array(try inside(Self.elements))
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "t"):
            try require("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try require("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try require("null")
            return .null
        default: return try number()
        }
    }

    private mutating func inside<Contents>(
        _ body: (inout JSONParser) throws(Failure) -> Contents
    ) throws(Failure) -> Contents {
        guard depth < Self.deepest else { throw Failure() }
        depth += 1
        position += 1
        let contents = try body(&self)
        depth -= 1
        return contents
    }

    private static func elements(_ parser: inout JSONParser) throws(Failure) -> [JSONValue] {
        var elements: [JSONValue] = []
        parser.skipSpace()
        if parser.takes("]") { return elements }
        while true {
            elements.append(try parser.value())
            parser.skipSpace()
            if parser.takes("]") { return elements }
            guard parser.takes(",") else { throw Failure() }
        }
    }

    /// The last one of several members with the same name counts.
    private static func members(_ parser: inout JSONParser) throws(Failure) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        parser.skipSpace()
        if parser.takes("}") { return members }
        while true {
            parser.skipSpace()
            guard parser.next == UInt8(ascii: "\"") else { throw Failure() }
            let name = try parser.text()
            parser.skipSpace()
            guard parser.takes(":") else { throw Failure() }
            members[name] = try parser.value()
            parser.skipSpace()
            if parser.takes("}") { return members }
            guard parser.takes(",") else { throw Failure() }
        }
    }

    // MARK: Numbers

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        _ = takes("-")
        if !takes("0") { try digits() }
        var isWhole = true
        if takes(".") {
            isWhole = false
            try digits()
        }
        if takes("e") || takes("E") {
            isWhole = false
            if !takes("+") { _ = takes("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let real = Double(text), real.isFinite else { throw Failure() }
        return Int64(exactly: real).map { .integer($0) } ?? .real(real)
    }

    private mutating func digits() throws(Failure) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw Failure() }
    }

    // MARK: Texts

    private mutating func text() throws(Failure) -> String {
        position += 1
        var start = position
        var unescaped: [UInt8]?
        while let byte = next, byte >= 0x20 {
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            let part = bytes[start..<position]
            position += 1
            if byte == UInt8(ascii: "\"") {
                let whole = unescaped.map { $0 + part } ?? Array(part)
                guard let text = String(validating: whole, as: UTF8.self) else { throw Failure() }
                return text
            }
            var parts = unescaped.take() ?? []
            parts += part
            parts += try escaped().utf8
            unescaped = parts
            start = position
        }
        throw Failure()
    }

    /// Returns the character of an escape, whose backslash was read.
    private mutating func escaped() throws(Failure) -> Character {
        guard let byte = next else { throw Failure() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try unit()
            guard (0xD800...0xDBFF).contains(first) else { return try Self.character(first) }
            try require("\\u")
            let second = try unit()
            guard (0xDC00...0xDFFF).contains(second) else { throw Failure() }
            return try Self.character(0x1_0000 + (first & 0x3FF) << 10 + second & 0x3FF)
        default: throw Failure()
        }
    }

    /// - Throws: For half of a pair of UTF-16.
    private static func character(_ code: UInt32) throws(Failure) -> Character {
        guard let scalar = Unicode.Scalar(code) else { throw Failure() }
        return Character(scalar)
    }

    private mutating func unit() throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw Failure() }
            unit = unit << 4 | UInt32(clamping: digit)
            position += 1
        }
        return unit
    }
}
