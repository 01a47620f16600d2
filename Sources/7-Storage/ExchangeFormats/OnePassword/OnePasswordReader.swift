import Bytes
import FoundationEssentials
import OneTimeCodes

/// 1Password's unencrypted export: a zip archive with the items as JSON, in the form that 1Password publishes
/// (support.1password.com/1pux-format).
struct OnePasswordReader {
    static func isMeant(_ bytes: Data) -> Bool { Archive.isMeant(bytes) }

    /// The most bytes of all files in the archive.
    private static let largest = 512 << 20

    private var contents = ExchangeContents()
    /// The files by their numbers.
    private let files: [String: Data]
    /// The titles of items, to which others refer.
    private var titles: [String: String] = [:]

    static func read(_ bytes: Data) throws(ExchangeError) -> ExchangeContents {
        guard let archive = try Archive.files(in: bytes, limit: largest) else {
            throw .malformed(.onePassword, "the archive is damaged, or was cut off")
        }
        guard let data = archive["export.data"] else {
            throw .malformed(.onePassword, "the archive has no file 'export.data'")
        }
        if let attributes = archive["export.attributes"].flatMap(JSONValue.init(parsing:)),
            let version = attributes["version"]?.number, !(1...3).contains(version)
        {
            throw .malformed(.onePassword, "it has version \(version), and version 3 is known")
        }
        guard let json = JSONValue(parsing: data), let accounts = json["accounts"]?.elements else {
            throw .malformed(.onePassword, "its file 'export.data' has no accounts")
        }
        var reader = OnePasswordReader(archive)
        for account in accounts { reader.read(account, among: accounts.count) }
        return reader.contents
    }

    private init(_ archive: [String: Data]) {
        var files: [String: Data] = [:]
        for (path, contents) in archive where path.hasPrefix("files/") {
            // The number, three underscores, and the name that the item says, too.
            let name = path.dropFirst("files/".count)
            files[String(name[..<(name.firstRange(of: "___")?.lowerBound ?? name.endIndex)])] = contents
        }
        self.files = files
    }

    private mutating func read(_ account: JSONValue, among count: Int) {
        let vaults = account["vaults"]?.elements ?? []
        for vault in vaults {
            for item in vault["items"]?.elements ?? [] {
                let item = item["item"] ?? item
                if let number = item["uuid"]?.text, let title = item["overview"]?["title"]?.text {
                    titles[number] = title
                }
            }
        }
        for vault in vaults {
            let names = [count > 1 ? account["attrs"]?["accountName"]?.text : nil, vault["attrs"]?["name"]?.text]
            let folder = names.compactMap(\.self).joined(separator: "/")
            for (number, item) in (vault["items"]?.elements ?? []).enumerated() {
                // An earlier version of the format had one level more.
                let item = item["item"] ?? item
                let title = item["overview"]?["title"]?.text ?? "item \(number + 1)"
                if ["trashed", "deleted"].contains(item["state"]?.text) || item["trashed"]?.isTrue ?? false {
                    contents.leaveOut(title, "it is in the bin there")
                } else if item.object == nil {
                    contents.refuse(title, "it is no object")
                } else {
                    contents.take(entry(item, title, folder: folder.isEmpty ? nil : folder))
                }
            }
        }
    }

    private mutating func entry(_ item: JSONValue, _ title: String, folder: String?) -> ExchangeEntry {
        var entry = ExchangeEntry(title: title)
        let (overview, details) = (item["overview"], item["details"])
        entry.identifier = item["uuid"]?.text
        (entry.created, entry.modified) = (item["createdAt"]?.date, item["updatedAt"]?.date)
        entry.folder = folder
        entry.isFavorite = (item["favIndex"]?.number ?? 0) != 0
        entry.tags = overview?["tags"]?.elements?.compactMap(\.text) ?? []
        if item["state"]?.text == "archived" { entry.tags.append("archived") }
        let addresses = [overview?["url"]?.text] + (overview?["urls"]?.elements ?? []).map { $0["url"]?.text }
        for address in addresses.compactMap(\.self) where !entry.addresses.contains(address) {
            entry.addresses.append(address)
        }
        entry.note = details?["notesPlain"]?.text
        entry.password = details?["password"]?.text
        for field in details?["loginFields"]?.elements ?? [] { read(loginField: field, into: &entry) }
        for section in details?["sections"]?.elements ?? [] {
            for field in section["fields"]?.elements ?? [] { read(field, in: section["title"]?.text, into: &entry) }
        }
        entry.history = (details?["passwordHistory"]?.elements ?? []).compactMap { former in
            former["value"]?.text.map { .init(password: $0, ended: former["time"]?.date) }
        }
        .sorted { ($0.ended ?? .distantPast) < ($1.ended ?? .distantPast) }
        if let document = details?["documentAttributes"] { attach(document, to: &entry) }
        return entry
    }

