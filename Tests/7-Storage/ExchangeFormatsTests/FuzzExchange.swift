import Bytes
import ExchangeFormats
import Foundation
import TestSupport
import Testing

/// Files of other programs that are almost right.
@Suite struct FuzzExchange {
    private static func made(by peer: String, _ arguments: [String]) throws -> Data {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "file")
        let script = Repository.file("Tests/7-Storage/ExchangeFormatsTests/Peer/\(peer)").path
        let all = ["/usr/bin/python3", script] + arguments.map { $0 == "FILE" ? path : $0 }
        let outcome = try ProgramStart(all).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static let plain = [
        """
        <?xml version="1.0"?><KeePassFile><Meta><RecycleBinUUID>AQ==</RecycleBinUUID><Binaries><Binary ID="0"
         Compressed="True">H4sIAAAAAAACA0tMSgYAwkEkNQMAAAA=</Binary><Binary ID="1">YWJj</Binary></Binaries></Meta><Root>
        <Group><Name>Root</Name><Group><UUID>Ag==</UUID><Name>a/b</Name><Entry><UUID>AQIDBAUGBwgJCgsMDQ4PEA==</UUID>
        <Times><CreationTime>Bm6d4g4AAAA=</CreationTime><LastModificationTime>2020-01-01T00:00:00Z</LastModificationTime>
        <Expires>True</Expires><ExpiryTime>Bm6d4g4AAAA=</ExpiryTime></Times><Tags>a;b</Tags>
        <String><Key>Title</Key><Value>T</Value></String><String><Key>Password</Key><Value ProtectInMemory="True">{REF:P@I:0102030405060708090A0B0C0D0E0F10}</Value></String>
        <String><Key>TimeOtp-Secret-Base32</Key><Value>JBSWY3DPEHPK3PXP</Value></String><String><Key>x</Key><Value>&#228;&lt;</Value></String>
        <String><Key>KPEX_PASSKEY_PRIVATE_KEY_PEM</Key><Value>-----BEGIN PRIVATE KEY-----AQID-----END PRIVATE KEY-----</Value></String>
        <String><Key>KPEX_PASSKEY_CREDENTIAL_ID</Key><Value>AQID</Value></String>
        <Binary><Key>KeeAgent.settings</Key><Value>PEVudHJ5U2V0dGluZ3MvPg==</Value></Binary><Binary><Key>f</Key><Value Ref="0"/></Binary>
        <History><Entry><String><Key>Password</Key><Value>old</Value></String></Entry></History></Entry></Group></Group></Root></KeePassFile>
        """,
        #"{"encrypted": false, "items": [{"id": "2", "type": 1, "name": "N", "login": {"password": "p", "totp": "JBSWY3DPEHPK3PXP"}}]}"#,
        #"{"items": [{"id": "1", "title": "t", "credentials": [{"type": "basic-auth", "password": {"value": "p"}}]}], "collections": []}"#,
        "name,url,username,password\n\"a\",b,c,\"d\"\"e\"\n", "A=\"b\\n\" # c\nexport D='e'\n",
        "machine a login \"b\\\"\" password c\n", "otpauth://totp/B:b?secret=JBSWY3DPEHPK3PXP&digits=8\n",
        "keychain: \"x\"\nclass: \"inet\"\nattributes:\n    \"srvr\"<blob>=\"h\\303\"\n    \"acct\"<blob>=0x41  \"A\"\ndata:\n\"p\"\n",
    ]

    /// Whatever the bytes, they are read or refused, and what is read can be written.
    @Test func fuzzExchange() throws {
        let database = ["write", "FILE", "pw", "4", "aes", "aes-kdf", "chacha20", "1"]
        let samples =
            try Self.plain.map { Data($0.utf8) } + [
                Self.made(by: "keepass.py", database), Self.made(by: "onepassword.py", ["FILE"]),
            ]
        var run = FuzzRun("exchange", samples: samples, plain: 400, soak: 20_000)
        let report = try run.run { input in
            _ = PassReader.entry(in: input, named: "folder/title")
            let found: ExchangeContents
            do {
                found = try ExchangeReader.entries(in: input, named: "f") { try SecretBytes("pw") }
            } catch is ExchangeError {
                return false
            }
            for format in ExchangeWriter.formats where !ExchangeWriter.alwaysEncrypts(format) {
                _ = try ExchangeWriter.file(of: found.entries, as: format, password: nil, now: .now)
            }
            return !found.entries.isEmpty
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }
}
