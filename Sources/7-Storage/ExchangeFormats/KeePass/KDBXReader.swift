import Bytes
import FoundationEssentials
import OneTimeCodes

/// The entries of a KeePass database.
struct KDBXReader {
    private let document: XMLNode
    private var contents = ExchangeContents()
    private var files: [String: Data] = [:]
    private var bin: String?
    /// What references in values point to: the values of each entry by its number.
    private var values: [String: [String: String]] = [:]

    static func read(
        _ bytes: Data, password: () throws -> SecretBytes?, keyFile: Data?
    ) throws -> ExchangeContents {
        var reader: KDBXReader
        if isPlain(bytes) {
            guard let document = try XMLNode.root(of: bytes), document.name == "KeePassFile" else {
                throw ExchangeError.malformed(.kdbx, "it is no XML of KeePass, or was cut off")
            }
            reader = KDBXReader(document, files: [])
        } else {
            let file = try KDBXFile(bytes, password: password, keyFile: keyFile)
            reader = KDBXReader(file.document, files: file.files)
        }
        try reader.run()
        return reader.contents
    }

    static func isMeant(_ bytes: Data) -> Bool { KDBXHeader.isMeant(bytes) || isPlain(bytes) }

    /// The XML alone, as KeePass and KeePassXC export it.
    private static func isPlain(_ bytes: Data) -> Bool {
        bytes.first == UInt8(ascii: "<") && bytes.prefix(1_024).firstRange(of: "<KeePassFile>".utf8) != nil
    }

    private init(_ document: XMLNode, files: [Data]) {
        self.document = document
        for (number, data) in files.enumerated() { self.files[String(number)] = data }
    }

    private mutating func run() throws(ExchangeError) {
        guard let root = document["Root"]?["Group"] else { throw .malformed(.kdbx, "it has no group of entries") }
        let meta = document["Meta"]
        if meta?["RecycleBinEnabled"].map(Self.isTrue) ?? true { bin = meta?["RecycleBinUUID"]?.text }
        for binary in meta?["Binaries"]?.all("Binary") ?? [] {
            guard let number = binary.attributes["ID"] else { continue }
            files[number] = try contents(of: binary)
        }
        collectValues(root)
        try walk(root, folder: nil, isRoot: true, isInBin: false)
    }

    static func isTrue(_ node: XMLNode) -> Bool { node.text.lowercased() == "true" }

    /// How many more bytes the compressed files in the XML may have.
    private var room = 256 << 20

    private mutating func contents(of node: XMLNode) throws(ExchangeError) -> Data? {
        guard let data = node.data else { return nil }
        guard node.attributes["Compressed"]?.lowercased() == "true" else { return data }
        let expanded = try Zlib.expand(data, limit: room)
        room -= expanded?.count ?? 0
        return expanded
    }

    private mutating func walk(_ group: XMLNode, folder: String?, isRoot: Bool, isInBin: Bool) throws(ExchangeError) {
        let name = group["Name"]?.text ?? ""
        let folder =
            isRoot ? nil : [folder, name.isEmpty ? "untitled" : name].compactMap(\.self).joined(separator: "/")
        let isInBin = isInBin || bin != nil && group["UUID"]?.text == bin
        for node in group.all("Entry") {
            guard !isInBin else {
                contents.leaveOut(title(of: node), "it is in the bin there")
                continue
            }
            let entry = try entry(node, folder: folder)
            if entry.isEmpty {
                contents.leaveOut(entry.title, "nothing is in it")
            } else {
                contents.take(entry)
            }
        }
        for group in group.all("Group") { try walk(group, folder: folder, isRoot: false, isInBin: isInBin) }
    }

    // MARK: Values

    private struct Text {
        var value: String
        var isProtected: Bool
    }

