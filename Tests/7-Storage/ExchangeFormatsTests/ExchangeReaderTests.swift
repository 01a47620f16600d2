import Bytes
import ExchangeFormats
import Foundation
import OneTimeCodes
import TestSupport
import Testing

/// Files of other programs, as those programs write them.
@Suite struct ExchangeReaderTests {
    private func read(
        _ text: String, as format: ExchangeFormat? = nil, named name: String = "file", password: String? = nil
    ) throws -> ExchangeContents {
        try ExchangeReader.entries(in: Data(text.utf8), as: format, named: name) {
            try password.map { try SecretBytes($0) }
        }
    }

    // MARK: JSON

    @Test func jsonIsReadAsItIsWritten() {
        let expected: [(text: String, value: JSONValue?)] = [
            (" null\n", .null), ("[true,false]", .array([.bool(true), .bool(false)])), ("{ }", .object([:])),
            ("[ ]", .array([])), (#"{"a":{"b":[]},"a":1}"#, .object(["a": .integer(1)])),
            (#""a\u00e4\ud83d\ude00\"\\\/\b\f\n\r\tä""#, .string("aä😀\"\\/\u{8}\u{C}\n\r\tä")),
            ("-0", .integer(0)), ("1.0", .integer(1)), ("1e3", .integer(1_000)), ("-2.5E-1", .real(-0.25)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .real(9_223_372_036_854_775_808)),
            ("", nil), ("01", nil), ("1.", nil), (".5", nil), ("+1", nil), ("-", nil), ("1e", nil), ("1e400", nil),
            ("0x1", nil), ("NaN", nil), ("nul", nil), ("1 2", nil), ("[1,]", nil), ("[1", nil), ("[1}", nil),
            ("[,1]", nil),
            ("{\"a\"}", nil), ("{\"a\":1,}", nil), ("{a:1}", nil), ("{1:1}", nil), ("\"", nil), ("\"\n\"", nil),
            (#""\ud83d""#, nil), (#""\ude00""#, nil), (#""\ud83d\u0041""#, nil), (#""\u00e""#, nil), (#""\x""#, nil),
            (#""\"#, nil), ("'a'", nil), ("//", nil),
        ]
        for (text, value) in expected { #expect(JSONValue(parsing: Data(text.utf8)) == value, "\(text)") }
        #expect(JSONValue(parsing: Data([0x22, 0xFF, 0x22])) == nil)
        #expect(
            JSONValue(parsing: Data((String(repeating: "[", count: 512) + String(repeating: "]", count: 512)).utf8))
                != nil)
        #expect(JSONValue(parsing: Data(String(repeating: "[", count: 1 << 20).utf8)) == nil)
        #expect(
            JSONValue(parsing: Data((String(repeating: "[", count: 513) + String(repeating: "]", count: 513)).utf8))
                == nil)
    }

    /// What is deep and wide takes no longer than what is as long and flat. A decoder that describes where each value
    /// stands does not end here.
    @Test func deepAndWideJSONIsRead() {
        let (depth, width) = (400, 100_000)
        let text =
            String(repeating: "[", count: depth) + String(repeating: "1,", count: width) + "1"
            + String(repeating: "]", count: depth)
        var value = JSONValue(parsing: Data(text.utf8))
        for _ in 1..<depth { value = value?.elements?.first }
        #expect(value?.elements?.count == width + 1)
    }

    // MARK: CXF

    private static let cxf = #"""
        {"version": {"major": 1, "minor": 0}, "exporterRpId": "exporter.example.com", "exporterDisplayName": "Exporter",
         "timestamp": 1705228800, "accounts": [{"id": "DZSXp7iBQY-Fg-OofakQtQ", "username": "jane", "email": "j@example.com",
         "collections": [{"id": "c1", "title": "Work", "items": [], "subCollections": [
           {"id": "c2", "title": "Ops", "items": [{"item": "9OF-QjVDQo2Wp2xWPw6ZhA"}]}]}],
         "items": [
          {"id": "9OF-QjVDQo2Wp2xWPw6ZhA", "creationAt": 1705142400, "modifiedAt": 1705228800, "title": "GitHub",
           "favorite": true, "tags": ["code"], "scope": {"urls": ["https://github.com/login"], "androidApps": [{"bundleId": "x"}]},
           "unknownMember": {"deep": [1, 2.5, null]},
           "credentials": [
            {"type": "basic-auth", "username": {"fieldType": "string", "value": "jane"},
             "password": {"fieldType": "concealed-string", "value": "s3cret", "extensions": [{"name": "x"}]}},
            {"type": "totp", "secret": "JBSWY3DPEHPK3PXP", "period": 30, "digits": 6, "algorithm": "sha1", "issuer": "GitHub"},
            {"type": "note", "content": {"fieldType": "string", "value": "a note"}},
            {"type": "passkey", "credentialId": "AQID", "rpId": "github.com", "username": "jane", "userDisplayName": "Jane",
             "userHandle": "BAUG", "key": "BwgJ", "fido2Extensions": {"hmacSecret": {}}},
            {"type": "credit-card", "number": {"fieldType": "concealed-string", "value": "4111"}}]},
          "no item",
          {"id": "2", "type": "login", "title": "Draft", "creationAt": 1705142400,
           "credentials": [{"type": "login", "urls": ["https://draft.example"], "username": "ann", "password": "pw"}]}]}]}
        """#

    @Test func anAccountOfCXF() throws {
        let contents = try read(Self.cxf)
        #expect(contents.entries.map(\.title) == ["GitHub", "Draft"])
        #expect(contents.problems.count == 1)
        let entry = contents.entries[0]
        #expect(entry.username == "jane" && entry.password == "s3cret" && entry.note == "a note")
        #expect(entry.addresses == ["https://github.com/login"] && entry.folder == "Work/Ops" && entry.isFavorite)
        #expect(entry.created == Date(timeIntervalSince1970: 1_705_142_400))
        #expect(entry.oneTimePassword?.issuer == "GitHub" && entry.passkeys.count == 1 && entry.tags == ["code"])
        #expect(contents.entries[1].username == "ann" && contents.entries[1].addresses == ["https://draft.example"])
    }

    /// What is exported and imported again is the same, with the members that nobody here knows.
    @Test func cxfComesBack() throws {
        let first = try read(Self.cxf).entries
        let (file, lost) = try ExchangeWriter.file(of: first, as: .cxf, password: nil, now: .now)
        #expect(lost.isEmpty)
        let second = try ExchangeReader.entries(in: file, named: "") { nil }
        #expect(second.entries == first)
        let text = String(decoding: file, as: UTF8.self)
        for member in ["unknownMember", "bundleId", "credit-card", "hmacSecret", "2.5"] {
            #expect(text.contains(member))
        }
        #expect(text.components(separatedBy: "basic-auth").count == 3)
    }

    @Test func anotherVersionOfCXFIsRefused() {
        #expect(throws: ExchangeError.malformed(.cxf, "it has version 2, and version 1 is known")) {
            try read(Self.cxf.replacingOccurrences(of: "\"major\": 1", with: "\"major\": 2"))
        }
    }

    // MARK: Bitwarden

    private static let bitwarden = #"""
        {"encrypted": false, "folders": [{"id": "f1", "name": "Social"}], "items": [
         {"passwordHistory": [{"lastUsedDate": "2023-03-01T10:00:00.000Z", "password": "old2"},
                              {"lastUsedDate": "2023-01-01T10:00:00.000Z", "password": "old1"}],
          "revisionDate": "2023-03-01T10:00:00.000Z", "creationDate": "2022-12-01T09:30:00.123Z", "deletedDate": null,
          "id": "3f1f5ab6-1f0a-4a6c-9ed5-111111111111", "organizationId": null, "folderId": "f1", "type": 1, "reprompt": 0,
          "name": "Example", "notes": "line 1\nline 2", "favorite": true,
          "fields": [{"name": "pin", "value": "1234", "type": 1, "linkedId": null},
                     {"name": "team", "value": "red", "type": 0, "linkedId": null}],
          "login": {"uris": [{"match": null, "uri": "https://example.com/login"}, {"match": null, "uri": "https://sso.example.com"}],
           "username": "alice", "password": "new", "totp": "otpauth://totp/Example:alice?secret=JBSWY3DPEHPK3PXP&issuer=Example",
           "fido2Credentials": [{"credentialId": "b1e0e3a4-7f1d-4c3b-8b43-000102030405", "keyType": "public-key",
            "keyAlgorithm": "ECDSA", "keyCurve": "P-256", "keyValue": "MIGH", "rpId": "example.com", "userHandle": "AQ",
            "userName": "alice", "counter": "0", "rpName": "Example", "userDisplayName": "Alice", "discoverable": "true",
            "creationDate": "2023-01-01T10:00:00.000Z"}]}, "collectionIds": null},
         {"id": "2", "type": 2, "name": "Note", "notes": "only text", "secureNote": {"type": 0}},
         {"id": "3", "type": 5, "name": "Key", "sshKey": {"privateKey": "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", "publicKey": "p", "keyFingerprint": "f"}},
         {"id": "4", "type": 1, "name": "Bin", "deletedDate": "2023-01-01T10:00:00.000Z", "login": {"password": "x"}},
         {"id": "5", "type": 1, "name": "Bad code", "login": {"username": "u", "password": "p", "totp": "!!"}},
         {"id": "6", "type": 3, "name": "Card", "card": {"number": "4111", "code": "123", "brand": "Visa"}}]}
        """#

    @Test func anExportOfBitwarden() throws {
        let contents = try read(Self.bitwarden)
        #expect(contents.entries.map(\.title) == ["Example", "Note", "Key", "Bad code", "Card"])
        #expect(contents.problems.map(\.name) == ["Bin", "Bad code"])
        let entry = contents.entries[0]
        #expect(entry.history.map(\.password) == ["old1", "old2"])
        #expect(entry.addresses.count == 2 && entry.folder == "Social" && entry.note == "line 1\nline 2")
        #expect(abs((entry.created?.timeIntervalSince1970 ?? 0) - 1_669_887_000.123) < 0.001)
        #expect(entry.fields.map(\.isConcealed) == [true, false])
        #expect(entry.passkeys.count == 1 && entry.oneTimePassword?.account == "alice")
        #expect(contents.entries[3].fields.map(\.value) == ["!!"])
        #expect(contents.entries[4].fields.map(\.name) == ["card brand", "card code", "card number"])
    }

    @Test(arguments: [nil, "correct horse"])
    func bitwardenComesBack(_ password: String?) throws {
        let first = try read(Self.bitwarden).entries
        let secret = try password.map { try SecretBytes($0) }
        let (file, _) = try ExchangeWriter.file(of: first, as: .bitwarden, password: secret, now: .now)
        let text = String(decoding: file, as: UTF8.self)
        #expect(text.contains("alice") == (password == nil))
        var second = try read(text, password: password).entries
        // Bitwarden's identifiers are UUIDs, and those of others are not written.
        for index in second.indices where first[index].identifier?.count != 36 {
            second[index].identifier = first[index].identifier
        }
        #expect(second == first)
    }

    /// The other side is Python's cryptography: PBKDF2 and Argon2id, HKDF, AES-CBC and HMAC, as Bitwarden writes them.
    @Test(arguments: ["pbkdf2", "argon2id"])
    func encryptedExportsOfAnotherWriter(_ kind: String) throws {
        let peer = Repository.file("Tests/7-Storage/ExchangeFormatsTests/Peer/bitwarden.py").path
        let outcome = try ProgramStart(["/usr/bin/python3", peer, kind, "pass phrase"]).run(
            input: Data(Self.bitwarden.utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try read(outcome.text, password: "pass phrase").entries == read(Self.bitwarden).entries)
        #expect(throws: ExchangeError.wrongPassword) { try read(outcome.text, password: "pass phrases") }
        #expect(throws: ExchangeError.needsPassword) { try read(outcome.text) }
        let changed = outcome.text.replacingOccurrences(of: "\"data\": \"2.", with: "\"data\": \"2.AA")
        #expect(throws: ExchangeError.self) { try read(changed, password: "pass phrase") }
        for expensive in ["\"kdfIterations\": 4000000000", "\"kdfMemory\": 4000000"] {
            let name = String(expensive.prefix { $0 != ":" })
            let text = outcome.text.replacing(try Regex("\(name): [0-9]+"), with: expensive)
            guard text != outcome.text else { continue }
            #expect(throws: ExchangeError.tooExpensive) { try read(text, password: "pass phrase") }
        }
    }

    // MARK: Tables

    @Test(arguments: [
        "name,url,username,password,note\nExample,https://example.com/,alice,\"a\"\"b,c\",\"two\nlines\"\n",
        "\u{FEFF}Title,URL,Username,Password,Notes,OTPAuth\r\nExample,https://example.com/,alice,\"a\"\"b,c\",\"two\nlines\",\r\n",
        #"""
        "url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged","note","name"
        "https://example.com/","alice","a""b,c","","https://example.com","{g}","1700000000000","1700000000001","1700000000002","two
        lines","Example"
        """#,
        "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n,,login,Example,\"two\nlines\",,0,https://example.com/,alice,\"a\"\"b,c\",",
    ])
    func tablesOfBrowsers(_ text: String) throws {
        let contents = try read(text)
        #expect(contents.problems.isEmpty)
        let entry = try #require(contents.entries.first)
        #expect(entry.title == "Example" && entry.username == "alice" && entry.password == "a\"b,c")
        #expect(entry.addresses == ["https://example.com/"] && entry.note == "two\nlines" && entry.fields.isEmpty)
        #expect(contents.entries.count == 1)
    }

    @Test func tablesComeBack() throws {
        let (file, lost) = try ExchangeWriter.file(of: read(Self.bitwarden).entries, as: .csv, password: nil, now: .now)
        #expect(lost.map(\.name).sorted() == ["Bad code", "Card", "Example", "Key"])
        let entries = try ExchangeReader.entries(in: file, named: "") { nil }.entries
        #expect(
            entries[0].password == "new" && entries[0].note == "line 1\nline 2" && entries[0].oneTimePassword != nil)
    }

    @Test func tablesThatAreNone() {
        #expect(throws: ExchangeError.malformed(.csv, "no column is called 'password'")) {
            try read("a,b\n1,2", as: .csv)
        }
        #expect(throws: ExchangeError.self) { try read("name,password\n\"open,1", as: .csv) }
        #expect(throws: ExchangeError.unknown) { try read("a,b\n1,2") }
    }

    // MARK: Authenticators

    @Test func plainVaultOfAegis() throws {
        let text = #"""
            {"version": 1, "header": {"slots": null, "params": null}, "db": {"version": 2, "entries": [
             {"type": "totp", "uuid": "u1", "name": "alice", "issuer": "Example", "note": "n", "favorite": true, "icon": null,
              "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA256", "digits": 7, "period": 60}},
             {"type": "hotp", "uuid": "u2", "name": "bob", "issuer": "", "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA1", "digits": 6, "counter": 9}},
             {"type": "steam", "uuid": "u3", "name": "carl", "issuer": "Steam", "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA1", "digits": 5, "period": 30}},
             {"type": "motp", "uuid": "u4", "name": "dora", "issuer": "Old", "info": {"secret": "00", "pin": "1"}}]}}
            """#
        let contents = try read(text)
        #expect(contents.entries.map(\.title) == ["Example", "bob", "Steam"])
        #expect(contents.problems.map(\.name) == ["Old"])
        let passwords = contents.entries.compactMap(\.oneTimePassword)
        #expect(
            passwords[0].algorithm == .sha256 && passwords[0].form == .digits(7)
                && passwords[0].factor == .time(period: 60))
        #expect(passwords[1].factor == .counter(9) && passwords[2].form == .steam)
    }

    /// The other side is Python's cryptography: scrypt and AES-GCM, as Aegis writes them.
    @Test func encryptedVaultOfAegis() throws {
        let peer = Repository.file("Tests/7-Storage/ExchangeFormatsTests/Peer/aegis.py").path
        let outcome = try ProgramStart(["/usr/bin/python3", peer, "test"]).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try read(outcome.text, password: "test").entries.map(\.username) == ["alice"])
        #expect(throws: ExchangeError.wrongPassword) { try read(outcome.text, password: "tests") }
        #expect(throws: ExchangeError.needsPassword) { try read(outcome.text) }
    }

    /// Google Authenticator's message: secret, `Example:alice@google.com`, issuer `Example`, SHA1, six digits, by time.
    @Test func addressesOfGoogleAuthenticator() throws {
        let data = "CjEKCkhello"
        #expect(throws: Never.self) { try read("otpauth-migration://offline?data=\(data)").problems.count == 1 }
        let message: [UInt8] =
            [0x0A, 10] + Array("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF]
            + [0x12, 24] + Array("Example:alice@google.com".utf8) + [0x1A, 7] + Array("Example".utf8)
            + [0x20, 1, 0x28, 1, 0x30, 2]
        let payload = Data([0x0A, UInt8(clamping: message.count)] + message + [0x10, 1, 0x18, 2, 0x20, 0, 0x28, 7])
        let encoded = payload.base64EncodedString().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let contents = try read(
            "otpauth-migration://offline?data=\(encoded)\notpauth://totp/B:b?secret=JBSWY3DPEHPK3PXP\n")
        #expect(contents.entries.map(\.title) == ["Example", "B"])
        #expect(contents.entries[0].username == "alice@google.com")
        #expect(contents.entries[0].oneTimePassword?.secretText == "JBSWY3DPEHPK3PXP")
        #expect(contents.problems.map(\.reason) == ["1 of 2 parts are here: scan the other codes, too"])
    }

    // MARK: Settings

    @Test func environmentFiles() throws {
        let text = """
            # database
            export DB_PASSWORD="a\\"b\\nc"
            TOKEN=plain # a remark
            SINGLE='$HOME "as is"'
            EMPTY=
            not a line
            """
        let contents = try read(text, as: .env, named: "app.env")
        #expect(contents.entries.map(\.username) == ["DB_PASSWORD", "TOKEN", "SINGLE", "EMPTY"])
        #expect(contents.entries.map(\.password) == ["a\"b\nc", "plain", "$HOME \"as is\"", ""])
        #expect(contents.entries.allSatisfy { $0.title == "app.env" })
        #expect(contents.problems.map(\.name) == ["line 6"])
        let (file, _) = try ExchangeWriter.file(of: contents.entries, as: .env, password: nil, now: .now)
        #expect(
            try read(String(decoding: file, as: UTF8.self)).entries.map(\.password) == contents.entries.map(\.password))
    }

    @Test func netrc() throws {
        let contents = try read(
            "machine example.com login alice password \"p w\"\n  account x\nmachine b.example\n\tlogin bob\n\tpassword #1\ndefault login any password none\n"
        )
        #expect(contents.entries.map(\.title) == ["example.com", "b.example"])
        #expect(contents.entries.map(\.password) == ["p w", "#1"])
        #expect(contents.entries[0].fields.map(\.value) == ["x"])
        #expect(contents.problems.map(\.name) == ["default"])
    }

    @Test func dumpOfAKeychain() throws {
        let text = #"""
            keychain: "/Users/ann/Library/Keychains/login.keychain-db"
            version: 512
            class: "genp"
            attributes:
                0x00000007 <blob>="My label"
                0x00000008 <blob>=<NULL>
                "acct"<blob>="ann"
                "cdat"<timedate>=0x32303233303133313132303030305A00  "20230131120000Z\000"
                "svce"<blob>="service"
            data:
            "secr\303\251t"
            keychain: "/Users/ann/Library/Keychains/login.keychain-db"
            version: 512
            class: "inet"
            attributes:
                0x00000007 <blob>="example.com"
                "acct"<blob>=0x616E6EC3A9  "ann\303\251"
                "path"<blob>="/x"
                "port"<uint32>=0x000001BB
                "ptcl"<uint32>="htps"
                "srvr"<blob>="example.com"
            data:
            0x70617373 "pass"
            keychain: "/Users/ann/Library/Keychains/login.keychain-db"
            class: 0x0000000F
            attributes:
                0x00000001 <blob>="key"
            """#
        let contents = try read(text)
        #expect(contents.entries.map(\.password) == ["secrét", "pass"])
        #expect(contents.entries.map(\.username) == ["ann", "anné"])
        #expect(contents.entries[0].title == "service" && contents.entries[0].fields.map(\.value) == ["My label"])
        #expect(contents.entries[0].created == Date(timeIntervalSince1970: 1_675_166_400))
        #expect(contents.entries[1].addresses == ["https://example.com:443/x"])
        #expect(contents.problems.count == 1)
    }

    // MARK: Hostile files

    /// Whatever stands in a file, it is read or refused.
    @Test func changedFilesAreReadOrRefused() throws {
        let files = [
            Self.cxf, Self.bitwarden, "name,url,username,password\n\"a\",b,c,\"d\"\"e\"\n",
            "A=\"b\\n\" # c\nexport D='e'\n",
            "machine a login \"b\\\"\" password c\n", "otpauth-migration://offline?data=CjEKCkhlbGxvIQ%3D%3D\n",
            "keychain: \"x\"\nclass: \"inet\"\nattributes:\n    \"srvr\"<blob>=\"h\\303\"\ndata:\n0x7\n",
        ]
        var random = SystemRandomNumberGenerator()
        let clock = ContinuousClock()
        let end = clock.now + (TestScale.isSoak ? .seconds(600) : .seconds(3))
        while clock.now < end {
            var bytes = Array(files.randomElement(using: &random)?.utf8 ?? "".utf8)
            for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
                }
            }
            for format in [nil] + ExchangeFormat.allCases.map(Optional.some) {
                guard
                    let contents = try? ExchangeReader.entries(
                        in: Data(bytes), as: format, named: "f", password: { nil })
                else { continue }
                // Those that are always encrypted take a second each; their readers have tests of their own.
                for format in ExchangeWriter.formats where !ExchangeWriter.alwaysEncrypts(format) {
                    _ = try ExchangeWriter.file(of: contents.entries, as: format, password: nil, now: .now)
                }
            }
        }
    }

    /// Deep nesting must not end the program by its stack.
    @Test func deepFiles() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: ExchangeError.self) { try read(#"{"encrypted": false, "items": \#(deep)}"#) }
        let collections =
            String(repeating: #"{"title": "c", "subCollections": ["#, count: 200) + String(repeating: "]}", count: 200)
        #expect(throws: Never.self) { try read(#"{"items": [], "collections": [\#(collections)]}"#) }
    }
}
