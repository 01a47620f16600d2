import Bytes
import FoundationEssentials
import OneTimeCodes

/// The text of one file in a store of pass or gopass, once it is decrypted.
package enum PassReader {
    /// Returns the entry.
    ///
    /// - Parameters:
    ///   - bytes: The first line is the password. gopass had a form with headers like those of mail.
    ///   - path: Of the file in the store, without its ending: the folder and the title.
    package static func entry(in bytes: Data, named path: String) -> ExchangeEntry {
        let slash = path.lastIndex(of: "/")
        let title = slash.map { String(path[path.index(after: $0)...]) } ?? path
        var entry = ExchangeEntry(title: title.isEmpty ? "untitled" : title)
        entry.folder = slash.map { String(path[..<$0]) }
        guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else {
            entry.attachments = [.init(name: entry.title, contents: bytes)]
            return entry
        }
        // A carriage return with its line feed is one character.
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        if lines.last?.isEmpty == true { lines.removeLast() }
        if lines.first == "GOPASS-SECRET-1.0" {
            readHeaders(lines.dropFirst(), into: &entry)
        } else {
            entry.password = lines.first.map(String.init) ?? ""
            read(lines.dropFirst(), into: &entry)
        }
        return entry
    }

    /// Lines with names and values, and others, which are the note. YAML of gopass begins with `---`.
    private static func read(_ lines: ArraySlice<Substring>, into entry: inout ExchangeEntry) {
        var note: [Substring] = []
        var isYAML = false
        for (number, line) in lines.enumerated() {
            if line == "---", number == 0 || !isYAML && note.allSatisfy(\.isEmpty) {
                isYAML = true
            } else if !take(line, isYAML: isYAML, into: &entry) {
                note.append(line)
            }
        }
        addNote(note, to: &entry)
    }

    private static func addNote(_ lines: [Substring], to entry: inout ExchangeEntry) {
        let text = lines.joined(separator: "\n")
        // Empty lines around it only keep it apart.
        let note = text.drop { $0.isNewline }.reversed().drop { $0.isWhitespace }.reversed()
        if !note.isEmpty { entry.note = String(note) }
    }

    /// The old form of gopass: headers, an empty line, and the note.
    private static func readHeaders(_ lines: ArraySlice<Substring>, into entry: inout ExchangeEntry) {
        let headers = lines.prefix { !$0.isEmpty }
        var note: [Substring] = []
        for line in headers {
            if let (name, value) = pair(line), name.lowercased() == "password", entry.password == nil {
                entry.password = value
            } else if !take(line, isYAML: false, into: &entry) {
                note.append(line)
            }
        }
        addNote(note + lines.dropFirst(headers.count + 1), to: &entry)
        entry.password = entry.password ?? ""
    }

    private static func pair(_ line: Substring) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let (name, rest) = (line[..<colon], line[line.index(after: colon)...])
        // `https://…` is no name with a value, and a sentence with a colon is no short name.
        guard !rest.hasPrefix("//"), name.first?.isWhitespace == false, name.utf8.count <= 64,
            name.split(separator: " ").count <= 4
        else { return nil }
        return (String(name).trimmed, String(rest).trimmed)
    }

    /// - Returns: False for a line that belongs to the note.
    private static func take(_ line: Substring, isYAML: Bool, into entry: inout ExchangeEntry) -> Bool {
        if line.lowercased().hasPrefix("otpauth://") { return take(code: String(line), into: &entry) }
        guard let (name, text) = pair(line), !text.isEmpty else { return false }
        var value = text
        if isYAML, value.utf8.count >= 2, let quote = value.first, quote == "\"" || quote == "'", value.last == quote {
            value = String(value.dropFirst().dropLast())
        }
        switch name.lowercased() {
        case "login", "user", "username":
            guard entry.username == nil else { break }
            entry.username = value
            return true
        case "url", "website":
            entry.addresses.append(value)
            return true
        case "otpauth", "totp", "otp", "hotp":
            // The address may stand behind its own scheme alone: `otpauth: //totp/…`.
            if take(code: value.hasPrefix("//") ? "otpauth:" + value : value, into: &entry) { return true }
        default: break
        }
        // Nothing says whether it is a secret.
        entry.fields.append(.init(name, value, isConcealed: true))
        return true
    }

    private static func take(code text: String, into entry: inout ExchangeEntry) -> Bool {
        guard entry.oneTimePassword == nil, let code = try? OneTimePassword(text) else { return false }
        entry.oneTimePassword = code
        return true
    }
}
