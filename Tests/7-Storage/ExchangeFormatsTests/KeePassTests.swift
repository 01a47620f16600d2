import Bytes
import Crypto
import ExchangeFormats
import Foundation
import OneTimeCodes
import TestSupport
import Testing

/// Databases of KeePass, with three other programs: KeePassXC, pykeepass, and a writer in Python of all kinds of files.
@Suite struct KeePassTests {
    private static let peer = Repository.file("Tests/7-Storage/ExchangeFormatsTests/Peer/keepass.py").path
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns a database of the writer in Python: version, cipher, derivation, inner cipher and compression.
    private func database(
        _ kind: String = "4 aes aes-kdf chacha20 1", password: String = "pässword", keyFile: String = "",
        change: String = ""
    ) throws -> Data {
        let path = folder.path(of: "peer.kdbx")
        let words = kind.split(separator: " ").map(String.init)
        let outcome = try ProgramStart(
            ["/usr/bin/python3", Self.peer, "write", path, password] + words + [keyFile, change]
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func read(_ file: Data, password: String? = "pässword", keyFile: Data? = nil) throws -> ExchangeContents {
        try ExchangeReader.entries(in: file, named: "x.kdbx", keyFile: keyFile) {
            try password.map { try SecretBytes($0) }
        }
    }

    private func keepassxc(_ arguments: [String], input: String) throws -> ProgramOutcome {
        var environment = ["QT_QPA_PLATFORM=offscreen", "HOME=\(folder.path)", "LC_ALL=C.UTF-8"]
        environment.append("PATH=/usr/bin:/bin")
        return try ProgramStart(["keepassxc-cli"] + arguments, environment: environment).run(input: Data(input.utf8))
    }

    // MARK: Reading

    @Test(arguments: [
        "4 aes argon2id chacha20 1", "4 chacha20 argon2d salsa20 0", "4 chacha20 argon2d-10 chacha20 1",
        "4 aes aes-kdf chacha20 0", "3 aes aes-kdf salsa20 1", "3 chacha20 aes-kdf chacha20 0",
    ])
    func everyKindOfDatabase(_ kind: String) throws {
        let file = try database(kind)
        // KeePassXC agrees that the file is one.
        let other = try keepassxc(["export", "-q", "-f", "csv", folder.path(of: "peer.kdbx")], input: "pässword\n")
        #expect(other.text.contains("Exämple <&>") && other.text.contains("Thrown away"), "\(other.errors)")

        #expect(ExchangeReader.format(of: file) == .kdbx)
        let contents = try read(file)
        #expect(
            contents.entries.map(\.title) == [
                "Exämple <&>", "Note", "Reference", "Passkey", "Server", "KeePass 2", "Counter", "KeeOtp", "Tray",
                "Steam", "Broken",
            ])
        #expect(contents.problems.map(\.name) == ["Broken", "Thrown away"])
        #expect(contents.problems.allSatisfy { !$0.isLoss })
        let entry = contents.entries[0]
        #expect(entry.username == "alice" && entry.password == "néw & \u{1} <x>" && entry.note == "line 1\nline 2")
        #expect(
            entry.addresses == ["https://example.com/login?a=1&b=2", "https://a.example", "https://b.example"])
        #expect(entry.identifier == "01010101-0101-0101-0101-010101010101" && entry.folder == nil)
        #expect(entry.tags == ["code"] && entry.isFavorite)
        #expect(
            entry.fields == [
                .init("pin", "1234", isConcealed: true), .init("team", "red", isConcealed: false),
                .init("expires", "2030-01-01T00:00:00Z", isConcealed: false),
            ])
        #expect(entry.created == Date(timeIntervalSince1970: 1_577_934_245))
        #expect(entry.modified == Date(timeIntervalSince1970: 1_677_664_800))
        #expect(
            entry.history == [
                .init(password: "old1", ended: Date(timeIntervalSince1970: 1_609_495_200)),
                .init(password: "old2", ended: entry.modified),
            ])
        #expect(entry.attachments.map(\.name) == ["a.txt", "b.bin"])
        #expect(entry.attachments[0].contents == Data("a file\n".utf8))
        #expect(entry.attachments[1].contents == Data((0..<40).flatMap { _ in Array(UInt8(0)...255) }))
        #expect(entry.oneTimePassword?.issuer == "Ex")
        let others = contents.entries
        #expect(others[1].folder == "Work/Ops & Co" && others[1].password == nil && others[1].note == "only text")
        #expect(others[2].password == entry.password)
        #expect(others[3].passkeys.first?["rpId"]?.text == "example.org")
        #expect(others[3].passkeys.first?["credentialId"]?.text == "AQID" && others[3].fields.isEmpty)
        #expect(others[4].keys.map(\.name) == ["id_ed25519"] && others[4].attachments.isEmpty)
        let codes = others.compactMap(\.oneTimePassword)
        #expect(codes.count == 6)
        #expect(codes[1].algorithm == .sha256 && codes[1].form == .digits(8) && codes[1].factor == .time(period: 60))
        #expect(codes[2].factor == .counter(7) && codes[2].secretText == "JBSWY3DPEHPK3PXP")
        #expect(codes[3].form == .digits(8) && codes[3].factor == .time(period: 60))
        #expect(codes[4].form == .digits(7) && codes[5].form == .steam)
        #expect(others[10].fields.map(\.value) == ["otpauth://totp/x?secret=!!"])
    }

    @Test func passwordsAndKeyFiles() throws {
        let file = try database()
        #expect(throws: ExchangeError.needsPassword) { try read(file, password: nil) }
        #expect(throws: ExchangeError.wrongPasswordOrKeyFile) { try read(file, password: "password") }
        #expect(throws: ExchangeError.wrongPasswordOrKeyFile) { try read(file, keyFile: Data("x".utf8)) }
        #expect(throws: ExchangeError.wrongPasswordOrKeyFile) {
            try read(database("3 aes aes-kdf salsa20 1"), password: "password")
        }
        let key = Data((UInt8(0)..<32).map { $0 * 7 })
        let hex = key.map { String(format: "%02X", $0) }.joined()
        let hash = SHA256.hash(data: key).prefix(4).map { String(format: "%02X", $0) }.joined()
        let xml2 =
            "<?xml version=\"1.0\"?><KeyFile><Meta><Version>2.0</Version></Meta><Key><Data Hash=\"\(hash)\">\n"
            + "  \(hex.prefix(32)) \(hex.suffix(32))\n</Data></Key></KeyFile>"
        let keyFiles = [
            key, Data(hex.utf8), Data("anything at all".utf8), Data(xml2.utf8),
            Data(
                "<KeyFile><Meta><Version>1.00</Version></Meta><Key><Data>\(key.base64EncodedString())</Data></Key></KeyFile>"
                    .utf8),
        ]
        let path = folder.path(of: "key")
        for (number, keyFile) in keyFiles.enumerated() {
            try keyFile.write(to: URL(fileURLWithPath: path))
            for (kind, password) in [("4 aes aes-kdf chacha20 1", "pw"), ("3 aes aes-kdf salsa20 0", "")] {
                let file = try database(kind, password: password, keyFile: path)
                #expect(try read(file, password: password, keyFile: keyFile).entries.count == 11, "\(number)")
                #expect(throws: ExchangeError.wrongPasswordOrKeyFile) { try read(file, password: password) }
            }
            // KeePassXC reads the same key of it.
            try FileManager.default.copyItem(atPath: path, toPath: folder.path(of: "key\(number)"))
            let other = try keepassxc(
                ["ls", "-q", "--no-password", "-k", path, folder.path(of: "peer.kdbx")], input: "")
            #expect(other.text.contains("Exämple"), "\(number): \(other.errors)")
        }
        let damaged = Data(xml2.replacingOccurrences(of: "Hash=\"", with: "Hash=\"00").utf8)
        #expect(throws: ExchangeError.malformed(.kdbx, "its key file is damaged: take a copy of the key file")) {
            try read(file, keyFile: damaged)
        }
    }

    /// KeePassXC's own database, with what its program for the command line can put there.
    @Test func databaseOfKeePassXC() throws {
        let path = folder.path(of: "xc.kdbx")
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try bytes.write(to: URL(fileURLWithPath: folder.path(of: "in.bin")))
        for (arguments, input) in [
            (["db-create", "-q", "-p", "-t", "100", path], "pw\npw\n"), (["mkdir", "-q", path, "Work"], "pw\n"),
            (
                ["add", "-q", "-p", "-u", "alice", "--url", "https://a.example", "--notes", "n", path, "Work/One"],
                "pw\nfirst\n"
            ),
            (["edit", "-q", "-p", path, "Work/One"], "pw\nsecond\n"),
            (["attachment-import", "-q", path, "Work/One", "in.bin", folder.path(of: "in.bin")], "pw\n"),
        ] {
            let outcome = try keepassxc(arguments, input: input)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        // The same, as the XML that it exports; of version 4 it has no files.
        let early = try read(Data(contentsOf: URL(fileURLWithPath: path)), password: "pw").entries
        let xml = try keepassxc(["export", "-q", "-f", "xml", path], input: "pw\n").output
        #expect(try read(xml, password: nil).entries == early)

        for (arguments, input) in [
            (["add", "-q", "-p", path, "Gone"], "pw\nx\n"), (["rm", "-q", path, "Gone"], "pw\n"),
        ] {
            let outcome = try keepassxc(arguments, input: input)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        let contents = try read(Data(contentsOf: URL(fileURLWithPath: path)), password: "pw")
        #expect(contents.problems == [.init("Gone", "it is in the bin there", isLoss: false)])
        let entry = try #require(contents.entries.first)
        #expect(contents.entries.count == 1 && entry.title == "One" && entry.folder == "Work")
        #expect(entry.password == "second" && entry.history.map(\.password) == ["first"] && entry.note == "n")
        #expect(entry.attachments == [.init(name: "in.bin", contents: bytes)])
        #expect(contents.entries == early)
    }

    @Test func databaseOfPykeepass() throws {
        let path = folder.path(of: "py.kdbx")
        let outcome = try ProgramStart(["/usr/bin/python3", Self.peer, "create", path, "pw"]).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let contents = try read(Data(contentsOf: URL(fileURLWithPath: path)), password: "pw")
        let entry = try #require(contents.entries.first)
        #expect(contents.entries.count == 1 && contents.problems.isEmpty)
        #expect(entry.title == "Site" && entry.folder == "Work/Ops" && entry.tags == ["a", "b"])
        #expect(entry.password == "two" && entry.history.map(\.password) == ["one"])
        #expect(entry.oneTimePassword?.account == "dora" && entry.note == "n\nm")
        #expect(entry.attachments == [.init(name: "all.bin", contents: Data(UInt8(0)...255))])
        #expect(Set(entry.fields.map(\.name)) == ["plain", "expires"])
    }

    // MARK: Writing

    /// What the format has a place for.
    private static func entries() throws -> [ExchangeEntry] {
        var login = ExchangeEntry(title: "Exämple <&> \"x\"")
        login.identifier = "3f1f5ab6-1f0a-4a6c-9ed5-111111111111"
        login.created = Date(timeIntervalSince1970: 1_600_000_000)
        login.modified = Date(timeIntervalSince1970: 1_700_000_000)
        login.addresses = ["https://a.example/?x=1&y=2", "https://b.example", "https://c.example"]
        (login.username, login.password) = ("alice", "p\u{1}ß<&>\r\n\t\u{1F600}")
        (login.note, login.folder, login.tags) = ("one\r\ntwo", "Work/Ops & Co", ["code", "red"])
        login.isFavorite = true
        login.fields = [
            .init("pin", "1234", isConcealed: true), .init("team", "red", isConcealed: false),
            .init("expires", "2030-01-01T00:00:00Z", isConcealed: false),
        ]
        login.history = [
            .init(password: "old1", ended: Date(timeIntervalSince1970: 1_610_000_000)),
            .init(password: "old2", ended: Date(timeIntervalSince1970: 1_620_000_000)),
        ]
        login.oneTimePassword = try OneTimePassword("otpauth://totp/A:alice?secret=JBSWY3DPEHPK3PXP&issuer=A&period=60")
        login.attachments = [.init(name: "a.bin", contents: Data(UInt8(0)...255)), .init(name: "b", contents: Data())]
        login.passkeys = [
            .object([
                "type": .string("passkey"), "credentialId": .string("AQID"), "key": .string("BwgJ"),
                "rpId": .string("a.example"), "username": .string("alice"), "userHandle": .string("BAUG"),
            ])
        ]
        var note = ExchangeEntry(title: "Note")
        (note.note, note.identifier) = ("only text", "3f1f5ab6-1f0a-4a6c-9ed5-222222222222")
        (note.created, note.modified) = (login.created, login.modified)
        var server = note
        (server.title, server.note, server.identifier) = ("Server", nil, "3f1f5ab6-1f0a-4a6c-9ed5-333333333333")
        server.username = "root"
        let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----\n"
        server.keys = [.init(name: "id", document: Data(pem.utf8))]
        return [note, server, login]
    }

    private func written(_ entries: [ExchangeEntry]) throws -> Data {
        let (file, lost) = try ExchangeWriter.file(of: entries, as: .kdbx, password: SecretBytes("wörd"), now: .now)
        #expect(lost.isEmpty)
        try file.write(to: URL(fileURLWithPath: folder.path(of: "ours.kdbx")))
        return file
    }

    @Test func whatIsWrittenComesBack() throws {
        let entries = try Self.entries()
        var found = try read(written(entries), password: "wörd").entries
        #expect(found.map(\.title) == entries.map(\.title))
        // The original of the passkey is kept beside it.
        let passkey = try #require(found[2].passkeys.first)
        for (name, value) in try #require(entries[2].passkeys[0].object) { #expect(passkey[name] == value) }
        found[2].passkeys = entries[2].passkeys
        #expect(found == entries)
        // And once more, which changes nothing.
        let first = try read(written(entries), password: "wörd").entries
        #expect(try read(written(first), password: "wörd").entries == first)
        #expect(throws: ExchangeError.needsPassword) {
            try ExchangeWriter.file(of: entries, as: .kdbx, password: nil, now: .now)
        }
    }

    private struct Found: Decodable {
        var version: [Int]
        var entries: [Entry]

        struct Entry: Decodable {
            var title, username, password, url, notes, folder, uuid: String
            var tags, protected, history: [String]
            var custom, files: [String: String]
            var modified: Int
            var expires: Bool
        }
    }

    @Test func pykeepassReadsWhatIsWritten() throws {
        let entries = try Self.entries()
        _ = try written(
            entries.map { entry in
                // lxml has no place for this character, which KeePassXC reads.
                var entry = entry
                entry.password = entry.password?.replacingOccurrences(of: "\u{1}", with: "")
                return entry
            })
        let outcome = try ProgramStart(["/usr/bin/python3", Self.peer, "read", folder.path(of: "ours.kdbx"), "wörd"])
            .run()
        let found = try JSONDecoder().decode(Found.self, from: outcome.output)
        #expect(found.version == [4, 0] && found.entries.map(\.title) == entries.map(\.title), "\(outcome.errors)")
        let login = try #require(found.entries.last)
        #expect(login.username == "alice" && login.password == "pß<&>\r\n\t\u{1F600}" && login.notes == "one\r\ntwo")
        #expect(login.url == "https://a.example/?x=1&y=2" && login.folder == "Work/Ops & Co")
        #expect(login.uuid == entries[2].identifier && login.tags == ["code", "red", "Favorite"])
        #expect(login.history == ["old1", "old2", login.password] && login.expires && login.modified == 1_700_000_000)
        #expect(login.custom["pin"] == "1234" && login.custom["team"] == "red")
        #expect(login.custom["KP2A_URL"] == "https://b.example" && login.custom["KP2A_URL_1"] == "https://c.example")
        #expect(login.custom["KPEX_PASSKEY_RELYING_PARTY"] == "a.example")
        for attachment in entries[2].attachments {
            let hash = SHA256.hash(data: attachment.contents).map { String(format: "%02x", $0) }.joined()
            #expect(login.files[attachment.name] == hash)
        }
    }

    @Test func keePassXCReadsWhatIsWritten() throws {
        let entries = try Self.entries()
        _ = try written(entries)
        let path = folder.path(of: "ours.kdbx")
        let xml = try keepassxc(["export", "-q", "-f", "xml", path], input: "wörd\n")
        let found = try read(xml.output, password: nil).entries
        #expect(found.map(\.title) == entries.map(\.title), "\(xml.errors)")
        let login = try #require(found.last)
        // Its XML has no place for the character, and no carriage returns.
        #expect(login.password == "pß<&>\n\t\u{1F600}" || login.password == "pß<&>\r\n\t\u{1F600}")
        // Nor does it have the files of version 4.
        #expect(login.history.map(\.password).prefix(2) == ["old1", "old2"])
        #expect(login.fields.map(\.name).sorted() == ["expires", "pin", "team"])
        #expect(login.created == entries[2].created && login.modified == entries[2].modified)
        #expect(login.tags == entries[2].tags && login.isFavorite && login.addresses == entries[2].addresses)
        let code = try keepassxc(["show", "-q", "-t", path, "Work/Ops & Co/\(entries[2].title)"], input: "wörd\n")
        let ours = entries[2].oneTimePassword
        let now = Date()
        let around = [now, now.addingTimeInterval(-60)].compactMap { ours?.code(at: $0) }
        #expect(around.contains(code.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(code.errors)")
        let files = [
            ("Work/Ops & Co/\(entries[2].title)", "a.bin", Data(UInt8(0)...255)),
            ("Server", "id", entries[1].keys[0].document),
        ]
        for (entry, name, contents) in files {
            let out = folder.path(of: name)
            _ = try keepassxc(["attachment-export", "-q", path, entry, name, out], input: "wörd\n")
            #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == contents)
        }
    }

    /// Names that KeePass uses itself, and names that are there twice.
    @Test func namesOfFieldsStayApart() throws {
        var entry = ExchangeEntry(title: "a\u{2}b")
        entry.password = "p"
        entry.fields = ["Title", "x", "x", ""].map { .init($0, "value of \($0)", isConcealed: false) }
        let found = try #require(try read(written([entry]), password: "wörd").entries.first)
        #expect(found.title == "a\u{2}b" && found.fields.map(\.name) == ["Title 2", "x", "x 2", "field"])
        #expect(found.fields.map(\.value) == entry.fields.map(\.value))
    }

    // MARK: Hostile files

    @Test(arguments: ["4 aes aes-kdf chacha20 1", "4 chacha20 argon2d chacha20 0", "3 aes aes-kdf salsa20 1"])
    func changedAndTruncatedFilesAreErrors(_ kind: String) throws {
        let file = try database(kind)
        // Every byte of the header, and some of the rest. A comment or the end's own bytes are covered by the hashes.
        for place in Array(0..<300) + Array(stride(from: 301, to: file.count, by: 61)) {
            var bytes = file
            bytes[place] ^= 0x41
            // Without its version and signature, the file is one of an unknown kind.
            #expect(throws: ExchangeError.self, "byte \(place)") {
                try ExchangeReader.entries(in: bytes, as: .kdbx, named: "") { try SecretBytes("pässword") }
            }
        }
        for count in Array(0..<300) + Array(stride(from: 301, to: file.count, by: 61)) {
            #expect(throws: ExchangeError.self, "\(count) bytes") {
                try ExchangeReader.entries(in: file.prefix(count), as: .kdbx, named: "") { try SecretBytes("pässword") }
            }
        }
    }

    @Test(arguments: [
        ("4 aes aes-kdf chacha20 1", "rounds=100000001"), ("3 aes aes-kdf salsa20 1", "rounds=18446744073709551615"),
        ("4 aes argon2d chacha20 1", "memory=1099511627776"), ("4 aes argon2id chacha20 1", "passes=4294967296"),
        ("4 aes argon2id chacha20 1", "lanes=4000000000"), ("4 aes argon2id chacha20 1", "lanes=0"),
        ("4 aes argon2id chacha20 1", "passes=100000"),
    ])
    func tooExpensiveFilesAreRefusedAtOnce(_ kind: String, _ change: String) throws {
        let file = try database(kind, change: change)
        #expect(throws: ExchangeError.tooExpensive) {
            try ExchangeReader.entries(in: file, named: "") {
                Issue.record("nobody is asked for the password of such a file")
                return nil
            }
        }
    }

    @Test func bombsEntitiesAndOtherCiphersAreRefused() throws {
        #expect(throws: ExchangeError.tooLarge) { try read(database(change: "bomb")) }
        let noXML = ExchangeError.malformed(.kdbx, "what is encrypted in it is no XML of KeePass")
        #expect(throws: noXML) { try read(database(change: "entities")) }
        let path = folder.path(of: "deep.xml")
        let deep = "<KeePassFile>" + String(repeating: "<Group>", count: 100_000)
        try Data(deep.utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: noXML) { try read(database(change: "xml=\(path)")) }
        #expect(
            throws: ExchangeError.malformed(
                .kdbx, "it is encrypted with Twofish: choose AES or ChaCha20 in its settings of security")
        ) { try read(database("4 twofish aes-kdf chacha20 1")) }
        let old = Data([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]) + Data(count: 200)
        #expect(
            throws: ExchangeError.malformed(.kdbx, "it is of KeePass 1: open it with KeePassXC, which saves it anew")
        ) { try read(old) }
    }
}
