#if HTTPClientSupport
import Bytes
import Foundation
import TestSupport
import Testing
import VaultInterface

@testable import CircleEtcd

/// What members say of how far they have got, through etcd.
@Suite struct EtcdAgreementTests {
    private let clock = MovedClock()

    private func circle(_ count: Int, _ etcd: EtcdUnderTest) async throws -> [EtcdMachine] {
        let machines = try (0..<count).map { try EtcdMachine("machine \($0)", etcd.endpoints, now: clock.now) }
        try await EtcdMachine.makeCircle(machines)
        return machines
    }

    /// Has everything travel, and everybody say what there is to say.
    private func settle(_ machines: [EtcdMachine]) async throws {
        for _ in 0..<3 {
            clock.move(by: 20)
            for machine in machines { try await machine.carrier.synchronize() }
        }
    }

    private func findings(_ machine: EtcdMachine) async -> CircleFindings {
        CircleFindings(atBeginningOf: await machine.carrier.place.encoded)
    }

    /// A record of one member is removed from etcd after another one read it: a third one says whose is missing, as
    /// an alarm after ten minutes, and no longer when it has come.
    @Test func whatIsWithheldIsToldByName() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(3, etcd)
        try machines[0].put("before", "1")
        try await settle(machines)
        for machine in machines { #expect(await findings(machine) == CircleFindings()) }
        let list = ["get", "--prefix", "--keys-only", "/swift-keychain/"]
        let before = Set(try etcd.control(list).split(separator: "\n"))
        try machines[0].put("alice", "1")
        try await settle(Array(machines[..<2]))
        let new = try etcd.control(list).split(separator: "\n").filter { !before.contains($0) && $0.contains("/i/") }
        #expect(new.count == 1)
        for key in new { try etcd.control(["del", String(key)]) }
        try await machines[2].carrier.synchronize()
        let found = await findings(machines[2])
        #expect(found.findings == [1: .behind] || found.findings == [1: .withheld(by: 2)], "\(found)")
        #expect(found.since[1] != nil)
        #expect(await machines[2].carrier.report.alarms.isEmpty)
        clock.move(by: 601)
        try await machines[2].carrier.synchronize()
        #expect(await findings(machines[2]).since == found.since)
        let text = try #require(found.findings[1]).text(1)
        #expect(await machines[2].carrier.report.alarms == [text])
        // The member whose it is puts it back.
        try await machines[0].carrier.synchronize()
        try await machines[2].carrier.synchronize()
        #expect(await findings(machines[2]) == CircleFindings())
        #expect(try machines[2].contents() == ["before": "1", "alice": "1"])
    }

    /// What went because of later versions is not missing.
    @Test func versionsThatWentAreNotMissing() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(3, etcd)
        try machines[0].put("alice", "0")
        try await settle(Array(machines[..<2]))
        for number in 1..<12 {
            clock.move(by: 3 * 24 * 3_600)
            try machines[1].put("alice", "\(number)")
            try await machines[1].carrier.synchronize()
        }
        try await settle([machines[2]])
        #expect(await findings(machines[2]) == CircleFindings())
        #expect(try machines[2].contents() == ["alice": "11"])
    }

    /// Members that have nothing new write nothing, however often they look.
    @Test func aQuietCircleWritesNothing() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(3, etcd)
        try machines[1].put("alice", "1")
        try await settle(machines)
        try await settle(machines)
        let revision = try etcd.revision()
        for _ in 0..<5 {
            clock.move(by: 1_800)
            for machine in machines { try await machine.carrier.synchronize() }
        }
        #expect(try etcd.revision() == revision)
        for machine in machines {
            let heads = try machine.status().members.map(\.heads.count)
            #expect(heads.count { $0 == 1 } == 2)
            #expect(await machine.carrier.report.alarms.isEmpty)
        }
    }

    /// A carrier tells by itself what its vault has to say, some time after it happened.
    @Test func whatIsToldComesByItself() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(2, etcd)
        let tasks = machines.map { machine in Task { await machine.run() } }
        defer { for task in tasks { task.cancel() } }
        try machines[0].put("alice", "1")
        try await suspendUntil("both have said something", within: 60) {
            try machines.allSatisfy { machine in try machine.status().members.contains { !$0.heads.isEmpty } }
        }
    }

    /// What a carrier says: the last of each member in each group, the newest first, as much as a head bears.
    @Test func claims() throws {
        var claims = EtcdClaims()
        func record(_ view: UInt8, _ item: UInt8, _ time: UInt64, _ member: UInt32) -> CircleObject {
            let key = Data(repeating: view, count: 16) + Data(repeating: item, count: 16)
            let version = Data(time.bigEndianBytes) + Data(member.bigEndianBytes)
            return CircleObject(.record, key: key, value: Data(count: 10) + version + Data(count: 20))
        }
        claims.note(record(1, 1, 5, 1))
        claims.note(record(1, 2, 7, 1))
        claims.note(record(1, 3, 6, 1))
        claims.note(CircleObject(.entry, key: Data(count: 4), value: Data(count: 60)))
        #expect(claims.last.count == 1 && claims.last.first?.value.time == 7)
        #expect(EtcdClaims(decoding: claims.encoded) == claims)
        let views = [Data(repeating: 1, count: 16)]
        #expect(claims.missing(in: EtcdClaims(), views: views) { _ in true }.map(\.claim.time) == [7])
        #expect(claims.missing(in: EtcdClaims(), views: views) { _ in false }.isEmpty)
        #expect(claims.missing(in: EtcdClaims(), views: []) { _ in true }.isEmpty)
        #expect(claims.missing(in: claims, views: views) { _ in true }.isEmpty)
        for number in UInt32(0)..<600 { claims.note(record(2, 1, 1_000 + UInt64(number), number)) }
        #expect(claims.last.count == EtcdClaims.mostKept)
        #expect(EtcdClaims(decoding: claims.encoded) == claims)
        #expect(claims.statement.count <= CircleHead.longestStatement)
        #expect(EtcdClaims(decoding: claims.statement).last.values.map(\.time).min() == 1_599 - 92)
        #expect(EtcdClaims(decoding: claims.encoded.dropLast()) == EtcdClaims())
    }
}
#endif
