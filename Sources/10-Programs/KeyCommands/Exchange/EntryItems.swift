import Access
import Bytes
import Certificates
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import OneTimeCodes
import PasswordCommands
import SSHAgent
import VaultKeys

/// The items of an entry of another password manager.
///
/// A login with an address is an internet password, without one a generic password with the title as its service. Its
/// one-time code is a password of its own, its private keys are keys, and what has no place in either is a password
/// too: fields with secrets, passkeys, and what another program keeps besides. An attribute with the same value, the
/// entry's number, holds them together.
struct EntryItems {
    /// The custom attribute with the entry's number.
    static let link = "entry"
    /// The longest note that is a comment. A longer one is among the details.
    private static let longestComment = 64 << 10

    /// What the entry is found by.
    var main: StoredItem
    var code: StoredItem?
    var details: StoredItem?
    /// The private and the public half of each key.
    var keys: [StoredItem] = []

    /// All of them, the main one first.
    var all: [StoredItem] { [main, code, details].compactMap(\.self) + keys }

    init(_ entry: ExchangeEntry, in group: String, now: Date) {
        let created = entry.created ?? entry.modified ?? now
        let modified = max(entry.modified ?? created, created)
        func item(
            _ itemClass: ItemClass, _ attributes: ItemAttributes, _ value: Data, _ protection: ProtectionClass? = nil
        ) -> StoredItem {
            StoredItem(
                itemClass: itemClass, identifier: UUID(), attributes: attributes, accessGroup: group,
                accessControl: AccessControl(protection: protection ?? itemClass.defaultProtection),
                isSynchronizable: false,
                creationDate: created.nearestStorable, modificationDate: modified.nearestStorable, value: value)
        }
        let addresses = entry.addresses.sorted { Self.isOfWeb($0) && !Self.isOfWeb($1) }
        let address = addresses.first.flatMap(Self.address)
        // An authenticator names the account beside the code.
        let isLogin =
            entry.password != nil
            || entry.username != nil && (entry.oneTimePassword == nil || !entry.addresses.isEmpty)
        var details = EntryDetails(entry)
        details.keys = []
        for key in entry.keys {
            guard let data = ImportedFile.privateKey(in: key.document) else {
                details.keys.append(key)
                continue
            }
            for (half, protection) in [(data, ProtectionClass.whenUnlocked), (data.publicKey, .always)] {
                let half = VaultKey(half)
                var attributes = half.storedAttributes
                attributes[.label] = .string(key.name ?? entry.title)
                keys.append(item(.key, attributes, half.storedValue, protection))
            }
        }
        var note = entry.note
        // A note alone is the secret.
        let isNote = !isLogin && note != nil
        if isLogin, let address {
            var attributes = address.attributes
            attributes[.account] = .string(entry.username ?? "")
            main = item(.internetPassword, attributes, Data((entry.password ?? "").utf8))
        } else {
            let value = entry.password ?? (isNote ? note : nil) ?? ""
            main = item(
                .genericPassword, [.service: .string(entry.title), .account: .string(entry.username ?? "")],
                Data(value.utf8))
        }
        main.attributes[.label] = .string(entry.title)
        if isNote {
            main.attributes[.itemDescription] = .string("secure note")
            note = nil
        }
        if let note {
            if note.utf8.count <= Self.longestComment {
                main.attributes[.comment] = .string(note)
            } else {
                details.note = note
            }
        }
        var custom = Self.attributes(of: entry, addresses, isKept: address != nil)
        for field in entry.fields {
            let isPlain =
                !field.isConcealed && custom[field.name] == nil && !Self.reserved(field.name) && custom.count < 48
                && [field.name: field.value].problem == nil
            if isPlain {
                custom[field.name] = field.value
            } else {
                details.fields.append(field)
            }
        }
        let hasMain =
            isLogin || isNote || !entry.fields.isEmpty || !details.isEmpty
            || entry.oneTimePassword == nil && keys.isEmpty
        let number = UUID().uuidString
        if let password = entry.oneTimePassword {
            let name = address?.host ?? password.issuer ?? entry.title
            var code = item(
                .genericPassword,
                [
                    .service: .string(EntryService.codePrefix + name),
                    .account: .string(password.account ?? entry.username ?? ""), .label: .string(entry.title),
                ], Data(password.uri.utf8))
            if hasMain {
                code.customAttributes[Self.link] = number
                self.code = code
            } else {
                if let note { code.attributes[.comment] = .string(note) }
                main = code
            }
        } else if !hasMain {
            // A private key alone, which has its name already.
            main = keys.removeFirst()
        }
        if !details.isEmpty, let value = try? details.json.encoded() {
            var item = item(
                .genericPassword,
                [.service: .string(EntryService.details), .account: .string(number), .label: .string(entry.title)],
                value
            )
            item.customAttributes[Self.link] = number
            self.details = item
        }
        for index in keys.indices { keys[index].customAttributes[Self.link] = number }
        if code != nil || self.details != nil || !keys.isEmpty { custom[Self.link] = number }
        main.customAttributes = custom
    }

