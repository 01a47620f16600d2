import Bytes
import FoundationEssentials
import OneTimeCodes

/// FIDO's Credential Exchange Format, version 1.0 (Proposed Standard of 2025-08-14), as plain JSON: the header with its
/// accounts, or one account alone. Names of the drafts before it are read, too.
enum CXFReader {
    static func isMeant(_ json: JSONValue) -> Bool {
        json["accounts"] != nil && json["exporterRpId"] != nil || json["accounts"]?.elements?.first?["items"] != nil
            || json["items"] != nil && json["collections"] != nil
    }

    static func read(_ json: JSONValue) throws(ExchangeError) -> ExchangeContents {
        var contents = ExchangeContents()
        if let major = json["version"]?["major"]?.number, major != 1 {
            throw .malformed(.cxf, "it has version \(major), and version 1 is known")
        }
        guard let accounts = json["accounts"]?.elements ?? (json["items"] != nil ? [json] : nil) else {
            throw .malformed(.cxf, "it has no accounts")
        }
        for account in accounts {
            var folders: [String: String] = [:]
            collect(account["collections"], path: "", into: &folders, depth: 0)
            for (number, item) in (account["items"]?.elements ?? []).enumerated() {
                guard item.object != nil else {
                    contents.refuse("item \(number + 1)", "it is no object")
                    continue
                }
                contents.take(entry(item, folders, &contents))
            }
        }
        return contents
    }

    /// Finds in which collection each item is.
    private static func collect(
        _ collections: JSONValue?, path: String, into folders: inout [String: String], depth: Int
    ) {
        guard depth < 32 else { return }
        for collection in collections?.elements ?? [] {
            let name = collection["title"]?.text ?? "untitled"
            let path = path.isEmpty ? name : path + "/" + name
            for link in collection["items"]?.elements ?? [] {
                if let item = link["item"]?.text ?? link.text, folders[item] == nil { folders[item] = path }
            }
            collect(collection["subCollections"], path: path, into: &folders, depth: depth + 1)
        }
    }

    private static func entry(
        _ item: JSONValue, _ folders: [String: String], _ contents: inout ExchangeContents
    ) -> ExchangeEntry {
        var members = item.object ?? [:]
        func take(_ name: String) -> JSONValue? { members.removeValue(forKey: name) }
        var entry = ExchangeEntry(title: take("title")?.text ?? "untitled")
        entry.identifier = take("id")?.text
        entry.created = take("creationAt")?.date
        entry.modified = take("modifiedAt")?.date
        entry.isFavorite = take("favorite")?.isTrue ?? false
        entry.tags = take("tags")?.elements?.compactMap(\.text) ?? []
        entry.folder = entry.identifier.flatMap { folders[$0] }
        if var scope = members["scope"]?.object {
            entry.addresses = scope.removeValue(forKey: "urls")?.elements?.compactMap(\.text) ?? []
            if scope["androidApps"] == .array([]) { scope["androidApps"] = nil }
            members["scope"] = scope.isEmpty ? nil : .object(scope)
        }
        // Drafts named the kind of an item, which its credentials say.
        if members["type"]?.text != nil { members["type"] = nil }
        if members["extensions"] == .array([]) { members["extensions"] = nil }
        var others: [JSONValue] = []
        for credential in take("credentials")?.elements ?? [] where !read(credential, into: &entry, &contents) {
            others.append(credential)
        }
        if !others.isEmpty { members["credentials"] = .array(others) }
        entry.rest = members
        return entry
    }

    /// - Returns: False for a credential that has no place in an entry, and is kept as it is.
    private static func read(
        _ credential: JSONValue, into entry: inout ExchangeEntry, _ contents: inout ExchangeContents
    ) -> Bool {
        switch credential["type"]?.text {
        case "basic-auth", "login":
            guard entry.username == nil, entry.password == nil else { return false }
            entry.username = value(credential["username"])
            entry.password = value(credential["password"])
            // In drafts the addresses were here.
            let addresses = credential["urls"]?.elements?.compactMap(\.text) ?? []
            entry.addresses += addresses.filter { !entry.addresses.contains($0) }
            return hasOnly(credential, ["type", "username", "password", "urls"])
                && isPlain(credential["username"]) && isPlain(credential["password"])
        case "totp":
            guard entry.oneTimePassword == nil else { return false }
            guard let password = oneTimePassword(credential) else {
                contents.leaveOut(entry.title, "its one-time code cannot be made here; it is kept as it is")
                return false
            }
            entry.oneTimePassword = password
            return true
        case "note":
            guard entry.note == nil, let text = value(credential["content"]) ?? credential["content"]?.text else {
                return false
            }
            entry.note = text
            return isPlain(credential["content"])
        case "ssh-key":
            guard let text = credential["privateKey"]?.text else { return false }
            guard let document = UnpaddedBase64.url.decode(text.utf8.filter { $0 != UInt8(ascii: "=") }) else {
                contents.leaveOut(entry.title, "its key is not Base64; it is kept as it is")
                return false
            }
            let key = ExchangeEntry.Key(name: credential["keyComment"]?.text, document: Data(document))
            guard hasOnly(credential, ["type", "keyType", "privateKey", "keyComment"]) else { return false }
            entry.keys.append(key)
            return true
        case "passkey":
            entry.passkeys.append(credential)
            return true
        case "custom-fields":
            guard credential["label"]?.text == nil, credential["id"]?.text == nil,
                let fields = credential["fields"]?.elements,
                fields.allSatisfy({ $0["label"]?.text != nil && value($0) != nil && isPlain($0) })
            else { return false }
            for field in fields {
                entry.fields.append(
                    .init(
                        field["label"]?.text ?? "", value(field) ?? "",
                        isConcealed: field["fieldType"]?.text == "concealed-string"))
            }
            return true
        default: return false
        }
    }

    private static func oneTimePassword(_ credential: JSONValue) -> OneTimePassword? {
        guard let secret = credential["secret"]?.text, let plain = try? OneTimePassword(secret) else { return nil }
        let name = credential["algorithm"]?.text?.uppercased() ?? "SHA1"
        guard let algorithm = OneTimePassword.Algorithm(rawValue: name.filter { $0 != "-" }) else { return nil }
        return try? OneTimePassword(
            secret: plain.secret, algorithm: algorithm,
            form: .digits(Int(clamping: credential["digits"]?.number ?? 6)),
            factor: .time(period: Int(clamping: credential["period"]?.number ?? 30)),
            issuer: credential["issuer"]?.text, account: credential["username"]?.text)
    }

    /// The value of a field, which drafts wrote as a text alone.
    private static func value(_ field: JSONValue?) -> String? {
        if case .string(let text)? = field { return text }
        guard let value = field?["value"] else { return nil }
        switch value {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .bool(let bool): return bool ? "true" : "false"
        default: return nil
        }
    }

    /// Whether a field says nothing that its value and label do not.
    private static func isPlain(_ field: JSONValue?) -> Bool {
        guard let members = field?.object else { return true }
        let known: Set = ["id", "fieldType", "value", "label"]
        return members.keys.allSatisfy { known.contains($0) || members[$0] == .array([]) }
    }

    private static func hasOnly(_ credential: JSONValue, _ known: Set<String>) -> Bool {
        credential.object?.allSatisfy { known.contains($0.key) || $0.value == .array([]) || $0.value == .null } ?? false
    }
}
