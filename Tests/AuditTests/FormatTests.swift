import Access
import Audit
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// The format is what it was, and what `Documentation/Formats.md` says.
@Suite struct FormatTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let fixture = folder.appendingPathComponent("Fixtures/v1")
    private static let script = folder.appendingPathComponent("../../Scripts/format-vectors.py")
        .standardizedFileURL.path
    private static let key = "01020304-0506-0708-090A-0B0C0D0E0F10:" + String(repeating: "01", count: 32)

    private struct Output: Decodable {
        var audit: [AuditRecord]
    }

    /// What the published log was made with.
    private func write(_ folder: AuditFolder) {
        let log = folder.log()
        let item = AccessRequest(.add, itemClass: .genericPassword, accessGroup: "TEAM.app")
        log.record(AuditEvent(.started, client: "keychaind"))
        log.record(AuditEvent(.written, client: "app", operation: item, items: 1))
        log.record(
            AuditEvent(.read, client: "é\"\\\u{7}😀", operation: AccessRequest(.copy, itemClass: .key), items: 2))
        log.record(
            AuditEvent(
                .refused, client: "other",
                operation: AccessRequest(.delete, itemClass: .certificate, accessGroup: "TEAM.app"),
                failure: .groupNotHeld))
        log.record(AuditEvent(.unlockFailed, client: "keychain", failure: .wrongPasscode))
        log.record(AuditEvent(.unlocked, client: "keychain"))
    }

    /// Puts the published log into a folder under the name it has there.
    private static func restoreFixture(to path: String) throws {
        try FolderContents(of: fixture.path).restore(to: path)
        try FileManager.default.moveItem(atPath: path + "/audit.jsonl", toPath: path + "/audit.log")
    }

    /// The records that the second implementation finds in a log, each of which it has checked.
    private func readElsewhere(_ arguments: [String]) throws -> [AuditRecord] {
        let python = try Worker([Self.script] + arguments, command: "python3")
        let output = Data(python.readToEnd())
        #expect(python.wait() == 0, "python3 with the package 'cryptography' is needed; see the error above")
        return try JSONDecoder().decode(Output.self, from: output).audit
    }

    @Test func thePublishedLogIsWrittenToTheByte() throws {
        let folder = try AuditFolder()
        write(folder)
        for (name, file) in [("audit.log", "audit.jsonl"), ("audit.head", "audit.head")] {
            let published = try Data(contentsOf: Self.fixture.appendingPathComponent(file))
            #expect(try folder.contents(name) == published, "\(name)")
        }
    }

    @Test func bothReadThePublishedLogAlike() throws {
        let folder = try AuditFolder()
        try Self.restoreFixture(to: folder.path)
        let records = try folder.records()
        #expect(records.count == 7)
        #expect(try folder.verify() == AuditReport(records: 7))
        #expect(try readElsewhere(["--audit-key", Self.key, folder.path]) == records)
    }

    @Test func bothReadAVaultsLogAlike() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        func make() throws -> [AuditRecord] {
            let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog()))
            _ = try vault.add(.password("s", "a", "1"), as: .app)
            try vault.erase(as: .owner)
            _ = try vault.add(.password("s", "a", "2"), as: .app)
            return try vault.auditRecords(AuditQuery(), as: .owner)
        }
        let records = try make()
        #expect(records.count == 6)
        #expect(try readElsewhere([path]) == records)
    }

    /// Lines and heads of any form are refused and not misread.
    @Test func anyBytesAreRead() throws {
        var random = SeededGenerator()
        let folder = try AuditFolder()
        write(folder)
        let log = try folder.contents()
        let head = try folder.contents("audit.head")
        for _ in 0..<TestScale.count(100, soak: 10_000) {
            try folder.replace(with: random.mutated(log))
            try folder.replace("audit.head", with: random.mutated(head))
            for full in 1...2 where random.int(below: 4) == 0 {
                try folder.replace("audit.log.\(full)", with: random.mutated(log))
            }
            _ = try folder.records()
            #expect(try folder.verify()?.problems.isEmpty == false, "\(random)")
            folder.log().record(.read(1))
            #expect(try folder.records(AuditQuery(limit: 1)).first?.items == 1, "\(random)")
        }
    }
}
