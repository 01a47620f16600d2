import Access
import Audit
import Foundation
import TestSupport
import Testing
import Vault
import VaultInterface

/// What a crash leaves is mended by the next record, and said.
@Suite struct CrashTests {
    @Test func tornRecordsArePutOnRecord() throws {
        let folder = try AuditFolder()
        folder.log().record(.read(1))
        let whole = try folder.contents()
        let head = try folder.contents("audit-looks.head")
        folder.log().record(.read(2))
        let next = try folder.contents().dropFirst(whole.count)
        for count in 1..<next.count {
            try folder.replace(with: whole + next.prefix(count))
            try folder.replace("audit-looks.head", with: head)
            folder.log().record(.read(3))
            #expect(try folder.verify() == AuditReport(records: 4), "\(count) bytes")
            let records = try folder.records()
            #expect(records.map(\.event) == ["began", "read", "repaired", "read"])
            #expect(records[2].torn == count && records[2].failure == nil)
        }
    }

    /// The record was written and the head was not.
    @Test func recordsAfterTheHeadAreKept() throws {
        let folder = try AuditFolder()
        folder.log().record(.read(1))
        let head = try folder.contents("audit-looks.head")
        for number in 2...4 { folder.log().record(.read(number)) }
        try folder.replace("audit-looks.head", with: head)
        #expect(try folder.verify() == AuditReport(records: 5))
        folder.log().record(.read(5))
        #expect(try folder.records().compactMap(\.items) == [1, 2, 3, 4, 5])
        #expect(try folder.verify() == AuditReport(records: 6))
    }

    /// Killed between the steps of changing to a new file.
    @Test func rotationThatWasInterrupted() throws {
        let folder = try AuditFolder()
        folder.log().record(.read(1))
        try FileManager.default.moveItem(
            atPath: folder.path + "/audit-looks.log", toPath: folder.path + "/audit-looks.log.1")
        folder.log().record(.read(2))
        #expect(try folder.verify() == AuditReport(records: 4))

        // A file that is full is longer than what one append writes.
        for number in 3...5 { folder.log().record(.read(number)) }
        let head = try folder.contents("audit-looks.head")
        try FileManager.default.moveItem(
            atPath: folder.path + "/audit-looks.log.1", toPath: folder.path + "/audit-looks.log.2")
        try FileManager.default.moveItem(
            atPath: folder.path + "/audit-looks.log", toPath: folder.path + "/audit-looks.log.1")
        folder.log().record(.read(6))
        try folder.replace("audit-looks.head", with: head)
        #expect(try folder.verify() == AuditReport(records: 9))
        folder.log().record(.read(7))
        #expect(try folder.verify() == AuditReport(records: 10))
        #expect(try folder.records().compactMap(\.items) == Array(1...7))
    }

    @Test func whatCannotBeWrittenIsCounted() throws {
        let folder = try AuditFolder()
        let log = folder.log()
        log.record(.read(1))
        let bytes = try folder.contents()
        try FileManager.default.removeItem(atPath: folder.path + "/audit-looks.log")
        // A folder in the place of the file.
        try FileManager.default.createDirectory(
            atPath: folder.path + "/audit-looks.log", withIntermediateDirectories: false)
        for number in 2...4 { log.record(.read(number)) }
        #expect(log.missedEvents == 3)
        try FileManager.default.removeItem(atPath: folder.path + "/audit-looks.log")
        try folder.replace(with: bytes)
        log.record(.read(5))
        #expect(log.missedEvents == 0)
        #expect(try folder.records().map(\.missed) == [nil, nil, 3])
        #expect(try folder.verify() == AuditReport(records: 3, missedEvents: 3))
    }

    @Test func aBufferedLogKeepsTheOrder() throws {
        let folder = try AuditFolder()
        let log = BufferedAudit()
        log.begin(in: folder.place)
        for number in 0..<10_000 { log.record(.read(number, by: "client \(number)")) }
        log.record(AuditEvent(.locked, client: "c"))
        // What is more than looking is there at once, with all before it.
        #expect(try folder.records(AuditQuery(limit: 1)).map(\.event) == ["locked"])
        #expect(try folder.records().compactMap(\.items) == Array(0..<10_000))
        log.record(.read(10_000, by: "the last"))
        log.flush()
        #expect(try folder.verify() == AuditReport(records: 10_004))
    }
}
