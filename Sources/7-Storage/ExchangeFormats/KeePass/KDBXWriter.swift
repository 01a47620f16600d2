import Bytes
import Crypto
import CryptoExtras
import FoundationEssentials
import PasswordFiles

/// Writes a KeePass database of version 4.0, as KeePassXC makes it: Argon2id, AES-256 and, for values, ChaCha20.
struct KDBXWriter {
    /// 64 MiB, which phones have, and about a second.
    private static let memoryKiB: UInt32 = 64 << 10
    private static let passes: UInt32 = 10

    /// From the beginning of the year 1 to that of 1970, in seconds.
    static let secondsBefore1970: Int64 = 62_135_596_800
    /// Where KeePassXC and Keepass2Android put further addresses.
    static let otherAddress = "KP2A_URL"
    /// The tag of Strongbox for what is a favorite.
    static let favorite = "Favorite"
    /// The field that the time of expiry becomes.
    static let expiry = "expires"

    private var lost: [ExchangeContents.Problem] = []
    private var files: [Data] = []
    private var identifiers: Set<UUID> = []
    private let now: Date

    static func file(
        of entries: [ExchangeEntry], password: SecretBytes, now: Date
    ) throws -> (Data, [ExchangeContents.Problem]) {
        var writer = KDBXWriter(now: now)
        var xml = KDBXXML()
        writer.write(entries, &xml)
        let innerKey = Data([UInt8].random(count: 64))
        guard let document = xml.document(innerKey: innerKey) else { throw VaultMemoryError() }
        var plain = Data()
        func add(_ kind: UInt8, _ value: Data) throws(ExchangeError) {
            guard let count = UInt32(exactly: value.count) else { throw .tooLarge }
            plain += [kind] + count.littleEndianBytes
            plain += value
        }
        try add(1, Data(KDBXStream.Inner.chaCha20.rawValue.littleEndianBytes))
        try add(2, innerKey)
        // Each file is to be protected in memory.
        for file in writer.files { try add(3, [1] + file) }
        try add(0, Data())
        return (try sealed(plain + document, password), writer.lost)
    }

    private init(now: Date) { self.now = now }

    // MARK: The file

    private static func sealed(_ plain: Data, _ password: SecretBytes) throws -> Data {
        let (seed, vector, salt) = (
            Data([UInt8].random(count: 32)), Data([UInt8].random(count: 16)), [UInt8].random(count: 16)
        )
        let parameters = KDBXDictionary.encoded([
            ("$UUID", .bytes(Data([UInt8](hexadecimal: "9e298b1956db4773b23dfc3ec6f0a1e6".utf8) ?? []))),
            ("V", .number32(Argon2Lanes.Version.rfc.rawValue)), ("S", .bytes(Data(salt))),
            ("M", .number64(UInt64(memoryKiB) << 10)), ("I", .number64(UInt64(passes))), ("P", .number32(1)),
        ])
        var header = KDBXHeader.signature + [0, 0, 4, 0]
        func add(_ field: KDBXHeader.Field, _ value: Data) {
            header += [field.rawValue] + UInt32(clamping: value.count).littleEndianBytes
            header += value
        }
        add(.cipher, Data([UInt8](hexadecimal: KDBXHeader.aes.utf8) ?? []))
        // Not compressed: how well secrets can be compressed tells something of them.
        add(.compression, Data(UInt32(0).littleEndianBytes))
        add(.masterSeed, seed)
        add(.vector, vector)
        add(.derivation, parameters)
        add(.end, Data([0x0D, 0x0A, 0x0D, 0x0A]))
        let composite = try KDBXKey.composite(password: password, keyFile: nil)
        let argon2 = try Argon2Lanes(.id, memoryKiB: memoryKiB, passes: passes, lanes: 1)
        let key = KDBXFile.Transformed(try argon2.stretch(composite, salt: salt), seed: seed)
        var file = header + SHA256.hash(data: header)
        file += HMAC<SHA256>.authenticationCode(for: header, using: key.code(of: .max))
        let ciphertext = try AES._CBC.encrypt(plain, using: key.encryption, iv: AES._CBC.IV(ivBytes: vector))
        let size = 1 << 20
        for (number, start) in stride(from: 0, to: ciphertext.count, by: size).enumerated() {
            append(Data(ciphertext[start..<min(start + size, ciphertext.count)]), UInt64(clamping: number), key, &file)
        }
        append(Data(), UInt64(clamping: (ciphertext.count + size - 1) / size), key, &file)
        return file
    }

