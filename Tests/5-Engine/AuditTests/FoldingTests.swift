import Access
import Audit
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface

/// No served program can fill the log of a daemon.
@Suite struct FoldingTests {
    private static func served(_ name: String, user: UInt32 = 1_000) -> ServedProgram {
        ServedProgram(user: user, name: name)
    }

    private static func event(
        _ kind: AuditEvent.Kind, by name: String, user: UInt32 = 1_000, group: String? = nil, items: Int? = nil,
        failure: AuditFailure? = nil
    ) -> AuditEvent {
        AuditEvent(
            kind, client: name, program: served(name, user: user),
            operation: AccessRequest(.copy, itemClass: .genericPassword, accessGroup: group), items: items,
            failure: failure)
    }

    @Test func repeatsAreOneRecordWithTheirNumber() throws {
        let folder = try AuditFolder()
        let log = folder.buffered()
        let refused = Self.event(.refused, by: "hostile", group: "g", failure: .groupNotHeld)
        log.record(refused)
        // The first is there at once.
        #expect(try folder.records().map(\.event) == ["began", "refused"])
        for _ in 0..<5 { log.record(refused) }
        log.record(Self.event(.refused, by: "hostile", group: "h", failure: .groupNotHeld))
        log.record(Self.event(.refused, by: "other", group: "g", failure: .groupNotHeld))
        for _ in 0..<5 { log.record(refused) }
        log.flush()
        let records = try folder.records().filter { $0.event == "refused" }
        // The number was written last, and stands where the first repeat was.
        #expect(records.map(\.client) == ["hostile", "hostile", "hostile", "other"])
        #expect(records.map(\.count) == [nil, 10, nil, nil])
        #expect(records[1].group == records[0].group && records[1].failure == "group-not-held")
        #expect(records[1].time == records[0].time + 1 && records[1].until == records[0].time + 12)
        #expect(records.map(\.sequence) == [2, 5, 3, 4])
        // The last ones are the last ones in that order.
        #expect(try folder.records(limit: 2).map(\.sequence) == [3, 4])
        #expect(try folder.records(limit: 3).map(\.sequence) == [5, 3, 4])
        // What was counted is not counted again, and the next one is a first one.
        log.record(refused)
        #expect(try folder.records().last?.count == nil)
        log.flush()
        #expect(try folder.verify() == AuditReport(records: 6))
    }

    /// A request to another place is no repeat, whatever number of bytes came back.
    @Test func requestsAreRepeatsOnlyToTheSamePlace() throws {
        let folder = try AuditFolder()
        let log = folder.buffered()
        for (path, received) in [("/one", 1), ("/one", 2), ("/two", 1), ("/one", 3), ("/two", 1)] {
            var event = Self.event(.brokered, by: "broker")
            event.request = BrokeredRequest(
                .placed, secrets: ["TOKEN"], host: "api.example.com", port: 443, path: path,
                received: Int64(received))
            log.record(event)
        }
        log.flush()
        let records = try folder.records().filter { $0.event == "brokered" }
        #expect(records.map(\.request?.path) == ["/one", "/one", "/two", "/two"])
        #expect(records.map(\.count) == [nil, 2, nil, 1])
    }

    /// A clock that is set back must not move a record before those that are older.
    @Test func aClockThatIsSetBackMovesNoNumberBeforeOlderRecords() throws {
        let folder = try AuditFolder()
        let offset = ClockOffset()
        let log = folder.buffered(offset: offset)
        log.record(Self.event(.written, by: "before"))
        offset.seconds.store(-86_400, ordering: .relaxed)
        for _ in 0..<3 { log.record(Self.event(.read, by: "p")) }
        log.record(Self.event(.written, by: "after"))
        log.flush()
        let records = try folder.records().filter { $0.event == "read" || $0.event == "written" }
        #expect(records.map(\.client) == ["before", "p", "p", "after"])
        #expect(records.map(\.count) == [nil, nil, 2, nil])
    }

    @Test func theSumOfRepeatsIsRecorded() throws {
        let folder = try AuditFolder()
        let log = folder.buffered()
        for number in 1...4 { log.record(Self.event(.read, by: "p", items: number)) }
        log.flush()
        let records = try folder.records().filter { $0.event == "read" }
        #expect(records.map(\.items) == [1, 9] && records.map(\.count) == [nil, 3])
    }

    @Test func changesAndWhatTakesARightAreNeverFolded() throws {
        let folder = try AuditFolder()
        let log = folder.buffered()
        let kinds: [AuditEvent.Kind] = [.written, .deleted, .unlocked, .locked, .passcodeChanged, .recoveryKeyMade]
        for kind in kinds {
            for _ in 0..<3 { log.record(Self.event(kind, by: "p", items: 1)) }
        }
        #expect(try folder.records().dropFirst().map(\.event) == kinds.flatMap { [$0, $0, $0] }.map(\.rawValue))
    }