    /// A field of a page where somebody signed in.
    private func read(loginField field: JSONValue, into entry: inout ExchangeEntry) {
        // Buttons and boxes to check say nothing.
        guard let value = field["value"]?.text, !["B", "C", "I", "S"].contains(field["fieldType"]?.text) else { return }
        switch field["designation"]?.text {
        case "username" where entry.username == nil: entry.username = value
        case "password" where entry.password == nil: entry.password = value
        default:
            let name = field["name"]?.text ?? field["id"]?.text ?? "field"
            entry.fields.append(.init(name, value, isConcealed: field["fieldType"]?.text == "P"))
        }
    }

    // MARK: Fields of sections

    private mutating func read(_ field: JSONValue, in section: String?, into entry: inout ExchangeEntry) {
        guard let (kind, value) = field["value"]?.object?.first, value != .null, value != .string("") else { return }
        var name = field["title"]?.text ?? field["id"]?.text ?? "field"
        if let section, entry.fields.contains(where: { $0.name == name }) { name = "\(section): \(name)" }
        func add(_ text: String?, isConcealed: Bool = false) {
            if let text, !text.isEmpty { entry.fields.append(.init(name, text, isConcealed: isConcealed)) }
        }
        switch kind {
        case "concealed", "creditCardNumber": add(Self.text(value), isConcealed: true)
        case "totp":
            guard let text = value.text else { return }
            guard entry.oneTimePassword == nil else { return add(text, isConcealed: true) }
            do throws(OneTimePasswordError) {
                entry.oneTimePassword = try OneTimePassword(text)
            } catch {
                add(text, isConcealed: true)
                contents.leaveOut(entry.title, "its one-time code cannot be made here (\(error)); its text is kept")
            }
        case "string", "url", "phone", "menu", "gender", "creditCardType": add(Self.text(value))
        case "email": add(value.text ?? value["email_address"]?.text)
        case "date": add(value.date?.formatted(.iso8601.year().month().day()))
        case "monthYear": add(value.number.map(Self.month))
        case "address":
            let parts = ["street", "city", "state", "zip", "country"].compactMap { value[$0]?.text }
            add(parts.joined(separator: ", "))
        case "reference": add(value.text.map { titles[$0] ?? $0 })
        case "sshKey":
            guard let text = value["privateKey"]?.text ?? value["metadata"]?["privateKey"]?.text else { return }
            var key = ExchangeEntry.Key(name: entry.title, document: Data(text.utf8))
            key.publicKey = value["metadata"]?["publicKey"]?.text
            entry.keys.append(key)
        case "file": attach(value, to: &entry)
        default:
            // A kind of a later version may be a secret.
            add(
                Self.text(value) ?? (try? value.encoded()).map { String(decoding: $0, as: UTF8.self) },
                isConcealed: true)
        }
    }

    private static func text(_ value: JSONValue) -> String? { value.text ?? value.number.map { String($0) } }

    /// `202408` is August 2024.
    private static func month(_ number: Int64) -> String {
        guard (1_00...9999_12).contains(number) else { return String(number) }
        let (year, month) = number.quotientAndRemainder(dividingBy: 100)
        return "\(year)-\(month < 10 ? "0" : "")\(month)"
    }

    private mutating func attach(_ document: JSONValue, to entry: inout ExchangeEntry) {
        let name = document["fileName"]?.text ?? "file"
        guard let data = document["documentId"]?.text.flatMap({ files[$0] }) else {
            return contents.refuse(entry.title, "its file '\(name)' is not in the archive")
        }
        entry.attachments.append(.init(name: name, contents: data))
    }
}
