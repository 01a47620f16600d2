import Bytes
import FoundationEssentials

/// `NAME=value` lines, as shells, Compose and systemd read them: `export` may stand before the name, and the value in
/// quotation marks.
enum EnvReader {
    static func isMeant(_ text: String) -> Bool {
        let lines = text.split(whereSeparator: \.isNewline).filter { !isComment($0) }
        return !lines.isEmpty && lines.allSatisfy { name(of: $0) != nil }
    }

    /// - Parameter name: Of the file, which becomes the title of all entries.
    static func read(_ text: String, named file: String) -> ExchangeContents {
        var contents = ExchangeContents()
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        where !isComment(line) {
            guard let (name, rest) = name(of: line), let value = value(rest) else {
                contents.refuse("line \(number + 1)", "it is not NAME=value, or a quotation mark has no end")
                continue
            }
            var entry = ExchangeEntry(title: file)
            (entry.username, entry.password) = (String(name), value)
            contents.take(entry)
        }
        return contents
    }

    private static func isComment(_ line: Substring) -> Bool {
        let start = line.drop { $0.isWhitespace }
        return start.isEmpty || start.first == "#"
    }

    private static func name(of line: Substring) -> (name: Substring, rest: Substring)? {
        var line = line.drop { $0.isWhitespace }
        if line.hasPrefix("export ") { line = line.dropFirst(7).drop { $0.isWhitespace } }
        guard let end = line.firstIndex(of: "=") else { return nil }
        let name = line[..<end]
        let isName = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
        guard isName, let first = name.utf8.first, !(0x30...0x39).contains(first) else { return nil }
        return (name, line[line.index(after: end)...])
    }

    private static func value(_ text: Substring) -> String? {
        let text = text.drop { $0 == " " || $0 == "\t" }
        guard let quote = text.first, quote == "\"" || quote == "'" else {
            // A remark follows after a space.
            var end = text.startIndex
            while end < text.endIndex,
                !(text[end] == "#" && end > text.startIndex && text[text.index(before: end)].isWhitespace)
            {
                end = text.index(after: end)
            }
            return String(text[..<end].reversed().drop { $0.isWhitespace }.reversed())
        }
        var value = ""
        var rest = text.dropFirst()
        while let character = rest.popFirst() {
            if character == quote { return value }
            if character == "\\", quote == "\"", let next = rest.popFirst() {
                switch next {
                case "n": value.append("\n")
                case "t": value.append("\t")
                case "r": value.append("\r")
                case "\"", "\\", "$", "`": value.append(next)
                default: value += "\\\(next)"
                }
            } else {
                value.append(character)
            }
        }
        return nil
    }
}

/// The file `.netrc` of ftp, curl and git: machines with a login and a password.
enum NetrcReader {
    static func isMeant(_ text: String) -> Bool {
        let first = words(in: text).first
        return first == "machine" || first == "default"
    }

    static func read(_ text: String) -> ExchangeContents {
        var contents = ExchangeContents()
        var entry: ExchangeEntry?
        var words = words(in: text)[...]
        func end() {
            if let present = entry { contents.take(present) }
            entry = nil
        }
        while let word = words.popFirst() {
            switch word {
            case "machine":
                end()
                guard let host = words.popFirst() else { continue }
                entry = ExchangeEntry(title: host)
                entry?.addresses = [host]
            case "default":
                end()
                contents.leaveOut("default", "it is for every machine, and an item names one")
                words = words.drop { $0 != "machine" }
            case "login": entry?.username = words.popFirst()
            case "password": entry?.password = words.popFirst()
            case "account":
                if let account = words.popFirst() {
                    entry?.fields.append(.init("account", account, isConcealed: false))
                }
            case "macdef":
                contents.leaveOut("macdef", "a macro is no password")
                words = words.drop { $0 != "machine" && $0 != "default" }
            default: contents.refuse("a word", "it is none of .netrc's, such as 'machine' and 'login'")
            }
        }
        end()
        return contents
    }

    private static func words(in text: String) -> [String] {
        var words: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            var rest = line.drop { $0.isWhitespace }
            while let first = rest.first, first != "#" || words.last == "password" {
                var word = ""
                if first == "\"" {
                    rest = rest.dropFirst()
                    while let character = rest.popFirst(), character != "\"" {
                        word.append(character == "\\" ? rest.popFirst() ?? character : character)
                    }
                } else {
                    word = String(rest.prefix { !$0.isWhitespace })
                    rest = rest.dropFirst(word.count)
                }
                words.append(word)
                rest = rest.drop { $0.isWhitespace }
            }
        }
        return words
    }
}
