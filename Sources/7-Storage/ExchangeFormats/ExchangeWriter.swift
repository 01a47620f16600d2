import Bytes
import Crypto
import FoundationEssentials
import OneTimeCodes

/// Writes entries as a file that other programs read.
package enum ExchangeWriter {
    /// The formats that can be written.
    package static let formats: [ExchangeFormat] = [.cxf, .bitwarden, .kdbx, .csv, .otpauth, .env]

    /// Whether a file of this format can be encrypted under a password.
    package static func canEncrypt(_ format: ExchangeFormat) -> Bool {
        format == .bitwarden || alwaysEncrypts(format)
    }

    /// Whether a file of this format is never plain.
    package static func alwaysEncrypts(_ format: ExchangeFormat) -> Bool { format == .kdbx }

    /// Returns the file, and what of the entries has no place in it.
    ///
    /// - Parameters:
    ///   - password: What the file is encrypted under, if ``canEncrypt(_:)`` says so; nil for a plain one.
    ///   - now: When it is written.
    package static func file(
        of entries: [ExchangeEntry], as format: ExchangeFormat, password: SecretBytes?, now: Date
    ) throws -> (file: Data, lost: [ExchangeContents.Problem]) {
        switch format {
        case .cxf:
            let lost = entries.filter { !$0.attachments.isEmpty }.map {
                ExchangeContents.Problem($0.title, "its files have no place in this format")
            }
            return (try CXFWriter.file(of: entries, now: now).encoded(isPretty: true), lost)
        case .bitwarden:
            let (plain, lost) = BitwardenWriter.file(of: entries)
            guard let password else { return (try plain.encoded(isPretty: true), lost) }
            return (try BitwardenCipher.seal(plain, under: password).encoded(isPretty: true), lost)
        case .kdbx:
            guard let password else { throw ExchangeError.needsPassword }
            return try KDBXWriter.file(of: entries, password: password, now: now)
        case .csv: return CSVWriter.file(of: entries)
        case .otpauth: return OTPAuthWriter.file(of: entries)
        case .env: return EnvWriter.file(of: entries)
        case .aegis, .netrc, .dump, .onePassword:
            throw ExchangeError.malformed(format, "this format is read, and not written")
        }
    }
}

/// FIDO's Credential Exchange Format, version 1.0, in plain JSON.
enum CXFWriter {
    static func file(of entries: [ExchangeEntry], now: Date) -> JSONValue {
        // What belongs together in a file has identifiers; those of entries that have none are new.
        let items = entries.map { ($0, $0.identifier ?? newIdentifier()) }
        var folders: [String: [JSONValue]] = [:]
        for (entry, identifier) in items {
            if let folder = entry.folder { folders[folder, default: []].append(.object(["item": .string(identifier)])) }
        }
        let collections = folders.sorted { $0.key < $1.key }.map { name, items in
            JSONValue.object(["id": .string(newIdentifier()), "title": .string(name), "items": .array(items)])
        }
        return .object([
            "version": .object(["major": .integer(1), "minor": .integer(0)]),
            "exporterRpId": .string("keychain.invalid"), "exporterDisplayName": .string("keychain"),
            "timestamp": seconds(now),
            "accounts": .array([
                .object([
                    "id": .string(newIdentifier()), "username": .string(""), "email": .string(""),
                    "collections": .array(collections), "items": .array(items.map { item($0.0, $0.1) }),
                ])
            ]),
        ])
    }

    private static func newIdentifier() -> String { UnpaddedBase64.url.string([UInt8].random(count: 16)) }

    private static func seconds(_ date: Date) -> JSONValue {
        .integer(Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)
    }

    private static func item(_ entry: ExchangeEntry, _ identifier: String) -> JSONValue {
        var members = entry.rest
        members["id"] = .string(identifier)
        members["title"] = .string(entry.title)
        members["creationAt"] = entry.created.map(seconds)
        members["modifiedAt"] = entry.modified.map(seconds)
        if entry.isFavorite { members["favorite"] = .bool(true) }
        if !entry.tags.isEmpty { members["tags"] = .array(entry.tags.map(JSONValue.string)) }
        if !entry.addresses.isEmpty {
            var scope = members["scope"]?.object ?? [:]
            scope["urls"] = .array(entry.addresses.map(JSONValue.string))
            if scope["androidApps"] == nil { scope["androidApps"] = .array([]) }
            members["scope"] = .object(scope)
        }
        // What was read with members that nobody here knows keeps them.
        var kept = members["credentials"]?.elements ?? []
        func base(_ type: String, also other: String? = nil) -> [String: JSONValue] {
            let place = kept.firstIndex { $0["type"]?.text == type || other != nil && $0["type"]?.text == other }
            var base = place.map { kept.remove(at: $0).object ?? [:] } ?? [:]
            base["type"] = .string(type)
            return base
        }
        var credentials: [JSONValue] = []
        if entry.username != nil || entry.password != nil {
            var login = base("basic-auth", also: "login")
            login["urls"] = nil
            login["username"] = entry.username.map { field($0, "string", in: login["username"]) }
            login["password"] = entry.password.map { field($0, "concealed-string", in: login["password"]) }
            credentials.append(.object(login))
        }
        if let password = entry.oneTimePassword {
            var code = base("totp")
            code["secret"] = .string(password.secretText)
            code["algorithm"] = .string(password.algorithm.rawValue.lowercased())
            if case .digits(let digits) = password.form { code["digits"] = .integer(Int64(digits)) }
            if case .time(let period) = password.factor { code["period"] = .integer(Int64(period)) }
            code["issuer"] = password.issuer.map(JSONValue.string)
            code["username"] = password.account.map(JSONValue.string)
            credentials.append(.object(code))
        }
        if let note = entry.note {
            var credential = base("note")
            credential["content"] = field(note, "string", in: credential["content"])
            credentials.append(.object(credential))
        }
        if !entry.fields.isEmpty {
            let fields = entry.fields.map { each in
                JSONValue.object([
                    "fieldType": .string(each.isConcealed ? "concealed-string" : "string"), "label": .string(each.name),
                    "value": .string(each.value),
                ])
            }
            credentials.append(.object(["type": .string("custom-fields"), "fields": .array(fields)]))
        }
        for key in entry.keys {
            var credential: [String: JSONValue] = [
                "type": .string("ssh-key"), "privateKey": .string(UnpaddedBase64.url.string(key.document)),
            ]
            credential["keyComment"] = key.name.map(JSONValue.string)
            credential["keyType"] = key.publicKey?.split(separator: " ").first.map { .string(String($0)) }
            credentials.append(.object(credential))
        }
        for former in entry.history.reversed() {
            credentials.append(.object(["type": .string("generated-password"), "password": .string(former.password)]))
        }
        members["credentials"] = .array(credentials + entry.passkeys + kept)
        return .object(members)
    }

