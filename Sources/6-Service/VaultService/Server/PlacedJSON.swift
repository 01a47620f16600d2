import Bytes
import FoundationEssentials

/// JSON (RFC 8259) as far as an entitlements file has it, with the line and the column of each value.
///
/// It is stricter than `JSONDecoder`: a member that an object has twice is an error, because programs differ in which
/// of the two they take.
struct PlacedJSON {
    indirect enum Contents {
        case null
        case bool(Bool)
        case number(Int)
        case string(String)
        case array([PlacedJSON])
        case object([String: PlacedJSON])
    }

    let contents: Contents
    /// Where it begins.
    let place: TextPlace

    init(parsing data: Data) throws(EntitlementsError) {
        var reader = PlacedJSONReader(data)
        self = try reader.document()
    }

    fileprivate init(_ contents: Contents, _ place: TextPlace) {
        self.contents = contents
        self.place = place
    }
}

/// A place in a text, counted from 1; columns are bytes.
package struct TextPlace: Sendable, Equatable {
    package let line: Int
    package let column: Int
}

private struct PlacedJSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var lineStart = 0

    /// More than an entitlements file needs, and less than the stack has.
    private static let deepest = 16

    init(_ data: Data) { bytes = Array(data) }

    private var place: TextPlace { TextPlace(line: line, column: position - lineStart + 1) }

    private func mistake(_ text: String) -> EntitlementsError { EntitlementsError(text, at: place) }

    mutating func document() throws(EntitlementsError) -> PlacedJSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw mistake("something follows the end of the JSON") }
        return value
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
            if bytes[position - 1] == 0x0A { (line, lineStart) = (line + 1, position) }
        }
    }

    /// Returns the next byte that is no space; nil at the end.
    private mutating func peek() -> UInt8? {
        skipSpace()
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard let expected = byte.asciiValue, peek() == expected else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(EntitlementsError) -> PlacedJSON {
        let first = peek()
        let start = place
        guard depth < Self.deepest else { throw mistake("the JSON is too deep") }
        switch first {
        case UInt8(ascii: "{"): return PlacedJSON(.object(try members(depth)), start)
        case UInt8(ascii: "["): return PlacedJSON(.array(try elements(depth)), start)
        case UInt8(ascii: "\""): return PlacedJSON(.string(try string()), start)
        default: return PlacedJSON(try word(), start)
        }
    }

    private mutating func members(_ depth: Int) throws(EntitlementsError) -> [String: PlacedJSON] {
        position += 1
        var members: [String: PlacedJSON] = [:]
        if take("}") { return members }
        repeat {
            guard peek() == UInt8(ascii: "\"") else { throw mistake("the name of a member is missing") }
            let start = place
            let name = try string()
            guard members[name] == nil else { throw EntitlementsError("'\(name)' is there twice", at: start) }
            guard take(":") else { throw mistake("a colon is missing") }
            members[name] = try value(depth: depth + 1)
        } while take(",")
        guard take("}") else { throw mistake("a comma or a closing brace is missing") }
        return members
    }

    private mutating func elements(_ depth: Int) throws(EntitlementsError) -> [PlacedJSON] {
        position += 1
        var elements: [PlacedJSON] = []
        if take("]") { return elements }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw mistake("a comma or a closing bracket is missing") }
        return elements
    }

    private mutating func string() throws(EntitlementsError) -> String {
        let (start, startPlace) = (position, place)
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] >= 0x20 {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw EntitlementsError("the text has no end on its line", at: startPlace)
        }
        position += 1
        // What the escapes mean is left to the decoder.
        guard let text = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<position])) else {
            throw EntitlementsError("the text has an escape that JSON does not have, or is not UTF-8", at: startPlace)
        }
        return text
    }

    private mutating func word() throws(EntitlementsError) -> PlacedJSON.Contents {
        let (start, startPlace) = (position, place)
        while position < bytes.count, !Self.ends.contains(bytes[position]), bytes[position] > 0x20 { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        switch word {
        case "": throw EntitlementsError("a value is missing", at: startPlace)
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            guard let number = Int(word), String(number) == word else {
                throw EntitlementsError(
                    "'\(word.prefix(40))' is no value; numbers are whole, and texts stand in quotation marks",
                    at: startPlace)
            }
            return .number(number)
        }
    }

    private static let ends = Array(#",:{}[]""#.utf8)
}