    /// Uses the number of an entry that is there already.
    mutating func join(_ number: String) {
        guard code != nil || details != nil || !keys.isEmpty else { return }
        main.customAttributes[Self.link] = number
        code?.customAttributes[Self.link] = number
        details?.customAttributes[Self.link] = number
        details?.attributes[.account] = .string(number)
        for index in keys.indices { keys[index].customAttributes[Self.link] = number }
    }

    // MARK: Attributes

    private static let folder = "folder"
    private static let tags = "tags"
    private static let favorite = "favorite"
    private static let url = "url"

    static func reserved(_ name: String) -> Bool {
        [link, folder, tags, favorite].contains(name) || name == url || name.hasPrefix(url + " ")
    }

    private static func attributes(
        of entry: ExchangeEntry, _ addresses: [String], isKept: Bool
    ) -> CustomAttributes {
        var custom: CustomAttributes = [:]
        custom[folder] = entry.folder
        if !entry.tags.isEmpty { custom[tags] = entry.tags.joined(separator: ", ") }
        if entry.isFavorite { custom[favorite] = "yes" }
        for (number, text) in addresses.prefix(16).enumerated() {
            // The item itself says the first one, if it is no longer than that.
            if number == 0, isKept, address(text)?.url == text { continue }
            custom[number == 0 ? url : "\(url) \(number + 1)"] = text
        }
        return custom.filter { [$0.key: $0.value].problem == nil }
    }

    private static func isOfWeb(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("https://") || start.hasPrefix("http://")
    }

    /// Returns the address of an internet password. Of the pages of a site only the site counts, as in browsers.
    static func address(_ text: String) -> InternetAddress? {
        let plain = String(text.prefix { $0 != "?" && $0 != "#" })
        guard var address = InternetAddress(plain) else { return nil }
        // What is no host is a title.
        guard address.scheme != nil || address.host.contains(".") || address.host == "localhost" else { return nil }
        if isOfWeb(text) { address.path = nil }
        address.account = nil
        return address
    }

    // MARK: Back

    /// Returns the entry of items that belong together.
    ///
    /// - Parameters:
    ///   - main: With its value.
    ///   - others: Its one-time code, its details and its private keys, with their values.
    ///   - history: Its former passwords, the oldest first.
    static func entry(_ main: StoredItem, _ others: [StoredItem], history: [ExchangeEntry.Former]) -> ExchangeEntry {
        let title = text(main, .label) ?? text(main, .service) ?? text(main, .server) ?? "untitled"
        var entry = ExchangeEntry(title: title)
        (entry.created, entry.modified) = (main.creationDate, main.modificationDate)
        entry.note = text(main, .comment)
        entry.history = history
        let value = main.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
        var custom = main.customAttributes
        custom[link] = nil
        if let service = text(main, .service), service.hasPrefix(EntryService.codePrefix) {
            entry.oneTimePassword = try? OneTimePassword(value)
            entry.username = entry.oneTimePassword?.account
        } else if text(main, .itemDescription) == "secure note" {
            entry.note = value
        } else if main.itemClass == .key {
            if let key = key(main) { entry.keys.append(key) }
        } else {
            entry.username = text(main, .account)
            entry.password = value.isEmpty ? nil : value
        }
        if main.itemClass == .internetPassword { entry.addresses = [InternetAddress(main).url] }
        if let first = custom.removeValue(forKey: url) {
            if entry.addresses.isEmpty { entry.addresses = [first] } else { entry.addresses[0] = first }
        }
        for number in 2...17 {
            if let other = custom.removeValue(forKey: "\(url) \(number)") { entry.addresses.append(other) }
        }
        entry.folder = custom.removeValue(forKey: folder)
        entry.tags = custom.removeValue(forKey: tags)?.split(separator: ",").map { String($0.drop { $0 == " " }) } ?? []
        entry.isFavorite = custom.removeValue(forKey: favorite) == "yes"
        entry.fields = custom.sorted { $0.key < $1.key }.map { .init($0.key, $0.value, isConcealed: false) }
        for other in others {
            guard let value = other.value else { continue }
            if other.itemClass == .key {
                if let key = key(other) { entry.keys.append(key) }
            } else if text(other, .service) == EntryService.details {
                EntryDetails(JSONValue(parsing: value) ?? .null)?.add(to: &entry)
            } else {
                entry.oneTimePassword = try? OneTimePassword(String(decoding: value, as: UTF8.self))
            }
        }
        return entry
    }

