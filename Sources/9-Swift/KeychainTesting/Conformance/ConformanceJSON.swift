import Foundation

/// A JSON value that keeps Booleans, integers and other numbers apart.
enum ConformanceJSON: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([ConformanceJSON])
    case object([String: ConformanceJSON])

    var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    var array: [ConformanceJSON]? {
        if case .array(let array) = self { array } else { nil }
    }

    var object: [String: ConformanceJSON]? {
        if case .object(let object) = self { object } else { nil }
    }

    var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// An array of strings and nothing else.
    var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }
}

extension ConformanceJSON: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let boolean = try? container.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let real = try? container.decode(Double.self) {
            self = .real(real)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([ConformanceJSON].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: ConformanceJSON].self))
        }
    }
}

extension ConformanceJSON: CustomStringConvertible {
    /// Compact JSON with the members of objects in the order of their names.
    var description: String {
        switch self {
        case .null: "null"
        case .boolean(let boolean): "\(boolean)"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .string(let string): "\"\(string)\""
        case .array(let array): "[" + array.map(\.description).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.sorted { $0.key < $1.key }.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
        }
    }
}
