#if HTTPClientSupport
import Bytes
import Foundation
import TestSupport
import Testing
import VaultInterface

@testable import CircleEtcd

/// An etcd that lies.
@Suite struct HostileEtcdTests {
    private struct Entry {
        var key: String
        var value: Data
    }

    private func entries(_ etcd: EtcdUnderTest) throws -> [Entry] {
        struct Reply: Decodable {
            struct Entry: Decodable {
                var key: Data
                var value: Data?
            }
            var kvs: [Entry]?
        }
        let text = try etcd.control(["get", "--prefix", "/swift-keychain/", "-w", "json"])
        return try (JSONDecoder().decode(Reply.self, from: Data(text.utf8)).kvs ?? []).map {
            Entry(key: String(decoding: $0.key, as: UTF8.self), value: $0.value ?? Data())
        }
    }

    /// Whoever writes to etcd changes, exchanges, repeats and removes what is there: no vault ever has an item that no
    /// member gave this value, what is refused is told, and what the members hold stays.
    @Test func nothingWrongIsTaken() async throws {
        var random = SeededGenerator()
        let etcd = try EtcdUnderTest()
        let machines = try (0..<2).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        var given: [String: Set<String>] = [:]
        func put(_ machine: EtcdMachine, _ account: String, _ value: String) throws {
            try machine.put(account, value)
            given[account, default: []].insert(value)
        }
        for number in 0..<20 { try put(machines[number % 2], "\(number % 10)", "first \(number)") }
        _ = try await EtcdMachine.settle(machines)
        for round in 0..<TestScale.count(40, soak: 1_000) {
            let present = try entries(etcd)
            let one = try #require(present.randomElement(using: &random))
            let other = try #require(present.randomElement(using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                var value = one.value
                guard let place = value.indices.randomElement(using: &random) else { continue }
                value[place] ^= UInt8.random(in: 1...255, using: &random)
                try etcd.control(["put", one.key], input: value)
            case 1: try etcd.control(["put", one.key], input: other.value)
            case 2: try etcd.control(["put", one.key], input: one.value.prefix(one.value.count / 2) + Data([0]))
            case 3: try etcd.control(["del", one.key])
            case 4:
                // Under a version of its own, and as the greatest one.
                let key = one.key.split(separator: "/").dropLast().joined(separator: "/")
                try etcd.control(["put", "/" + key + "/ffffffffffffffffffffffff"], input: other.value)
            default: try etcd.control(["put", one.key + "/more"], input: Data(repeating: 0xFF, count: 300))
            }
            if round % 4 == 0 { try put(machines[round / 4 % 2], "\(round % 10)", "round \(round)") }
            let before = try machines.map { try $0.contents().count }
            for machine in machines { try? await machine.carrier.synchronize() }
            for (machine, count) in zip(machines, before) {
                let contents = try machine.contents()
                #expect(contents.count >= count, "round \(round)")
                for (account, value) in contents {
                    #expect(given[account]?.contains(value) == true, "\(account): \(value) in round \(round)")
                }
            }
        }
        let refused = await machines[0].carrier.report.refused + machines[1].carrier.report.refused
        #expect(refused > 0)
        // The circle goes on through an honest cluster.
        let honest = try EtcdUnderTest()
        let moved = try machines.map { try EtcdMachine($0.name, honest.endpoints, vault: $0.vault) }
        let contents = try await EtcdMachine.settle(moved)
        #expect(contents[0] == contents[1] && contents[0].count == 10)
    }

    /// Answers that are none of etcd's are a problem that is told, and nothing else.
    @Test(arguments: [
        "", "{", "[]", "null", #"{"header":{"cluster_id":"x"}}"#, #"{"header":{"revision":"99999999999999999999"}}"#,
        #"{"kvs":[{"key":"!!","value":"?"}]}"#, #"{"header":{"revision":"-5"},"kvs":[{}]}"#,
        #"{"kvs":[{"key":"L3N3aWZ0LWtleWNoYWluL2NpcmNsZS8="}],"more":true}"#,
        #"{"result":{"events":[{"kv":{}}],"watch_id":"77"}}"#, "<html>busy</html>",
    ]) func answersThatAreNone(answer: String) async throws {
        let server = try LoopbackServer { _ in .body(Data(answer.utf8)) }
        let machine = try EtcdMachine("machine", [server.address])
        try machine.change(.create(name: "machine", groups: [EtcdMachine.group], location: "etcd:test"))
        try machine.put("alice", "stays")
        let carrying = Task { await machine.run() }
        try await Task.sleep(for: .milliseconds(300))
        carrying.cancel()
        await carrying.value
        #expect(try machine.contents() == ["alice": "stays"])
        #expect(try machine.status().outgoing > 0)
    }

    /// A node that begins an answer and does not end it is left for the next one.
    @Test(arguments: [LoopbackServer.Response.endless(length: 1_000), .trickling]) func answersWithoutEnd(
        answer: LoopbackServer.Response
    ) async throws {
        let etcd = try EtcdUnderTest()
        let servers = try (0..<3).map { _ in try LoopbackServer { _ in answer } }
        let machine = try EtcdMachine("machine", servers.map(\.address) + etcd.endpoints)
        try machine.change(.create(name: "machine", groups: [EtcdMachine.group], location: "etcd:test"))
        try machine.put("alice", "travels")
        let carrying = Task { await machine.run() }
        defer { carrying.cancel() }
        try await suspendUntil("the item is in etcd", within: 60) {
            try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"]).contains("/i/")
        }
    }

    /// Somebody removes what the members wrote, while they watch: they say so, and put it back.
    @Test(arguments: ["", "c1/", "i/"]) func removalsAreMadeGood(part: String) async throws {
        let etcd = try EtcdUnderTest()
        let machines = try (0..<2).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        for number in 0..<5 { try machines[number % 2].put("\(number)", "value") }
        _ = try await EtcdMachine.settle(machines)
        let list = ["get", "--prefix", "--keys-only", "/swift-keychain/"]
        func lasting() throws -> Set<Substring> {
            // Members keep no request, no head, and no keys for others that these have.
            Set(try etcd.control(list).split(separator: "\n").filter { !$0.contains(/\/(b|c5|c6)\//) })
        }
        let tasks = machines.map { machine in Task { await machine.run() } }
        defer { for task in tasks { task.cancel() } }
        for machine in machines {
            try await suspendUntil("it watches", within: 30) { await machine.carrier.begun.count == 3 }
        }
        let before = try lasting()
        let circle = try #require(machines[0].status().circle).hexadecimal()
        try etcd.control(["del", "--prefix", "/swift-keychain/circle/\(circle)/\(part)"])
        try await suspendUntil("it is back", within: 60) { try lasting().isSuperset(of: before) }
        #expect(await machines[0].carrier.report.alarms.contains { $0.contains("lost what members wrote") })
    }

    /// Somebody puts something else where the next entry of the log goes: the vault keeps its own, and writes it when
    /// the place is free.
    @Test func aPlaceThatIsOccupied() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try (0..<2).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        _ = try await EtcdMachine.settle(machines)
        let last = try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"]).split(separator: "\n")
            .filter { $0.contains("/c1/") }.max()
        let begin = try #require(last?.dropLast(8))
        let number = try #require(last.flatMap { UInt32($0.suffix(8), radix: 16) })
        let place = begin + Data((number + 1).bigEndianBytes).hexadecimal()
        try etcd.control(["put", String(place)], input: Data("junk".utf8))
        try machines[0].change(.invite(count: 1, seconds: 3_600, rights: 15))
        await #expect {
            try await machines[0].carrier.synchronize()
        } throws: { error in
            EtcdCarrier.reason(error).contains("another entry of the circle's log")
        }
        #expect(try machines[0].status().outgoing > 0)
        try etcd.control(["del", String(place)])
        _ = try await EtcdMachine.settle(machines)
        #expect(try machines[1].status().invitations.count == 1 && machines[0].status().outgoing == 0)
    }

    /// Items of many bytes are read in parts.
    @Test func longAnswersAreReadInParts() async throws {
        let etcd = try EtcdUnderTest()
        let machine = try EtcdMachine("machine", etcd.endpoints)
        try await EtcdMachine.makeCircle([machine])
        for number in 0..<40 { try machine.put("\(number)", String(repeating: "x", count: 20_000)) }
        try await machine.carrier.synchronize()
        let other = try EtcdMachine("other", etcd.endpoints, longestAnswer: 500_000)
        try await machine.admit(other)
        try await other.carrier.synchronize()
        #expect(try other.contents().count == 40)
    }

    /// Keys that are no object's are passed over, and those of objects are read as what was written.
    @Test func keys() throws {
        let keys = EtcdKeys(circle: Data(repeating: 0xAB, count: 16))
        let record = Data(repeating: 7, count: 40)
        for (kind, size) in [
            (CircleObject.Kind.record, 32), (.entry, 4), (.delivery, 20), (.viewEntry, 24), (.certificate, 6),
            (.request, 16), (.head, 4),
        ] {
            let object = CircleObject(kind, key: Data((0..<size).map { UInt8(truncatingIfNeeded: $0) }), value: record)
            let key = try #require(keys.key(of: object))
            #expect(keys.object(key, record) == object)
            #expect(EtcdKeys.circle(in: key) == keys.circle)
            #expect(EtcdKeys(circle: Data(count: 16)).object(key, record) == nil)
            for count in 0..<key.count {
                let cut = keys.object(key.prefix(count), record)
                #expect(cut == nil || cut == object)
            }
        }
        #expect(keys.key(of: CircleObject(.record, key: Data(count: 32), value: Data(count: 21))) == nil)
        #expect(keys.key(of: CircleObject(.record, key: Data(count: 31), value: record)) == nil)
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(2_000, soak: 1_000_000) {
            let bytes = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = keys.object(Data(bytes), Data())
            _ = keys.object(keys.heads.begin.dropLast(3) + Data(bytes), Data())
            _ = EtcdPlace(decoding: Data(bytes))
            _ = EtcdPlace(decoding: Data([0, 0, 0, 0, 2]) + Data(bytes))
            _ = CircleFindings(atBeginningOf: Data(bytes))
            _ = EtcdClaims(decoding: Data(bytes))
        }
    }
}
#endif
