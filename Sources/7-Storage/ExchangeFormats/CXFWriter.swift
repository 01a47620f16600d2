import Bytes
import FoundationEssentials
import OneTimeCodes

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
