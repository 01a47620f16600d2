import Bytes
import FoundationEssentials
import OneTimeCodes

/// Bitwarden's export as JSON: plain, or encrypted under a password of its own (``BitwardenCipher``).
enum BitwardenReader {
    static func isMeant(_ json: JSONValue) -> Bool {
        json["encrypted"] != nil && (json["items"] != nil || json["data"] != nil)
    }

    static func read(
        _ json: JSONValue, password: () throws -> SecretBytes?
    ) throws -> ExchangeContents {
        guard json["encrypted"]?.isTrue == true else { return try items(json) }
        guard json["passwordProtected"]?.isTrue == true else {
            throw ExchangeError.malformed(
                .bitwarden, "it is encrypted for one account, whose key only Bitwarden has: export it with a password")
        }
        guard let password = try password() else { throw ExchangeError.needsPassword }
        return try items(BitwardenCipher(json).open(json, under: password))
    }

    private static func items(_ json: JSONValue) throws(ExchangeError) -> ExchangeContents {
        guard let items = json["items"]?.elements else { throw .malformed(.bitwarden, "it has no items") }
        var folders: [String: String] = [:]
        for folder in (json["folders"]?.elements ?? []) + (json["collections"]?.elements ?? []) {
            if let id = folder["id"]?.text, let name = folder["name"]?.text { folders[id] = name }
        }
        var contents = ExchangeContents()
        for (number, item) in items.enumerated() {
            let name = item["name"]?.text ?? "item \(number + 1)"
            if item["deletedDate"]?.text != nil {
                contents.leaveOut(name, "it is in the bin there")
            } else if item.object == nil {
                contents.refuse(name, "it is no object")
            } else {
                contents.take(entry(item, folders, &contents))
            }
        }
        return contents
    }

    private static func entry(
        _ item: JSONValue, _ folders: [String: String], _ contents: inout ExchangeContents
    ) -> ExchangeEntry {
        var entry = ExchangeEntry(title: item["name"]?.text ?? "untitled")
        entry.identifier = item["id"]?.text
        entry.created = item["creationDate"]?.date
        entry.modified = item["revisionDate"]?.date
        entry.isFavorite = item["favorite"]?.isTrue ?? false
        entry.note = item["notes"]?.text
        let places =
            [item["folderId"]].compactMap { $0?.text } + (item["collectionIds"]?.elements ?? []).compactMap(\.text)
        entry.folder = places.lazy.compactMap { folders[$0] }.first
        for field in item["fields"]?.elements ?? [] where field["type"]?.number != 3 {
            entry.fields.append(
                .init(field["name"]?.text ?? "", field["value"]?.text ?? "", isConcealed: field["type"]?.number == 1))
        }
        entry.history = (item["passwordHistory"]?.elements ?? []).compactMap { former in
            former["password"]?.text.map { .init(password: $0, ended: former["lastUsedDate"]?.date) }
        }
        .sorted { ($0.ended ?? .distantPast) < ($1.ended ?? .distantPast) }
        if let login = item["login"] { read(login, into: &entry, &contents) }
        if let key = item["sshKey"], let text = key["privateKey"]?.text {
            entry.keys.append(.init(name: entry.title, document: Data(text.utf8)))
        }
        for (kind, secrets) in [
            ("card", ["number", "code"]), ("identity", ["ssn", "passportNumber", "licenseNumber"]),
        ] {
            guard let members = item[kind]?.object else { continue }
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let text = value.text else { continue }
                entry.fields.append(.init("\(kind) \(name)", text, isConcealed: secrets.contains(name)))
            }
        }
        return entry
    }

    private static func read(_ login: JSONValue, into entry: inout ExchangeEntry, _ contents: inout ExchangeContents) {
        entry.username = login["username"]?.text
        entry.password = login["password"]?.text
        entry.addresses = (login["uris"]?.elements ?? []).compactMap { $0["uri"]?.text }
        if let text = login["totp"]?.text {
            do throws(OneTimePasswordError) {
                entry.oneTimePassword = try OneTimePassword(text)
            } catch {
                entry.fields.append(.init("one-time code", text, isConcealed: true))
                contents.leaveOut(entry.title, "its one-time code cannot be made here (\(error)); its text is kept")
            }
        }
        for passkey in login["fido2Credentials"]?.elements ?? [] { entry.passkeys.append(cxf(passkey)) }
    }

    /// A passkey of Bitwarden's in CXF's form, with the original beside it.
    private static func cxf(_ passkey: JSONValue) -> JSONValue {
        var members: [String: JSONValue] = ["type": .string("passkey"), "bitwarden": passkey]
        let names = [
            "rpId": "rpId", "userName": "username", "userDisplayName": "userDisplayName", "userHandle": "userHandle",
            "keyValue": "key",
        ]
        for (theirs, ours) in names { members[ours] = passkey[theirs] }
        if let text = passkey["credentialId"]?.text {
            // Bitwarden writes the bytes as a UUID, or, marked with `b64.`, in Base64.
            if let identifier = UUID(uuidString: text) {
                members["credentialId"] = .string(
                    UnpaddedBase64.url.string(withUnsafeBytes(of: identifier.uuid) { Array($0) }))
            } else {
                members["credentialId"] = .string(text.hasPrefix("b64.") ? String(text.dropFirst(4)) : text)
            }
        }
        return .object(members)
    }
}