    private static func texts(of entry: XMLNode) -> [(String, Text)] {
        entry.all("String").compactMap { string in
            guard let name = string["Key"]?.text, let value = string["Value"] else { return nil }
            let isProtected = ["Protected", "ProtectInMemory"].contains {
                value.attributes[$0]?.lowercased() == "true"
            }
            return (name, Text(value: value.text, isProtected: isProtected))
        }
    }

    private func title(of entry: XMLNode) -> String {
        let title = Self.texts(of: entry).first { $0.0 == "Title" }?.1.value ?? ""
        return title.isEmpty ? "untitled" : title
    }

    private mutating func collectValues(_ group: XMLNode) {
        for entry in group.all("Entry") {
            guard let identifier = Self.identifier(of: entry) else { continue }
            var found: [String: String] = [:]
            for (name, text) in Self.texts(of: entry) where Self.letters.values.contains(name) {
                found[name] = text.value
            }
            values[identifier] = found
        }
        for group in group.all("Group") { collectValues(group) }
    }

    /// The number as 32 hexadecimal digits.
    private static func identifier(of entry: XMLNode) -> String? {
        guard let data = entry["UUID"]?.data, data.count == 16 else { return nil }
        return [UInt8](data).hexadecimal(uppercase: true)
    }

    private static let letters = ["T": "Title", "U": "UserName", "P": "Password", "A": "URL", "N": "Notes"]

    /// Replaces a value that is a reference to another entry by that entry's value, as KeePass shows it.
    private func resolved(_ text: String) -> String {
        var text = text
        // A reference may lead to another one; a circle ends here.
        for _ in 0..<8 {
            guard text.hasPrefix("{REF:"), text.hasSuffix("}"), let at = text.firstIndex(of: "@") else { return text }
            let wanted = text[text.index(text.startIndex, offsetBy: 5)..<at].uppercased()
            let search = text[text.index(after: at)...].dropLast()
            guard let name = Self.letters[wanted], search.hasPrefix("I:"),
                let value = values[search.dropFirst(2).uppercased().filter { $0 != "-" }]?[name]
            else { return text }
            text = value
        }
        return text
    }

    private static func isReference(_ text: String) -> Bool { text.hasPrefix("{REF:") && text.hasSuffix("}") }

    private static func date(_ node: XMLNode?) -> Date? {
        guard let node, !node.text.isEmpty else { return nil }
        if let data = node.data, data.count == 8 {
            // Seconds since the year 1; what is before it or after the year 9999 is no date.
            let seconds = Int64(littleEndianBytes: data)
            guard (0...315_537_897_599).contains(seconds) else { return nil }
            return Date(timeIntervalSince1970: Double(seconds - KDBXWriter.secondsBefore1970))
        }
        return JSONValue.string(node.text).date
    }

    // MARK: Entries

    private mutating func entry(_ node: XMLNode, folder: String?) throws(ExchangeError) -> ExchangeEntry {
        var texts = Self.texts(of: node)
        func take(_ name: String) -> String? {
            guard let place = texts.firstIndex(where: { $0.0 == name }) else { return nil }
            let text = resolved(texts.remove(at: place).1.value)
            return text.isEmpty ? nil : text
        }
        if texts.contains(where: { Self.isReference(resolved($0.1.value)) }) {
            let title = self.title(of: node)
            contents.leaveOut(title, "a value in it refers to another entry that is not found; its text is kept")
        }
        let title = take("Title")
        var entry = ExchangeEntry(title: title ?? "untitled")
        entry.identifier = node["UUID"]?.data.flatMap(Self.uuid)
        entry.folder = folder
        (entry.username, entry.password, entry.note) = (take("UserName"), take("Password"), take("Notes"))
        let times = node["Times"]
        (entry.created, entry.modified) = (Self.date(times?["CreationTime"]), Self.date(times?["LastModificationTime"]))
        entry.addresses = [take("URL")].compactMap(\.self)
        let others = texts.filter { $0.0.hasPrefix(KDBXWriter.otherAddress) }.sorted {
            ($0.0.utf8.count, $0.0) < ($1.0.utf8.count, $1.0)
        }
        for (name, _) in others {
            if let address = take(name) { entry.addresses.append(address) }
        }
        entry.tags = (node["Tags"]?.text ?? "").split { $0 == ";" || $0 == "," }.map { String($0).trimmed }
            .filter { !$0.isEmpty }
        if let place = entry.tags.firstIndex(of: KDBXWriter.favorite) {
            entry.tags.remove(at: place)
            entry.isFavorite = true
        }
        if title == nil, let name = entry.addresses.first ?? entry.username { entry.title = name }
        takeCode(&texts, &entry)
        takePasskey(&texts, &entry)
        for (name, text) in texts {
            entry.fields.append(.init(name, resolved(text.value), isConcealed: text.isProtected))
        }
        if times?["Expires"].map(Self.isTrue) ?? false, let date = Self.date(times?["ExpiryTime"]) {
            entry.fields.append(.init(KDBXWriter.expiry, date.formatted(.iso8601), isConcealed: false))
        }
        try takeFiles(node, &entry)
        entry.history = history(of: node, entry)
        return entry
    }