    private static func field(_ value: String, _ type: String, in present: JSONValue?) -> JSONValue {
        var field = present?.object ?? [:]
        field["value"] = .string(value)
        if field["fieldType"] == nil { field["fieldType"] = .string(type) }
        return .object(field)
    }
}

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

/// Comma-separated values with the columns of Apple Passwords and Safari.
enum CSVWriter {
    static func file(of entries: [ExchangeEntry]) -> (Data, [ExchangeContents.Problem]) {
        var lost: [ExchangeContents.Problem] = []
        var rows = [["Title", "URL", "Username", "Password", "Notes", "OTPAuth"]]
        for entry in entries {
            guard entry.password != nil || entry.username != nil || entry.note != nil || entry.oneTimePassword != nil
            else {
                lost.append(.init(entry.title, "it has no password"))
                continue
            }
            rows.append([
                entry.title, entry.addresses.first ?? "", entry.username ?? "", entry.password ?? "", entry.note ?? "",
                entry.oneTimePassword?.uri ?? "",
            ])
            let hasMore =
                entry.addresses.count > 1 || !entry.fields.isEmpty || !entry.history.isEmpty || !entry.keys.isEmpty
                || !entry.passkeys.isEmpty || !entry.attachments.isEmpty || !entry.rest.isEmpty
            if hasMore { lost.append(.init(entry.title, "a part of it has no column in this format")) }
        }
        let lines = rows.map { row in row.map(quoted).joined(separator: ",") + "\r\n" }
        return (Data(lines.joined().utf8), lost)
    }

    private static func quoted(_ value: String) -> String {
        let needsQuotes = value.utf8.contains { "\",\r\n".utf8.contains($0) } || value.first == " " || value.last == " "
        return needsQuotes ? "\"" + value.replacing("\"", with: "\"\"") + "\"" : value
    }
}

/// One `otpauth://` address in each line.
enum OTPAuthWriter {
    static func file(of entries: [ExchangeEntry]) -> (Data, [ExchangeContents.Problem]) {
        var (lines, lost): (String, [ExchangeContents.Problem]) = ("", [])
        for entry in entries {
            if let password = entry.oneTimePassword {
                var password = password
                if password.issuer == nil { password.issuer = entry.title }
                if password.account == nil { password.account = entry.username }
                lines += password.uri + "\n"
            } else {
                lost.append(.init(entry.title, "it has no one-time code"))
            }
        }
        return (Data(lines.utf8), lost)
    }
}

/// `NAME='value'` lines for shells, Compose and systemd.
enum EnvWriter {
    static func file(of entries: [ExchangeEntry]) -> (Data, [ExchangeContents.Problem]) {
        var (lines, lost): (String, [ExchangeContents.Problem]) = ("", [])
        var names: Set<String> = []
        for entry in entries {
            let name = name(entry.username.flatMap { $0.isEmpty ? nil : $0 } ?? entry.title)
            guard let password = entry.password, !password.contains("\0") else {
                lost.append(.init(entry.title, "it has no password"))
                continue
            }
            guard names.insert(name).inserted else {
                lost.append(.init(entry.title, "another one is called \(name) already"))
                continue
            }
            lines += "\(name)=\(quoted(password))\n"
        }
        return (Data(lines.utf8), lost)
    }

    private static func name(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            let isPart = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x5F
            name.unicodeScalars.append(isPart ? Unicode.Scalar(byte) : "_")
        }
        return name.first?.isNumber ?? true ? "_" + name : name
    }

    private static func quoted(_ value: String) -> String {
        guard value.contains("'") || value.contains(where: \.isNewline) else { return "'\(value)'" }
        var quoted = "\""
        for character in value {
            switch character {
            case "\"", "\\", "$", "`": quoted += "\\\(character)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            default: quoted.append(character)
            }
        }
        return quoted + "\""
    }
}