    /// Nobody has to flush.
    @Test func theNumberIsWrittenAfterAWhile() throws {
        let folder = try AuditFolder()
        let log = folder.buffered(folding: .milliseconds(1))
        let refused = Self.event(.refused, by: "hostile", failure: .groupNotHeld)
        try eventually("a number is written") {
            log.record(refused)
            log.record(refused)
            return try folder.records().contains { $0.count != nil }
        }
    }

    /// A program that asks for ever other things, and changes its own items, pushes out nobody's records.
    @Test func aProgramCannotPushOutTheRecordsOfOthers() throws {
        var limits = AuditLimits()
        limits.file = 20_000
        limits.kept = 2
        let folder = try AuditFolder(limits: limits)
        var shares = AuditShares.Limits()
        shares.program = 6_000
        shares.user = 12_000
        let log = folder.buffered(shares)
        log.record(Self.event(.read, by: "victim", user: 2, items: 1))
        log.record(Self.event(.written, by: "victim", user: 2, items: 1))
        log.record(Self.event(.refused, by: "hostile", group: "the first", failure: .groupNotHeld))
        for number in 0..<3_000 {
            let group = "group \(number)"
            log.record(Self.event(.read, by: "hostile", group: group, failure: .notFound))
            log.record(Self.event(.refused, by: "hostile", group: group, failure: .groupNotHeld))
            log.record(Self.event(.written, by: "hostile", group: group, items: 1))
        }
        log.flush()
        let records = try folder.records()
        #expect(records.filter { $0.client == "victim" }.map(\.event) == ["read", "written"])
        // All is told, and what was done first in full.
        for (event, total) in [("read", 3_000), ("refused", 3_001), ("written", 3_000)] {
            let told = records.filter { $0.event == event && $0.client == "hostile" }
            #expect(told.first?.operation == "copy" && told.last?.operation == nil)
            #expect(told.reduce(0) { $0 + ($1.count ?? 1) } == total, "\(event)")
        }
        // Another program of the same user still has a share.
        log.record(Self.event(.written, by: "neighbour", items: 1))
        #expect(try folder.records().last?.client == "neighbour")
        #expect(try folder.verify()?.problems == [])
    }

    /// A program that asks for ever other items uses up half of its share, and no more: then they count as one.
    @Test func everOtherItemsLeaveHalfOfTheShare() throws {
        let folder = try AuditFolder()
        var shares = AuditShares.Limits()
        shares.program = 20_000
        let log = folder.buffered(shares)
        for number in 0..<3_000 {
            var event = Self.event(.read, by: "hostile", failure: .notFound)
            event.process = ClientProcess(user: 1_000, number: Int32(number))
            event.operation?.itemDigests = [UInt64(number)]
            log.record(event)
        }
        // A look of another kind still has a record of its own.
        log.record(Self.event(.listed, by: "hostile", group: "g", items: 1))
        log.flush()
        let records = try folder.records()
        #expect(records.contains { $0.event == "listed" && $0.operation == "copy" })
        let told = records.filter { $0.event == "read" }
        #expect(told.reduce(0) { $0 + ($1.count ?? 1) } == 3_000)
        #expect((2...20).contains(told.filter { $0.itemDigests != nil }.count))
        // The number of repeats has no process, because there were several.
        let rest = try #require(told.last)
        #expect(rest.count ?? 0 > 2_900 && rest.itemDigests == nil && rest.operation == "copy")
        #expect(rest.user == 1_000 && rest.process == nil)
    }

    /// Copies of a program have the share of their user, and no more.
    @Test func theProgramsOfAUserCannotPushOutTheRecordsOfOthers() throws {
        var limits = AuditLimits()
        limits.file = 20_000
        limits.kept = 2
        let folder = try AuditFolder(limits: limits)
        var shares = AuditShares.Limits()
        shares.program = 6_000
        shares.user = 12_000
        let log = folder.buffered(shares)
        log.record(Self.event(.refused, by: "victim", user: 2, failure: .groupNotHeld))
        for number in 0..<3_000 {
            log.record(Self.event(.refused, by: "copy \(number)", failure: .groupNotHeld))
        }
        log.flush()
        let records = try folder.records()
        #expect(records.contains { $0.client == "victim" })
        let rest = try #require(records.last { $0.client == "programs of user 1000" })
        #expect(rest.event == "refused" && rest.count ?? 0 > 2_900)
        #expect(records.filter { $0.event == "refused" }.reduce(0) { $0 + ($1.count ?? 1) } == 3_001)
    }
}