    private static func uuid(_ data: Data) -> String? {
        guard data.count == 16 else { return nil }
        let digits = Array([UInt8](data).hexadecimal())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    private mutating func takeCode(_ texts: inout [(String, Text)], _ entry: inout ExchangeEntry) {
        var fields: [String: String] = [:]
        for (name, text) in texts where fields[name] == nil { fields[name] = text.value }
        guard let (names, code) = KDBXCode.read(fields, issuer: entry.title, account: entry.username) else { return }
        guard let code else {
            return contents.leaveOut(entry.title, "its one-time code cannot be made here; its text is kept")
        }
        entry.oneTimePassword = code
        texts.removeAll { names.contains($0.0) }
    }

    private func takePasskey(_ texts: inout [(String, Text)], _ entry: inout ExchangeEntry) {
        var members: [String: String] = [:]
        for (name, text) in texts where name.hasPrefix(KDBXPasskey.prefix) { members[name] = text.value }
        guard let passkey = KDBXPasskey.cxf(members) else { return }
        entry.passkeys = [passkey]
        texts.removeAll { members[$0.0] != nil }
    }

    private mutating func takeFiles(_ node: XMLNode, _ entry: inout ExchangeEntry) throws(ExchangeError) {
        for binary in node.all("Binary") {
            let name = binary["Key"]?.text ?? "file"
            let value = binary["Value"]
            var data: Data?
            if let number = value?.attributes["Ref"] {
                data = files[number]
            } else if let value {
                data = try contents(of: value)
            }
            guard let data else {
                contents.refuse(entry.title, "its file '\(name)' is not in the database")
                continue
            }
            entry.attachments.append(.init(name: name, contents: data))
        }
        // KeeAgent and KeePassXC say which of the files is the key for ssh-agent.
        guard let settings = entry.attachments.first(where: { $0.name == KDBXAgent.file }),
            let key = KDBXAgent.key(in: settings.contents),
            let file = entry.attachments.first(where: { $0.name == key })
        else { return }
        entry.keys.append(.init(name: key, document: file.contents))
        entry.attachments.removeAll { $0.name == key || $0.name == KDBXAgent.file }
    }

    /// Each former state of the entry has its password; it ended when the next state with another one began.
    private func history(of node: XMLNode, _ entry: ExchangeEntry) -> [ExchangeEntry.Former] {
        var states = (node["History"]?.all("Entry") ?? []).map { state in
            (
                password: Self.texts(of: state).first { $0.0 == "Password" }?.1.value ?? "",
                began: Self.date(state["Times"]?["LastModificationTime"])
            )
        }
        states.append((entry.password ?? "", entry.modified))
        return zip(states, states.dropFirst()).compactMap { state, next in
            state.password.isEmpty || resolved(state.password) == resolved(next.password)
                ? nil : ExchangeEntry.Former(password: resolved(state.password), ended: next.began)
        }
    }
}
