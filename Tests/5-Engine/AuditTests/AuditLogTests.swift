import Access
import Audit
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

@Suite struct AuditLogTests {
    @Test func aRecordSaysWhoDidWhat() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        log.record(.read(3, by: "a \"b\"\n\u{7F}ä😀"))
        log.record(
            AuditEvent(
                .refused, client: "c", operation: AccessRequest(.delete, itemClass: .key, accessGroup: "g"),
                failure: .groupNotHeld))
        log.record(AuditEvent(.unlocked, client: "d"))
        let records = try folder.records()
        #expect(records.map(\.event) == ["began", "read", "began", "refused", "unlocked"])
        #expect(records.map(\.sequence) == [1, 2, 1, 2, 3])
        #expect(records.map(\.log) == ["looks", "looks", nil, nil, nil])
        #expect(records.map(\.other) == [nil, nil, 2, 2, 2])
        #expect(records.allSatisfy { $0.time == 1_763_729_481_500 })
        #expect(records[1].client == "a \"b\"\n\u{7F}ä😀")
        #expect(records[1].operation == "copy" && records[1].itemClass == "genp" && records[1].items == 3)
        #expect(records[1].failure == nil)
        #expect(records[3].failure == "group-not-held" && records[3].items == nil)
        #expect(records[4].operation == nil)
        #expect(try folder.verify() == AuditReport(records: 5))
        let text = String(decoding: try folder.contents() + folder.contents("audit.log"), as: UTF8.self)
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        #expect(!text.contains("TEAM.group"))
        for name in ["audit.log", "audit.head", "audit-looks.log", "audit-looks.head"] {
            #expect(try FolderContents.mode(of: "\(folder.path)/\(name)") & 0o777 == 0o600)
        }
    }

    @Test func equalGroupsHaveEqualDigests() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        for group in ["a", "b", "a"] {
            log.record(AuditEvent(.read, client: "c", operation: AccessRequest(.copy, accessGroup: group)))
        }
        let groups = try folder.records().compactMap(\.group)
        #expect(groups.count == 3 && groups[0] == groups[2] && groups[0] != groups[1])
        #expect(groups.allSatisfy { $0.count == 16 })
    }

    @Test func aLongNameIsCut() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        log.record(.read(1, by: String(repeating: "\u{1}", count: 100_000)))
        log.record(.read(2))
        #expect(try folder.contents().count < 5_000)
        #expect(try folder.verify() == AuditReport(records: 3))
    }

    @Test func readersGetWhatTheyAskFor() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        for number in 0..<10 {
            log.append { _ in [.init(.read(number), at: Date(timeIntervalSince1970: Double(1_000 + number)))] }
        }
        #expect(try folder.records(AuditQuery(limit: 2)).map(\.items) == [8, 9])
        #expect(try folder.records(AuditQuery(since: 1_007_000)).map(\.items) == [7, 8, 9])
        #expect(try folder.records(AuditQuery(since: 1_007_000, limit: 1)).map(\.items) == [9])
        #expect(try folder.records(AuditQuery(limit: 0)).isEmpty)
    }

    @Test func severalLogsOfOneProcessShareAFile() throws {
        var limits = AuditLimits()
        limits.patience = Patience.duration
        let folder = try AuditFolder(limits: limits)
        let logs = (0..<4).map { _ in folder.log() }
        DispatchQueue.concurrentPerform(iterations: 400) { logs[$0 % 4].record(.read($0)) }
        let records = try folder.records()
        #expect(records.map(\.sequence) == Array(1...401))
        #expect(Set(records.compactMap(\.items)) == Set(0..<400))
        #expect(try folder.verify() == AuditReport(records: 401))
    }

    @Test func fullFilesAreKeptAndTheChainGoesOn() throws {
        var limits = AuditLimits()
        limits.file = 5_000
        limits.kept = 3
        let folder = try AuditFolder(limits: limits)
        let log = folder.log()
        for number in 0..<20 { log.record(.read(number)) }
        #expect(try folder.records().compactMap(\.items) == Array(0..<20))
        #expect(try folder.verify()?.problems == [])
        for number in 20..<200 { log.record(.read(number)) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(
            names == [
                "audit-looks.head", "audit-looks.log", "audit-looks.log.1", "audit-looks.log.2", "audit-looks.log.3",
            ])
        for name in names { #expect(try folder.contents(name).count < 6_000) }
        let kept = try folder.records().compactMap(\.items)
        #expect(kept.count > 30 && kept == Array((200 - kept.count)..<200))
        #expect(try folder.verify()?.problems == [])
        // Any of the full files taken away is missed.
        for name in names where name.hasPrefix("audit-looks.log.") {
            let bytes = try folder.contents(name)
            unlink("\(folder.path)/\(name)")
            #expect(try folder.verify()?.problems.isEmpty == false, "without \(name)")
            try folder.replace(name, with: bytes)
        }
    }

    /// However much is looked at, no record of a change goes for it.
    @Test func looksRotateOnlyLooks() throws {
        var limits = AuditLimits()
        limits.file = 5_000
        limits.kept = 2
        let folder = try AuditFolder(limits: limits)
        let log = folder.log()
        let changes: [AuditEvent] = [
            AuditEvent(.written, client: "a", items: 1), AuditEvent(.refused, client: "b", failure: .groupNotHeld),
            AuditEvent(.unlockFailed, client: "c", failure: .wrongPasscode), AuditEvent(.erased, client: "d"),
        ]
        for change in changes {
            log.record(change)
            for number in 0..<100 { log.record(.read(number)) }
        }
        let records = try folder.records()
        #expect(records.filter { $0.log == nil }.map(\.event) == ["began"] + changes.map(\.kind.rawValue))
        #expect(records.filter { $0.event == "read" }.count < 100)
        #expect(try folder.verify()?.problems == [])
    }

    /// Each log tells how far the other one is, so that both are shown in the order of the events.
    @Test func bothLogsAreShownInTheOrderOfTheEvents() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        for number in 0..<20 {
            log.record(number % 3 == 0 ? AuditEvent(.written, client: "c", items: number) : .read(number))
        }
        #expect(try folder.records().compactMap(\.items) == Array(0..<20))
        #expect(try folder.records(AuditQuery(limit: 5)).compactMap(\.items) == Array(15..<20))
        #expect(try folder.verify() == AuditReport(records: 22))
    }

    @Test func anotherKeyContinuesTheChain() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        for number in 0..<3 { log.record(.read(number)) }
        let next = AuditFolder.Seal(2)
        folder.log(next).record(.read(3))
        #expect(
            try folder.verify(next) == AuditReport(records: 6, recordsOfEarlierKeys: 4))
        // The old records are held by the new one.
        var bytes = try folder.contents()
        bytes[bytes.startIndex + 20] ^= 1
        try folder.replace(with: bytes)
        #expect(try folder.verify(next)?.problems.isEmpty == false)
    }

    @Test func aKeyThatTheVaultDoesNotHaveIsAProblem() throws {
        let folder = try AuditFolder()
        folder.log(AuditFolder.Seal(2)).record(.read(1))
        #expect(try folder.verify()?.problems.isEmpty == false)
    }

    @Test func whereThereIsNoLogThereIsNoReport() throws {
        let folder = try AuditFolder()
        #expect(try folder.verify() == nil)
        #expect(try AuditReader(folder: folder.path).records(AuditQuery()) == nil)
        #expect(!AuditReader.hasLog(in: folder.path))
        folder.log().record(.read(1))
        #expect(AuditReader.hasLog(in: folder.path))
    }
}