    /// Returns the private key of an item as PKCS#8.
    private static func key(_ item: StoredItem) -> ExchangeEntry.Key? {
        guard let data = VaultKey.stored(in: item)?.keyData, let info = try? data.privateKeyInfo() else { return nil }
        var key = ExchangeEntry.Key(name: text(item, .label), document: info)
        key.publicKey = SSHPublicKey(data)?.line(comment: "")
        return key
    }

    static func text(_ item: StoredItem, _ name: AttributeName) -> String? {
        let text: String? =
            switch item.attribute(name) {
            case .string(let text): text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        return text?.isEmpty == false ? text : nil
    }
}

/// What an entry has that no attribute has room for: JSON with the members `id`, `note`, `fields`, `keys`, `passkeys`,
/// `attachments` and `rest`. Bytes are in Base64.
struct EntryDetails {
    var note: String?
    var fields: [ExchangeEntry.Field] = []
    private var identifier: String?
    var keys: [ExchangeEntry.Key]
    private var passkeys: [JSONValue]
    private var attachments: [ExchangeEntry.Attachment]
    private var rest: [String: JSONValue]

    init(_ entry: ExchangeEntry) {
        (keys, passkeys, attachments, rest) = (entry.keys, entry.passkeys, entry.attachments, entry.rest)
        identifier = entry.identifier
    }

    /// An identifier alone is no reason for an item.
    var isEmpty: Bool {
        note == nil && fields.isEmpty && keys.isEmpty && passkeys.isEmpty && attachments.isEmpty && rest.isEmpty
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [:]
        members["id"] = identifier.map(JSONValue.string)
        members["note"] = note.map(JSONValue.string)
        if !fields.isEmpty {
            members["fields"] = .array(
                fields.map {
                    .object(["name": .string($0.name), "value": .string($0.value), "concealed": .bool($0.isConcealed)])
                })
        }
        if !keys.isEmpty { members["keys"] = .array(keys.map { Self.file($0.name ?? "", $0.document) }) }
        if !passkeys.isEmpty { members["passkeys"] = .array(passkeys) }
        if !attachments.isEmpty { members["attachments"] = .array(attachments.map { Self.file($0.name, $0.contents) }) }
        if !rest.isEmpty { members["rest"] = .object(rest) }
        return .object(members)
    }

    private static func file(_ name: String, _ contents: Data) -> JSONValue {
        .object(["name": .string(name), "contents": .string(contents.base64EncodedString())])
    }

    /// - Returns: Nil for JSON of another kind.
    init?(_ json: JSONValue) {
        guard json.object != nil else { return nil }
        func files(_ name: String) -> [(name: String, contents: Data)] {
            (json[name]?.elements ?? []).compactMap { file in
                file["contents"]?.text.flatMap { Data(base64Encoded: $0) }.map { (file["name"]?.text ?? "", $0) }
            }
        }
        (identifier, note) = (json["id"]?.text, json["note"]?.text)
        fields = (json["fields"]?.elements ?? []).map {
            .init($0["name"]?.text ?? "", $0["value"]?.text ?? "", isConcealed: $0["concealed"] == .bool(true))
        }
        keys = files("keys").map { .init(name: $0.name.isEmpty ? nil : $0.name, document: $0.contents) }
        passkeys = json["passkeys"]?.elements ?? []
        attachments = files("attachments").map { .init(name: $0.name, contents: $0.contents) }
        rest = json["rest"]?.object ?? [:]
    }

    func add(to entry: inout ExchangeEntry) {
        entry.identifier = identifier
        entry.note = note ?? entry.note
        entry.fields += fields
        entry.keys += keys
        (entry.passkeys, entry.attachments, entry.rest) = (passkeys, attachments, rest)
    }
}
