import Bytes
import FoundationEssentials

/// What `security dump-keychain -d` of macOS prints: an item is its class, its attributes and its data, each in lines
/// of their own.
enum DumpReader {
    static func isMeant(_ text: String) -> Bool {
        text.hasPrefix("keychain: \"") && text.prefix(4_096).contains("class: ")
    }

    static func read(_ text: String) -> ExchangeContents {
        var contents = ExchangeContents()
        var item: Item?
        var isData = false
        func end() {
            if let item { take(item, &contents) }
            (item, isData) = (nil, false)
        }
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if line.hasPrefix("keychain: ") {
                end()
            } else if line.hasPrefix("class: ") {
                item = Item(kind: quoted(line.dropFirst(7)) ?? String(line.dropFirst(7)))
            } else if line.hasPrefix("data:") {
                isData = true
            } else if isData {
                if item?.data == nil, !line.isEmpty { item?.data = value(line) }
            } else if line.hasPrefix("    "), let (name, value) = attribute(line.dropFirst(4)) {
                item?.attributes[name] = value
            }
        }
        end()
        return contents
    }

    private struct Item {
        var kind: String
        var attributes: [String: Data] = [:]
        var data: Data?

        func text(_ name: String) -> String? {
            attributes[name].flatMap { String(validating: $0.prefix { $0 != 0 }, as: UTF8.self) }
                .flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    private static func take(_ item: Item, _ contents: inout ExchangeContents) {
        let name = item.text("svce") ?? item.text("srvr") ?? item.text("0x00000007") ?? "an item"
        guard item.kind == "genp" || item.kind == "inet" else {
            return contents.leaveOut(name, "it is no password: export keys and certificates as PKCS#12")
        }
        guard let data = item.data else {
            return contents.refuse(name, "its secret is missing: dump with -d, and allow access to each item")
        }
        guard let password = String(validating: data, as: UTF8.self) else {
            return contents.refuse(name, "its secret is not text")
        }
        var entry = ExchangeEntry(title: item.text("0x00000007") ?? name)
        (entry.username, entry.password, entry.note) = (item.text("acct"), password, item.text("icmt"))
        (entry.created, entry.modified) = (date(item.text("cdat")), date(item.text("mdat")))
        if item.kind == "inet", let host = item.text("srvr") {
            let schemes = [
                "htps": "https", "http": "http", "ssh ": "ssh", "ftp ": "ftp", "ftps": "ftps", "smb ": "smb",
                "imps": "imaps", "smtp": "smtp",
            ]
            let port = item.attributes["port"].map { $0.reduce(0) { $0 << 8 | Int($1) } } ?? 0
            entry.addresses = [
                (item.text("ptcl").map { (schemes[$0] ?? $0) + "://" } ?? "") + host + (port > 0 ? ":\(port)" : "")
                    + (item.text("path").map { $0.hasPrefix("/") ? $0 : "/" + $0 } ?? "")
            ]
        } else {
            entry.title = name
            if let label = item.text("0x00000007"), label != name {
                entry.fields.append(.init("label", label, isConcealed: false))
            }
        }
        contents.take(entry)
    }

    /// `"acct"<blob>="alice"`, `0x00000007 <blob>="Example"`.
    private static func attribute(_ line: Substring) -> (name: String, value: Data)? {
        guard let bracket = line.firstIndex(of: "<"), let equals = line.firstIndex(of: "="), bracket < equals else {
            return nil
        }
        let name = line[..<bracket].filter { $0 != "\"" && $0 != " " }
        return value(line[line.index(after: equals)...]).map { (name, $0) }
    }

    /// A value is text in quotation marks with octal escapes, or hexadecimal digits that text for people may follow.
    private static func value(_ text: Substring) -> Data? {
        if text.hasPrefix("0x") {
            return [UInt8](hexadecimal: text.dropFirst(2).prefix { $0.isHexDigit }.utf8).map { Data($0) }
        }
        return quoted(text).map { Data($0.utf8) } ?? escaped(text)
    }

    private static func quoted(_ text: Substring) -> String? {
        guard text.first == "\"", text.count >= 2, let end = text.lastIndex(of: "\""), end > text.startIndex else {
            return nil
        }
        let inside = text[text.index(after: text.startIndex)..<end]
        return inside.contains("\\") ? nil : String(inside)
    }

    private static func escaped(_ text: Substring) -> Data? {
        guard text.first == "\"", let end = text.lastIndex(of: "\""), end > text.startIndex else { return nil }
        var bytes = Data()
        var rest = text[text.index(after: text.startIndex)..<end].utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (0x30...0x37).contains($0) }) {
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }))
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// `20230131120000Z`.
    private static func date(_ text: String?) -> Date? {
        guard let text, text.utf8.count >= 15, text.utf8.prefix(14).allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let digits = Array(text.prefix(14)).map(String.init)
        func part(_ range: Range<Int>) -> String { digits[range].joined() }
        return JSONValue.string(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z"
        ).date
    }
}
