import Access
import Audit
import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// The format is what it was, and what `Documentation/Specify/Formats/AuditLog.md` says.
@Suite struct FormatTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let fixtures = folder.appendingPathComponent("Fixtures")
    private static let script = Repository.file("Tests/Support/Vectors/format-vectors.py").path
    private static let key = "01020304-0506-0708-090A-0B0C0D0E0F10:" + String(repeating: "01", count: 32)

    private struct Output: Decodable {
        var audit: [AuditRecord]
    }

    /// What the published logs of version 2 were made with.
    private func write(_ folder: AuditFolder) {
        let log = folder.log()
        let item = AccessRequest(.add, itemClass: .genericPassword, accessGroup: "TEAM.app")
        let copy = AuditEvent(
            .read, client: "é\"\\\u{7}😀", operation: AccessRequest(.copy, itemClass: .key), items: 2)
        log.record(AuditEvent(.started, client: "keychaind"))
        log.record(AuditEvent(.written, client: "app", operation: item, items: 1))
        log.record(copy)
        log.append { place in
            var repeats = AuditLog.Moment(copy, at: place.now())
            repeats.repeats = (1_000, place.now() + 59)
            return [repeats]
        }
        log.record(
            AuditEvent(
                .refused, client: "other",
                operation: AccessRequest(.delete, itemClass: .certificate, accessGroup: "TEAM.app"),
                failure: .groupNotHeld))
        log.record(AuditEvent(.unlockFailed, client: "keychain", failure: .wrongPasscode))
        log.record(AuditEvent(.unlocked, client: "keychain"))
    }

    /// Puts the published logs of a version into a folder under the names they have there.
    private static func restoreFixture(_ version: String, to path: String) throws {
        try FolderContents(of: fixtures.appendingPathComponent(version).path).restore(to: path)
        for log in ["audit", "audit-looks"] where access("\(path)/\(log).jsonl", F_OK) == 0 {
            try FileManager.default.moveItem(atPath: "\(path)/\(log).jsonl", toPath: "\(path)/\(log).log")
        }
    }

    /// The records that the second implementation finds in a log, each of which it has checked.
    private func readElsewhere(_ arguments: [String]) throws -> [AuditRecord] {
        let python = try Worker([Self.script] + arguments, command: "python3")
        let output = Data(python.readToEnd())
        #expect(python.wait() == 0, "python3 with the package 'cryptography' is needed; see the error above")
        return try JSONDecoder().decode(Output.self, from: output).audit
    }

    @Test func thePublishedLogsAreWrittenToTheByte() throws {
        let folder = try AuditFolder()
        write(folder)
        for (name, file) in [
            ("audit.log", "audit.jsonl"), ("audit.head", "audit.head"),
            ("audit-looks.log", "audit-looks.jsonl"), ("audit-looks.head", "audit-looks.head"),
        ] {
            let published = try Data(contentsOf: Self.fixtures.appendingPathComponent("v2/\(file)"))
            #expect(try folder.contents(name) == published, "\(name)")
        }
    }

    /// Records that name processes and items.
    @Test func thePublishedLogsWithItemsAreWrittenToTheByte() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        func event(_ kind: AuditEvent.Kind, _ client: String, _ user: UInt32, _ process: Int32?) -> AuditEvent {
            AuditEvent(kind, client: client, process: ClientProcess(user: user, number: process))
        }
        var written = event(.written, "app", 1_000, 41)
        written.operation = AccessRequest(.add, itemClass: .genericPassword, accessGroup: "TEAM.app")
        written.operation?.itemDigests = [0xFF]
        written.items = 1
        log.record(written)
        var read = event(.read, "app", 1_000, 42)
        read.operation = AccessRequest(.copy, itemClass: .genericPassword)
        read.operation?.itemDigests = [0xFF, 0xFEDC_BA98_7654_3210]
        read.items = 2
        log.record(read)
        read.operation?.itemDigests = [0xFF]
        read.items = 3
        read.process?.number = nil
        let repeated = read
        log.append { place in
            var repeats = AuditLog.Moment(repeated, at: place.now())
            repeats.repeats = (3, place.now() + 59)
            return [repeats]
        }
        var refused = event(.refused, "other", 1_001, 43)
        refused.operation = AccessRequest(.copy, itemClass: .genericPassword, accessGroup: "TEAM.app")
        refused.operation?.itemDigests = [0xFF]
        refused.failure = .groupNotHeld
        log.record(refused)
        for (name, file) in [
            ("audit.log", "audit.jsonl"), ("audit.head", "audit.head"),
            ("audit-looks.log", "audit-looks.jsonl"), ("audit-looks.head", "audit-looks.head"),
        ] {
            let published = try Data(contentsOf: Self.fixtures.appendingPathComponent("v3/\(file)"))
            #expect(try folder.contents(name) == published, "\(name)")
        }
    }

    private static let anchorKey = String(repeating: "65", count: 32)

    @Test func theNextRecordOfAnAnchoredLogIsWrittenToTheByte() throws {
        let folder = try AuditFolder()
        try Self.restoreFixture("v4", to: folder.path)
        folder.log().record(AuditEvent(.locked, client: "keychain"))
        for (name, file) in [
            ("audit.log", "audit.jsonl"), ("audit.head", "audit.head"), ("audit.anchor", "audit.anchor"),
            ("audit-looks.log", "audit-looks.jsonl"), ("audit-looks.head", "audit-looks.head"),
        ] {
            let published = try Data(contentsOf: Self.fixtures.appendingPathComponent("v4-next/\(file)"))
            #expect(try folder.contents(name) == published, "\(name)")
        }
    }

    @Test(arguments: [("v4", 7), ("v4-next", 8)])
    func bothReadThePublishedAnchoredLogsAlike(_ version: String, _ count: Int) throws {
        let folder = try AuditFolder()
        try Self.restoreFixture(version, to: folder.path)
        #expect(try folder.verifyUnlocked() == AuditReport(records: count))
        let keys = ["--audit-key", Self.key, "--anchor-key", Self.anchorKey]
        #expect(try readElsewhere(keys + [folder.path]) == folder.records())
        // What this implementation writes, the other one reads.
        #expect(folder.anchor() == .done)
        for number in 0..<3 { folder.log().record(.read(number)) }
        #expect(try readElsewhere(keys + [folder.path]) == folder.records())
        #expect(try folder.verifyUnlocked() == AuditReport(records: count + 3))
    }

    @Test(arguments: [("v1", 7), ("v2", 9), ("v3", 6)])
    func bothReadThePublishedLogsAlike(_ version: String, _ count: Int) throws {
        let folder = try AuditFolder()
        try Self.restoreFixture(version, to: folder.path)
        let records = try folder.records()
        #expect(records.count == count)
        #expect(try folder.verify() == AuditReport(records: count))
        #expect(try readElsewhere(["--audit-key", Self.key, folder.path]) == records)
    }

    /// A log of version 1 goes on in this version, and from then on its head has no slot of version 1.
    @Test func aLogOfVersion1GoesOn() throws {
        let folder = try AuditFolder()
        try Self.restoreFixture("v1", to: folder.path)
        folder.log().record(.read(1))
        folder.log().record(AuditEvent(.locked, client: "keychain"))
        #expect(try folder.records().suffix(3).map(\.event) == ["began", "read", "locked"])
        #expect(try folder.verify() == AuditReport(records: 10))
        #expect(
            try folder.contents("audit.head").split(separator: 0x0A).allSatisfy { $0.starts(with: #"{"v":2,"#.utf8) })
        #expect(try readElsewhere(["--audit-key", Self.key, folder.path]) == folder.records())
    }

    /// Logs of earlier versions are anchored by the first unlocking.
    @Test(arguments: [("v1", 7), ("v2", 9), ("v3", 6)])
    func aLogOfAnEarlierVersionIsAnchored(_ version: String, _ count: Int) throws {
        let folder = try AuditFolder()
        try Self.restoreFixture(version, to: folder.path)
        #expect(folder.anchor(isExpected: false) == .done)
        #expect(try folder.verifyUnlocked() == AuditReport(records: count))
        folder.log().record(AuditEvent(.locked, client: "keychain"))
        #expect(try folder.verifyUnlocked() == AuditReport(records: count + 1))
        #expect(folder.anchor() == .done)
        let keys = ["--audit-key", Self.key, "--anchor-key", Self.anchorKey]
        #expect(try readElsewhere(keys + [folder.path]) == folder.records())
    }

    /// Version 1 leaves two equal slots after its first append.
    @Test func equalSlotsOfVersion1AreNoProblem() throws {
        let folder = try AuditFolder()
        try Self.restoreFixture("v1", to: folder.path)
        let later = try folder.contents("audit.head").suffix(256)
        try folder.replace("audit.head", with: later + later)
        #expect(try folder.verify() == AuditReport(records: 7))
        folder.log().record(AuditEvent(.locked, client: "keychain"))
        #expect(try folder.verify() == AuditReport(records: 8))
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
        #expect(records.count == 7)
        #expect(try readElsewhere([path]) == records)
    }

    @Test func bothReadAnAnchoredVaultsLogAlike() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let passcode = folder.path(of: "passcode")
        try FolderContents.write(Data("right".utf8), to: passcode)
        func make() throws -> [AuditRecord] {
            let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog()))
            _ = try vault.add(.password("s", "a", "1"), as: .app)
            try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
            try vault.lock(after: .zero, as: .owner)
            try vault.unlock(with: SecretBytes("right"), as: .owner)
            _ = try vault.put(.password("s", "a", "2"), as: .app)
            let records = try vault.auditRecords(AuditQuery(), as: .owner)
            vault.close()
            return records
        }
        let records = try make()
        #expect(try readElsewhere(["--passcode", passcode, path]) == records)
    }

    /// Lines and heads of any form are refused and not misread.
    @Test func anyBytesAreRead() throws {
        var random = SeededGenerator()
        let folder = try AuditFolder()
        write(folder)
        let log = try folder.contents("audit.log")
        let head = try folder.contents("audit.head")
        for _ in 0..<TestScale.count(100, soak: 10_000) {
            try folder.replace("audit.log", with: random.mutated(log))
            try folder.replace("audit.head", with: random.mutated(head))
            for full in 1...2 where random.int(below: 4) == 0 {
                try folder.replace("audit.log.\(full)", with: random.mutated(log))
            }
            _ = try folder.records()
            #expect(try folder.verify()?.problems.isEmpty == false, "\(random)")
            folder.log().record(AuditEvent(.written, client: "c", items: 1))
            #expect(try folder.records().last { $0.log == nil }?.items == 1, "\(random)")
        }
    }
}
