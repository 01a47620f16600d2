import Broker
import TOMLKit

/// A file in TOML 1.0.
package enum TOMLFile {
    /// The most points in a line and in a file. The library goes one call deeper for each part of a key `a.b.c`, and
    /// has no limit of its own for them; keys in lists of tables, which may have a line each, add up.
    private static let (mostPoints, mostPointsInAll) = (1_000, 5_000)

    /// Reads the bytes of a file. Whatever they are, the answer is a table or a problem.
    package static func read(_ bytes: [UInt8]) -> FileReading {
        guard bytes.count <= FileReading.longest else {
            return .problem(line: 1, reason: "has more than \(FileReading.longest >> 10) KiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .problem(line: 1, reason: "is not UTF-8")
        }
        // TOML has no others, and the library takes a NUL for the end.
        var (line, points, pointsInAll) = (1, 0, 0)
        for byte in bytes {
            if byte == UInt8(ascii: "\n") { (line, points) = (line + 1, 0) }
            guard byte >= 0x20 && byte != 0x7F || [0x09, 0x0A, 0x0D].contains(byte) else {
                return .problem(line: line, reason: "has a control character")
            }
            guard byte == UInt8(ascii: ".") else { continue }
            (points, pointsInAll) = (points + 1, pointsInAll + 1)
            guard points <= mostPoints else {
                return .problem(line: line, reason: "has more than \(mostPoints) points in a line")
            }
            guard pointsInAll <= mostPointsInAll else {
                return .problem(line: line, reason: "has more than \(mostPointsInAll) points in all up to here")
            }
        }
        do {
            let table = try TOMLTable(string: text)
            return .table(members(table, 1))
        } catch let error as TOMLParseError {
            return .problem(line: error.source.begin.line, reason: error.description)
        } catch {
            return .problem(line: 1, reason: "is not TOML")
        }
    }

    private static func members(_ table: TOMLTable, _ depth: Int) -> [FileValue.Member] {
        table.keys.map { key in
            // The library ends a key at an escaped NUL, and then does not find it.
            FileValue.Member(key, table[key].map { value($0, depth) } ?? .other("a key with a NUL"))
        }
    }

    private static func value(_ value: any TOMLValueConvertible, _ depth: Int) -> FileValue {
        switch value.type {
        case .string: return value.string.map(FileValue.text) ?? .other("text")
        case .int: return value.int.map(FileValue.number) ?? .other("a number")
        case .bool: return value.bool.map(FileValue.flag) ?? .other("true or false")
        case .array:
            guard depth < FileReading.deepest, let array = value.array else { return .other("a list in others") }
            return .list((0..<array.count).map { self.value(array[$0], depth + 1) })
        case .table:
            guard depth < FileReading.deepest, let table = value.table else { return .other("a table in others") }
            return .table(members(table, depth + 1))
        case .double: return .other("a number with a point")
        case .date, .time, .dateTime: return .other("a date or a time without quotes")
        }
    }
}
