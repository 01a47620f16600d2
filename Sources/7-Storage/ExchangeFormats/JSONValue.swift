import Bytes
import FoundationEssentials

/// Any JSON value (RFC 8259), for members that are kept as they came.
package enum JSONValue: Encodable, Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .real(let real): try container.encode(real)
        case .string(let string): try container.encode(string)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }

    package init?(parsing bytes: Data) {
        guard let value = JSONParser.value(of: bytes) else { return nil }
        self = value
    }

    /// Returns the value as JSON with sorted members.
    package func encoded(isPretty: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return try encoder.encode(self)
    }

    package subscript(name: String) -> JSONValue? { object?[name] }

    /// The text; nil for anything else, and for an empty one.
    package var text: String? {
        guard case .string(let text) = self, !text.isEmpty else { return nil }
        return text
    }

    package var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var isTrue: Bool { self == .bool(true) }

    /// A whole number, also if it is written as a text or with a fraction of zero.
    var number: Int64? {
        switch self {
        case .integer(let integer): integer
        case .real(let real): Int64(exactly: real)
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// A time: seconds since 1970, or milliseconds, or as ISO 8601 writes it.
    var date: Date? {
        switch self {
        case .integer, .real:
            guard let number, (0...99_999_999_999_999).contains(number) else { return nil }
            // Seconds of 11 digits are after the year 5138.
            return Date(timeIntervalSince1970: number > 99_999_999_999 ? Double(number) / 1_000 : Double(number))
        case .string(let text): return Self.date(text)
        default: return nil
        }
    }

    private static func date(_ text: String) -> Date? {
        guard text.utf8.count <= 40 else { return nil }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}
