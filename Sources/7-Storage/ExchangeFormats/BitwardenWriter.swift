import Bytes
import Crypto
import FoundationEssentials
import OneTimeCodes

/// Bitwarden's plain export.
enum BitwardenWriter {
    static func file(of entries: [ExchangeEntry]) -> (JSONValue, [ExchangeContents.Problem]) {
        var lost: [ExchangeContents.Problem] = []
        var folders: [String: String] = [:]
        for folder in entries.compactMap(\.folder) where folders[folder] == nil { folders[folder] = UUID().uuidString }
        let items = entries.map { entry in
            if !entry.attachments.isEmpty { lost.append(.init(entry.title, "its files have no place in this format")) }
            if entry.keys.count > (isLogin(entry) ? 0 : 1) {
                lost.append(.init(entry.title, "its private keys have no place beside a password in this format"))
            }
            if !entry.rest.isEmpty { lost.append(.init(entry.title, "a part of it has no place in this format")) }
            return item(entry, folders)
        }
        let list = folders.sorted { $0.key < $1.key }.map { name, id in
            JSONValue.object(["id": .string(id), "name": .string(name)])
        }
        return (.object(["encrypted": .bool(false), "folders": .array(list), "items": .array(items)]), lost)
    }

    private static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    private static func date(_ date: Date?) -> JSONValue {
        date.map { .string($0.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) } ?? .null
    }

    private static func item(_ entry: ExchangeEntry, _ folders: [String: String]) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(
                entry.identifier.flatMap(UUID.init(uuidString:))?.uuidString.lowercased()
                    ?? UUID().uuidString.lowercased()),
            "name": .string(entry.title), "notes": text(entry.note), "favorite": .bool(entry.isFavorite),
            "folderId": text(entry.folder.flatMap { folders[$0] }), "organizationId": .null, "collectionIds": .null,
            "reprompt": .integer(0), "creationDate": date(entry.created), "revisionDate": date(entry.modified),
        ]
        if !entry.fields.isEmpty {
            members["fields"] = .array(
                entry.fields.map {
                    .object([
                        "name": .string($0.name), "value": .string($0.value), "type": .integer($0.isConcealed ? 1 : 0),
                        "linkedId": .null,
                    ])
                })
        }
        if !entry.history.isEmpty {
            members["passwordHistory"] = .array(
                entry.history.reversed().map {
                    .object(["password": .string($0.password), "lastUsedDate": date($0.ended ?? entry.modified)])
                })
        }
        if isLogin(entry) {
            members["type"] = .integer(1)
            members["login"] = .object([
                "username": text(entry.username), "password": text(entry.password),
                "totp": text(entry.oneTimePassword?.uri),
                "uris": .array(entry.addresses.map { .object(["match": .null, "uri": .string($0)]) }),
                "fido2Credentials": .array(entry.passkeys.map { $0["bitwarden"] ?? passkey($0) }),
            ])
        } else if let key = entry.keys.first {
            members["type"] = .integer(5)
            members["sshKey"] = .object([
                "privateKey": .string(key.text), "publicKey": .string(key.publicKey ?? ""),
                "keyFingerprint": .string(key.publicKey.flatMap(fingerprint) ?? ""),
            ])
        } else {
            members["type"] = .integer(2)
            members["secureNote"] = .object(["type": .integer(0)])
        }
        return .object(members)
    }

    private static func isLogin(_ entry: ExchangeEntry) -> Bool {
        entry.password != nil || entry.username != nil || entry.oneTimePassword != nil || !entry.addresses.isEmpty
            || !entry.passkeys.isEmpty
    }

    /// As OpenSSH prints it.
    private static func fingerprint(_ line: String) -> String? {
        guard let digits = line.split(separator: " ").dropFirst().first, let blob = Data(base64Encoded: String(digits))
        else { return nil }
        return "SHA256:" + Data(SHA256.hash(data: blob)).base64EncodedString().prefix { $0 != "=" }
    }

    private static func passkey(_ cxf: JSONValue) -> JSONValue {
        var members: [String: JSONValue] = [
            "keyType": .string("public-key"), "keyAlgorithm": .string("ECDSA"), "keyCurve": .string("P-256"),
            "counter": .string("0"), "discoverable": .string("true"),
        ]
        let names = [
            "rpId": "rpId", "username": "userName", "userDisplayName": "userDisplayName", "userHandle": "userHandle",
            "key": "keyValue",
        ]
        for (theirs, ours) in names { members[ours] = cxf[theirs] }
        if let text = cxf["credentialId"]?.text {
            let bytes = UnpaddedBase64.url.decode(text.utf8)
            members["credentialId"] = .string(
                bytes.flatMap { UUID(bytes: $0) }?.uuidString.lowercased() ?? "b64.\(text)")
        }
        return .object(members)
    }
}

extension UUID {
    /// - Returns: Nil for another number of bytes than 16.
    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
