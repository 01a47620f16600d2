import Bytes
import FoundationEssentials

/// A change of a program's configuration file that can be taken back.
enum ConfigurationEdit {
    /// A file of our own.
    case file(String)
    /// A line under a header such as `[credential]`.
    ///
    /// `isOnly` says that the program takes one line for this key, so that another one is in the way.
    case line(String, under: String, isOnly: Bool)
    /// The member `credsStore` of docker's configuration, which is a JSON object.
    case dockerStore(String)

    /// What is in the way of a change.
    struct Conflict: Error {
        /// The line that is there.
        var line: String
    }

    /// What a person reads about the change.
    var lines: [String] {
        switch self {
        case .file(let text): text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        case .line(let line, let header, _): [header, line]
        case .dockerStore(let name): [Self.member(name)]
        }
    }

    /// Returns the file with the change, or nil if it has it already.
    ///
    /// - Parameter text: The file; empty if there is none.
    func added(to text: String) throws(Conflict) -> String? {
        switch self {
        case .file(let own):
            guard text != own else { return nil }
            guard text.isEmpty else { throw Conflict(line: Self.firstLine(of: text)) }
            return own
        case .line(let line, let header, let isOnly):
            return try Self.added(line, under: header, isOnly: isOnly, to: text)
        case .dockerStore(let name): return try Self.addedStore(name, to: text)
        }
    }

    /// Returns the file without the change, or nil if it does not have it. An empty file may go.
    func removed(from text: String) throws(Conflict) -> String? {
        switch self {
        case .file(let own):
            guard !text.isEmpty else { return nil }
            guard text == own else { throw Conflict(line: Self.firstLine(of: text)) }
            return ""
        case .line(let line, let header, _): return Self.removed(line, under: header, from: text)
        case .dockerStore(let name): return try Self.removedStore(name, from: text)
        }
    }

    private static func firstLine(of text: String) -> String {
        Self.lines(of: text).lazy.map(\.trimmed).first { !$0.isEmpty } ?? ""
    }

    // MARK: Lines under a header

    private static func added(
        _ line: String, under header: String, isOnly: Bool, to text: String
    ) throws(Conflict) -> String? {
        var lines = Self.lines(of: text)
        let sections = sections(header, of: lines)
        let present = sections.joined().map { lines[$0] }
        if present.contains(where: { $0.trimmed == line.trimmed }) { return nil }
        if isOnly {
            // TOML also writes a section's lines with the section's name before the key.
            let name = header.drop { $0 == "[" }.prefix { $0 != "]" }
            let other =
                present.first { key(of: $0) == key(of: line) }
                ?? lines.first { key(of: $0) == name || key(of: $0).hasPrefix("\(name).") }
            if let other { throw Conflict(line: other.trimmed) }
        }
        let end = lineEnd(of: text)
        if let first = sections.first {
            if first.lowerBound == lines.count {
                // The header is the last line, and has no end.
                return text + end + line
            }
            lines.insert(end == "\n" ? line : line + "\r", at: first.lowerBound)
            return lines.joined(separator: "\n")
        }
        let start = text.isEmpty || text.utf8.last == UInt8(ascii: "\n") ? text : text + end
        return start + (start.isEmpty ? "" : end) + header + end + line + end
    }

    private static func removed(_ line: String, under header: String, from text: String) -> String? {
        var lines = Self.lines(of: text)
        guard
            let section = sections(header, of: lines).last(where: {
                $0.contains { lines[$0].trimmed == line.trimmed }
            }),
            let index = section.first(where: { lines[$0].trimmed == line.trimmed })
        else { return nil }
        let isAlone = section.allSatisfy { $0 == index || lines[$0].trimmed.isEmpty }
        let isLast = index == lines.count - 1
        lines.remove(at: index)
        if isLast, lines[index - 1].utf8.last == UInt8(ascii: "\r") { lines[index - 1].unicodeScalars.removeLast() }
        if isAlone {
            lines.remove(at: section.lowerBound - 1)
            // The empty line that came before the header.
            let before = section.lowerBound - 2
            if before >= 0, lines[before].trimmed.isEmpty { lines.remove(at: before) }
        }
        return lines.joined(separator: "\n")
    }

    /// The ranges of the lines that follow each header of this text, up to the next one.
    private static func sections(_ header: String, of lines: [String]) -> [Range<Int>] {
        // What some editors write at the start of UTF-8 is no part of the first line.
        func isHeader(_ index: Int) -> Bool {
            lines[index].trimmed { $0 == "\u{FEFF}" && index == 0 || $0.properties.isWhitespace } == header
        }
        return lines.indices.filter(isHeader).map { start in
            let end = lines[(start + 1)...].firstIndex { $0.trimmed.hasPrefix("[") } ?? lines.endIndex
            return start + 1..<end
        }
    }

    /// The lines without their line feeds. A carriage return before one stays at the end of its line: together they are
    /// one `Character`, at which a string would not be split.
    static func lines(of text: String) -> [String] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// How the file ends its lines.
    private static func lineEnd(of text: String) -> String {
        lines(of: text).first?.utf8.last == UInt8(ascii: "\r") ? "\r\n" : "\n"
    }

    private static func key(of line: String) -> String { line.prefix { $0 != "=" }.trimmed }

    // MARK: Docker's JSON

    private static func member(_ store: String) -> String { "\"credsStore\": \"\(store)\"" }

    /// Leaves every other byte of the file as it is: docker keeps members that it does not know.
    private static func addedStore(_ name: String, to text: String) throws(Conflict) -> String? {
        let end = lineEnd(of: text)
        guard !text.allSatisfy(\.isWhitespace) else { return "{\n\t\(member(name))\n}\n" }
        if let present = try store(of: text) {
            guard present != name else { return nil }
            throw Conflict(line: member(present))
        }
        guard let brace = text.firstIndex(of: "{") else { throw Conflict(line: firstLine(of: text)) }
        let rest = text[text.index(after: brace)...]
        let isEmpty = rest.first { !$0.isWhitespace } == "}"
        return text[...brace] + "\(end)\t\(member(name))" + (isEmpty ? end : ",") + rest.drop { isEmpty && $0 != "}" }
    }

    private static func removedStore(_ name: String, from text: String) throws(Conflict) -> String? {
        guard !text.allSatisfy(\.isWhitespace), try store(of: text) == name else { return nil }
        guard let start = text.firstRange(of: "\"credsStore\"")?.lowerBound,
            let end = text[start...].firstRange(of: "\"\(name)\"")?.upperBound
        else { throw Conflict(line: member(name)) }
        // With the comma after it, or the one before it if it is the last, and with its line.
        var before = text[..<start].trimmingEnd()
        var after = text[end...]
        let rest = after.drop(while: \.isWhitespace)
        if rest.first == "," {
            after = rest.dropFirst()
        } else if before.last == "," {
            before = before.dropLast()
        }
        let result = String(before + after)
        // Another member may have this one's text in it.
        guard try store(of: result) == nil else { throw Conflict(line: member(name)) }
        return result
    }

    /// Reads the member, and so checks that the text is an object.
    private static func store(of text: String) throws(Conflict) -> String? {
        struct Members: Decodable {
            var credsStore: String?
        }
        do {
            return try JSONDecoder().decode(Members.self, from: Data(text.utf8)).credsStore
        } catch {
            throw Conflict(line: firstLine(of: text))
        }
    }
}

extension StringProtocol {
    fileprivate func trimmingEnd() -> SubSequence {
        self[..<(lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex)]
    }
}
