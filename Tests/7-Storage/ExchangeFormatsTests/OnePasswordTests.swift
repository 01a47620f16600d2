import Bytes
import ExchangeFormats
import Foundation
import OneTimeCodes
import TestSupport
import Testing

/// Exports of 1Password, which a script writes after 1Password's description of the format.
@Suite struct OnePasswordTests {
    private static let peer = Repository.file("Tests/7-Storage/ExchangeFormatsTests/Peer/onepassword.py").path

    private func export(_ change: String = "") throws -> Data {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "x.1pux")
        let outcome = try ProgramStart(["/usr/bin/python3", Self.peer, path, change]).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func read(_ bytes: Data) throws -> ExchangeContents {
        try ExchangeReader.entries(in: bytes, named: "x") { nil }
    }

    @Test(arguments: ["", "stored", "names"]) func anExport(_ kind: String) throws {
        let file = try export(kind)
        #expect(ExchangeReader.format(of: file) == .onePassword)
        let contents = try read(file)
        #expect(
            contents.entries.map(\.title) == ["Exämple", "Note", "Generated", "Key", "Document", "Lost", "Older form"])
        #expect(
            contents.problems == [
                .init("Gone", "it is in the bin there", isLoss: false),
                .init("Lost", "its file 'b.pdf' is not in the archive"), .init("item 8", "it is no object"),
            ])
        let entry = contents.entries[0]
        #expect(entry.username == "alice" && entry.password == "s3cret" && entry.note == "line 1\nline 2")
        #expect(entry.addresses == ["https://example.com/", "https://b.example"] && entry.folder == "Personal")
        #expect(entry.isFavorite && entry.tags == ["one", "two"] && entry.identifier == "uuid1")
        #expect(entry.created == Date(timeIntervalSince1970: 1_619_467_769))
        #expect(entry.modified == Date(timeIntervalSince1970: 1_619_467_855))
        #expect(entry.history.map(\.password) == ["older", "newer"])
        #expect(entry.history.last?.ended == Date(timeIntervalSince1970: 1_600_000_000))
        #expect(entry.oneTimePassword?.issuer == "X")
        #expect(
            entry.fields == [
                .init("color", "blue", isConcealed: false), .init("PIN", "12345", isConcealed: true),
                .init("second code", "otpauth://totp/Y:a?secret=JBSWY3DPEHPK3PXP", isConcealed: true),
                .init("text", "plain", isConcealed: false), .init("site", "https://u.example", isConcealed: false),
                .init("mail", "a@example.com", isConcealed: false), .init("born", "2020-02-16", isConcealed: false),
                .init("expires on", "2031-08", isConcealed: false), .init("phone", "+1 2", isConcealed: false),
                .init("home", "Street 1, Town, 123, de", isConcealed: false),
                .init("kind", "a choice", isConcealed: false), .init("card", "4111111111111111", isConcealed: true),
                .init("brand", "visa", isConcealed: false), .init("other", "Note", isConcealed: false),
                .init("later", "{\"a\":1}", isConcealed: true), .init("More: PIN", "67890", isConcealed: true),
            ])
        #expect(entry.attachments == [.init(name: "../scän.png", contents: Data([0x89, 0x50, 0x4E, 0x47]))])
        #expect(contents.entries[2].password == "generated" && contents.entries[2].tags == ["archived"])
        #expect(contents.entries[3].keys.first?.publicKey == "ssh-ed25519 AAAA")
        #expect(contents.entries[4].attachments.map(\.contents.count) == [300_000])
    }

    @Test func exportsThatAreNone() throws {
        for (change, reason) in [
            ("noData", "the archive has no file 'export.data'"), ("json", "its file 'export.data' has no accounts"),
            ("version", "it has version 9, and version 3 is known"),
        ] {
            #expect(throws: ExchangeError.malformed(.onePassword, reason)) { try read(export(change)) }
        }
        #expect(throws: ExchangeError.tooLarge) { try read(export("bomb")) }
        // Many entries with one file.
        #expect(throws: ExchangeError.tooLarge) { try read(export("shared")) }
        let damaged = ExchangeError.malformed(.onePassword, "the archive is damaged, or was cut off")
        #expect(throws: damaged) { try read(Data([0x50, 0x4B, 3, 4, 1, 2, 3])) }
    }

    /// The archive has a checksum for each file.
    @Test func changedAndTruncatedExports() throws {
        let file = try export()
        for place in stride(from: 0, to: file.count, by: 17) {
            var bytes = file
            bytes[place] ^= 0x41
            // What nothing depends on may change, such as times.
            if let contents = try? ExchangeReader.entries(in: bytes, as: .onePassword, named: "", password: { nil }) {
                #expect(contents.entries.allSatisfy { ["s3cret", "generated", nil].contains($0.password) })
            }
            #expect(throws: ExchangeError.self) {
                try ExchangeReader.entries(in: file.prefix(place), as: .onePassword, named: "") { nil }
            }
        }
    }
}