    private static func append(_ block: Data, _ number: UInt64, _ key: KDBXFile.Transformed, _ file: inout Data) {
        let message = KDBXFile.Transformed.message(number, block)
        file += HMAC<SHA256>.authenticationCode(for: message, using: key.code(of: number))
        // The message has the number of the block before its length.
        file += message.dropFirst(8)
    }

    // MARK: The document

    /// Entries of a folder, and the folders in it.
    private struct Group {
        var entries: [ExchangeEntry] = []
        var groups: [String: Group] = [:]

        mutating func add(_ entry: ExchangeEntry, at path: ArraySlice<String>) {
            guard let name = path.first else { return entries.append(entry) }
            groups[name, default: Group()].add(entry, at: path.dropFirst())
        }
    }

    /// Deeper folders are joined in one name.
    private static let deepest = 32

    private mutating func write(_ entries: [ExchangeEntry], _ xml: inout KDBXXML) {
        var root = Group()
        for entry in entries {
            let path = (entry.folder ?? "").split(separator: "/", maxSplits: Self.deepest).map(String.init)
            root.add(entry, at: path[...])
        }
        xml.element("KeePassFile") { xml in
            xml.element("Meta") { xml in
                xml.element("Generator", "keychain")
                xml.element("DatabaseName", "keychain")
                xml.element("MemoryProtection") { $0.element("ProtectPassword", "True") }
                xml.element("RecycleBinEnabled", "True")
                xml.element("RecycleBinUUID", Data(count: 16).base64EncodedString())
            }
            xml.element("Root") { self.write(root, "Root", &$0) }
        }
    }

    private mutating func write(_ group: Group, _ name: String, _ xml: inout KDBXXML) {
        xml.element("Group") { xml in
            xml.element("UUID", Self.text(of: UUID()))
            xml.element("Name", name)
            for entry in group.entries { self.write(entry, &xml) }
            for (name, group) in group.groups.sorted(by: { $0.key < $1.key }) { self.write(group, name, &xml) }
        }
    }

    private static func text(of identifier: UUID) -> String {
        withUnsafeBytes(of: identifier.uuid) { Data($0) }.base64EncodedString()
    }

    private static func text(of date: Date) -> String {
        let seconds = Int64(clamping: date.timeIntervalSince1970.rounded(.down)).addingReportingOverflow(
            secondsBefore1970
        ).partialValue
        return Data(seconds.littleEndianBytes).base64EncodedString()
    }

    private mutating func write(_ entry: ExchangeEntry, _ xml: inout KDBXXML) {
        var identifier = entry.identifier.flatMap(UUID.init(uuidString:)) ?? UUID()
        if !identifiers.insert(identifier).inserted { identifier = UUID() }
        var fields = entry.fields
        let expiry = fields.firstIndex { field in
            field.name == Self.expiry && !field.isConcealed && (try? Date(field.value, strategy: .iso8601)) != nil
        }.flatMap { try? Date(fields.remove(at: $0).value, strategy: .iso8601) }
        let values = values(of: entry, fields)
        let attachments = attachments(of: entry)
        let states = Self.states(of: entry)
        if !entry.rest.isEmpty { lost.append(.init(entry.title, "a part of it has no place in this format")) }
        xml.element("Entry") { xml in
            xml.element("UUID", Self.text(of: identifier))
            let tags = entry.tags + (entry.isFavorite ? [Self.favorite] : [])
            if !tags.isEmpty { xml.element("Tags", tags.joined(separator: ";")) }
            self.writeTimes(entry.created, entry.modified, expiry, &xml)
            Self.writeBasics(entry, password: entry.password, &xml)
            for (name, value, isConcealed) in values { Self.write(name, value, isConcealed: isConcealed, &xml) }
            for (name, number) in attachments {
                xml.element("Binary") { xml in
                    xml.element("Key", name)
                    xml.element("Value", "", " Ref=\"\(number)\"")
                }
            }
            guard !states.isEmpty else { return }
            xml.element("History") { xml in
                for state in states {
                    xml.element("Entry") { xml in
                        xml.element("UUID", Self.text(of: identifier))
                        self.writeTimes(entry.created, state.began, nil, &xml)
                        Self.writeBasics(entry, password: state.password, &xml)
                    }
                }
            }
        }
    }

