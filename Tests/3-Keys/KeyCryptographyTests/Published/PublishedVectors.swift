import Foundation
import TestSupport
import Testing

/// A file of vectors that somebody else published, out of the package that `Scripts/install/setup.sh --tests` installs.
struct PublishedVectors {
    /// The values that hold where a vector ends: its own, and those before that go for several.
    struct Row {
        /// What stood in brackets, or the number of the key, before this vector.
        let sections: [String]
        let values: [String: String]
        let text: String

        func bytes(_ name: String) throws -> Data {
            let digits = try #require(values[name], "no \(name) in \(text)")
            // A number may lack the zero that would make its digits even.
            return try #require(
                Data(hexadecimal: (digits.count.isMultiple(of: 2) ? "" : "0") + digits.lowercased()),
                "\(name) in \(text)")
        }

        /// A number without leading zeros; a single one for zero.
        func number(_ name: String) throws -> Data {
            let bytes = try bytes(name).drop { $0 == 0 }
            return bytes.isEmpty ? Data([0]) : Data(bytes)
        }

        /// A number in `size` bytes, or in as many as it needs.
        func number(_ name: String, size: Int) throws -> Data {
            let number = try number(name)
            return Data(count: max(0, size - number.count)) + number
        }
    }

    let rows: [Row]

    /// - Parameter last: The name of the value that ends each vector.
    /// - Parameter count: How many vectors the file has, which is checked in another way too.
    init(_ path: String, last: String, count: Int) throws {
        let contents = try TestVectors.contents(of: path)
        let lines = String(decoding: contents, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }
        let isLabelled = lines.contains { $0.hasPrefix("# Modulus:") }
        rows = isLabelled ? Self.labelled(lines, last, path) : Self.assigned(lines, last, path)
        #expect(rows.count == count, "\(path)")
        let marked = lines.count { $0.hasPrefix(isLabelled ? "# \(last):" : "\(last) = ") }
        #expect(marked == count, "\(path)")
    }

    /// `name = value`, and sections in brackets.
    private static func assigned(_ lines: [Substring], _ last: String, _ path: String) -> [Row] {
        var (rows, sections, values) = ([Row](), [String](), [String: String]())
        var isSectionOver = true
        for (number, line) in lines.enumerated() where !line.hasPrefix("#") {
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                if isSectionOver { (sections, values) = ([], [:]) }
                isSectionOver = false
                sections.append(line[line.index(after: line.startIndex)..<end].trimmingCharacters(in: .whitespaces))
            } else if let sign = line.range(of: " =") {
                let name = line[..<sign.lowerBound].trimmingCharacters(in: .whitespaces)
                values[name] = line[sign.upperBound...].trimmingCharacters(in: .whitespaces)
                guard name == last else { continue }
                rows.append(Row(sections: sections, values: values, text: "\(path), line \(number + 1)"))
                isSectionOver = true
            }
        }
        return rows
    }

    /// `# Name:` and lines of digits.
    private static func labelled(_ lines: [Substring], _ last: String, _ path: String) -> [Row] {
        var (rows, values, name) = ([Row](), [String: String](), "")
        for (number, line) in lines.enumerated() {
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) {
                if name == last {
                    rows.append(Row(sections: [], values: values, text: "\(path), before line \(number + 1)"))
                }
                let text = line.dropFirst().trimmingCharacters(in: .whitespaces)
                name = text.hasSuffix(":") ? String(text.dropLast()) : ""
                if !name.isEmpty { values[name] = "" }
            } else if !name.isEmpty {
                values[name, default: ""] += line.filter { !$0.isWhitespace }
            }
        }
        if name == last { rows.append(Row(sections: [], values: values, text: "\(path), at the end")) }
        return rows
    }
}

/// How many vectors ended in which way.
struct Tally: Equatable, CustomStringConvertible {
    var counts: [String: Int] = [:]

    init(_ counts: [String: Int] = [:]) { self.counts = counts }

    var total: Int { counts.values.reduce(0, +) }

    mutating func add(_ outcome: String) { counts[outcome, default: 0] += 1 }

    var description: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