    private func writeTimes(_ created: Date?, _ modified: Date?, _ expiry: Date?, _ xml: inout KDBXXML) {
        xml.element("Times") { xml in
            if let modified { xml.element("LastModificationTime", Self.text(of: modified)) }
            if let date = created ?? modified { xml.element("CreationTime", Self.text(of: date)) }
            xml.element("LastAccessTime", Self.text(of: modified ?? created ?? now))
            xml.element("ExpiryTime", Self.text(of: expiry ?? now))
            xml.element("Expires", expiry == nil ? "False" : "True")
            xml.element("UsageCount", "0")
            xml.element("LocationChanged", Self.text(of: modified ?? created ?? now))
        }
    }

    private static func write(_ name: String, _ value: String, isConcealed: Bool, _ xml: inout KDBXXML) {
        xml.element("String") { xml in
            xml.element("Key", name)
            // A value that is encrypted can have any characters.
            if isConcealed || !KDBXXML.canHold(value) {
                xml.sealed("Value", value)
            } else {
                xml.element("Value", value)
            }
        }
    }

    private static func writeBasics(_ entry: ExchangeEntry, password: String?, _ xml: inout KDBXXML) {
        write("Title", entry.title, isConcealed: false, &xml)
        write("UserName", entry.username ?? "", isConcealed: false, &xml)
        write("Password", password ?? "", isConcealed: true, &xml)
        write("URL", entry.addresses.first ?? "", isConcealed: false, &xml)
        write("Notes", entry.note ?? "", isConcealed: false, &xml)
    }

    /// The values besides the five that each entry has. A name is there once.
    private mutating func values(
        of entry: ExchangeEntry, _ fields: [ExchangeEntry.Field]
    ) -> [(String, String, isConcealed: Bool)] {
        var values: [(String, String, isConcealed: Bool)] = []
        var names: Set<String> = ["Title", "UserName", "Password", "URL", "Notes"]
        func add(_ name: String, _ value: String, _ isConcealed: Bool) {
            var (unique, number) = (name.isEmpty ? "field" : name, 2)
            while !names.insert(unique).inserted {
                unique = "\(name.isEmpty ? "field" : name) \(number)"
                number += 1
            }
            values.append((unique, value, isConcealed))
        }
        for (number, address) in entry.addresses.dropFirst().enumerated() {
            add(number == 0 ? Self.otherAddress : "\(Self.otherAddress)_\(number)", address, false)
        }
        if let code = entry.oneTimePassword {
            for (name, value) in KDBXCode.fields(code) { add(name, value, true) }
        }
        if let passkey = entry.passkeys.first {
            if let fields = KDBXPasskey.fields(passkey) {
                for (name, value) in fields.sorted(by: { $0.key < $1.key }) { add(name, value, true) }
            } else {
                lost.append(.init(entry.title, "its passkey has no key that can be written"))
            }
        }
        if entry.passkeys.count > 1 {
            lost.append(.init(entry.title, "it has several passkeys, and an entry has room for one in this format"))
        }
        for field in fields { add(field.name, field.value, field.isConcealed) }
        return values
    }

    private mutating func attachments(of entry: ExchangeEntry) -> [(String, Int)] {
        var attachments = entry.attachments
        for (number, key) in entry.keys.enumerated() {
            let name = key.name ?? (number == 0 ? "key" : "key \(number + 1)")
            attachments.append(.init(name: name, contents: Data(key.text.utf8)))
            if number == 0 {
                attachments.append(.init(name: KDBXAgent.file, contents: KDBXAgent.settings(naming: name)))
            }
        }
        var names: Set<String> = []
        return attachments.map { file in
            var (name, number) = (file.name, 2)
            while !names.insert(name).inserted {
                name = "\(file.name) \(number)"
                number += 1
            }
            files.append(file.contents)
            return (name, files.count - 1)
        }
    }

    /// The former states of an entry, the oldest first. Each began when the one before it ended.
    private static func states(of entry: ExchangeEntry) -> [(password: String, began: Date?)] {
        guard let last = entry.history.last else { return [] }
        var states: [(password: String, began: Date?)] = []
        var began = entry.created
        for former in entry.history {
            states.append((former.password, began))
            began = former.ended
        }
        // Something else changed after the password did.
        if last.ended != entry.modified { states.append((entry.password ?? "", last.ended)) }
        return states
    }
}

extension ExchangeEntry.Key {
    /// The key as text: PKCS#8 as PEM, or as it is.
    var text: String {
        if let text = String(validating: document, as: UTF8.self), text.hasPrefix("-----BEGIN ") { return text }
        let lines = document.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PRIVATE KEY-----\n\(lines)\n-----END PRIVATE KEY-----\n"
    }
}
