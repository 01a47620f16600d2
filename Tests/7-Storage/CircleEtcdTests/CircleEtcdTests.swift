#if HTTPClientSupport
import Foundation
import TestSupport
import Testing
import VaultInterface

@testable import CircleEtcd

@Suite struct CircleEtcdTests {
    private func machines(_ count: Int, _ etcd: EtcdUnderTest) throws -> [EtcdMachine] {
        try (0..<count).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
    }

    private func expectQuiet(_ machines: [EtcdMachine]) async {
        for machine in machines {
            let report = await machine.carrier.report
            #expect(report.alarms.isEmpty && report.refused == 0 && report.problem == nil, "\(report)")
        }
    }

    /// Runs `body` while the items of all machines travel.
    private func running(_ machines: [EtcdMachine], _ body: () async throws -> Void) async throws {
        let tasks = machines.map { machine in Task { await machine.run() } }
        do { try await body() } catch {
            for task in tasks { task.cancel() }
            throw error
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func wait(
        _ what: String, _ machines: [EtcdMachine], within seconds: Int = 60,
        until condition: @escaping (EtcdMachine) throws -> Bool
    ) async throws {
        do {
            for machine in machines { try await suspendUntil(what, within: seconds) { try condition(machine) } }
        } catch {
            for machine in machines { print(machine.name, await machine.carrier.report) }
            throw error
        }
    }

    /// The place that a vault keeps for the carrier, and others that are none.
    @Test func places() {
        var place = EtcdPlace()
        place.cluster = .max
        place.revisions = [Data("a/".utf8): 7, Data("b/".utf8): .max]
        #expect(EtcdPlace(decoding: place.encoded) == place)
        place.witness = EtcdPlace.Witness(key: Data("key".utf8), revision: 9, value: Data("value".utf8))
        #expect(EtcdPlace(decoding: place.encoded) == place)
        #expect(place.last == .max)
        place.findings.note(.withheld(by: 7), of: 9)
        place.findings.note(.otherLog, of: 8)
        place.findings.keepTimes(from: [8: Date(milliseconds: 5_000)], now: Date(milliseconds: 6_001))
        #expect(EtcdPlace(decoding: place.encoded) == place)
        #expect(CircleFindings(atBeginningOf: place.encoded) == place.findings)
        #expect(place.findings.since == [8: Date(milliseconds: 5_000), 9: Date(milliseconds: 6_001)])
        for count in 0..<place.encoded.count {
            #expect(EtcdPlace(decoding: place.encoded.prefix(count)) == EtcdPlace())
        }
        // What an earlier format had at the beginning.
        #expect(EtcdPlace(decoding: Data([1]) + EtcdPlace().encoded.dropFirst(4)) == EtcdPlace())
    }

    @Test func twoMachines() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try machines(2, etcd)
        try await EtcdMachine.makeCircle(machines)
        try machines[0].put("alice", "one")
        #expect(try await EtcdMachine.settle(machines) == Array(repeating: ["alice": "one"], count: 2))
        try machines[1].put("alice", "two")
        try machines[1].put("bob", "three")
        #expect(try await EtcdMachine.settle(machines) == Array(repeating: ["alice": "two", "bob": "three"], count: 2))
        try machines[0].remove("alice")
        #expect(try await EtcdMachine.settle(machines) == Array(repeating: ["bob": "three"], count: 2))
        await expectQuiet(machines)
    }

    /// A change reaches the others by itself, in both directions.
    @Test func changesTravelByThemselves() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try machines(3, etcd)
        try await EtcdMachine.makeCircle(machines)
        try await running(machines) {
            for round in 0..<10 {
                try machines[round % 3].put("account \(round)", "value \(round)")
                try await wait("the change is everywhere", machines) {
                    try $0.contents()["account \(round)"] == "value \(round)"
                }
            }
        }
        await expectQuiet(machines)
    }

    /// Two members write an entry of the log at once: etcd takes the first, and the other one is made again behind it.
    @Test func entriesOfTheLogAtOnce() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try machines(3, etcd)
        try await EtcdMachine.makeCircle(Array(machines.prefix(2)))
        for machine in machines.prefix(2) {
            try machine.change(.invite(count: 2, seconds: 3_600, rights: 15))
            try machine.change(.invite(count: 3, seconds: 3_600, rights: 15))
        }
        _ = try await EtcdMachine.settle(Array(machines.prefix(2)))
        for machine in machines.prefix(2) {
            #expect(try machine.status().invitations.map(\.left).sorted() == [2, 2, 3, 3])
        }
        // Both let a machine in at once.
        let fourth = try EtcdMachine("machine 3", etcd.endpoints)
        for (member, newcomer) in zip(machines, [machines[2], fourth]) {
            let secret = try #require(try member.change(.invite(count: 1, seconds: 3_600, rights: 15)).secret)
            try await member.carrier.synchronize()
            try newcomer.change(
                .join(secret: secret, name: newcomer.name, location: "etcd:test", groups: [EtcdMachine.group]))
            try await newcomer.carrier.synchronize()
        }
        _ = try await EtcdMachine.settle(Array(machines.prefix(2)))
        for (member, newcomer) in zip(machines, [machines[2], fourth]) {
            let request = try #require(try member.status().requests.first { $0.name == newcomer.name })
            try member.change(.approve(request: request.identifier, groups: nil))
        }
        // The second admission gave way to the first, and a person admits again.
        let all = machines + [fourth]
        _ = try await EtcdMachine.settle(all)
        for request in try machines[1].status().requests {
            try machines[1].change(.approve(request: request.identifier, groups: nil))
        }
        _ = try await EtcdMachine.settle(all)
        try fourth.put("alice", "one")
        #expect(try await EtcdMachine.settle(all) == Array(repeating: ["alice": "one"], count: 4))
        for machine in all {
            let report = await machine.carrier.report
            #expect(report.alarms.isEmpty, "\(machine.name): \(report)")
        }
    }

    /// What was compacted while a machine was away costs it what changed and no more.
    @Test func aWatchAfterACompaction() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try machines(2, etcd)
        try await EtcdMachine.makeCircle(machines)
        for number in 0..<200 { try machines[0].put("\(number)", "first") }
        _ = try await EtcdMachine.settle(machines)
        let before = await machines[1].carrier.report.read
        for round in 0..<3 {
            for number in 0..<10 { try machines[0].put("\(number)", "round \(round)") }
            try await machines[0].carrier.synchronize()
        }
        try etcd.control(["compact", "\(etcd.revision())"])
        try await running(machines) {
            try await wait("the changes came", machines) { machine in
                let contents = try machine.contents()
                return contents.count == 200 && contents.values.count { $0 == "round 2" } == 10
            }
            // A watch that runs does not notice a compaction.
            try machines[0].put("10", "later")
            try await wait("a later change came", machines) { try $0.contents()["10"] == "later" }
            try etcd.control(["compact", "\(etcd.revision())"])
            try machines[1].put("11", "latest")
            try await wait("the last change came", machines) { try $0.contents()["11"] == "latest" }
        }
        let read = await machines[1].carrier.report.read - before
        #expect((30...34).contains(read), "\(read) objects were read")
        await expectQuiet(machines)
    }

    /// etcd is restored from a backup, and its revisions may have passed those of before: the members notice, put back
    /// what they hold, and a newcomer finds all of it.
    @Test(arguments: [false, true]) func aStoreThatWentBack(isPassed: Bool) async throws {
        let etcd = try EtcdUnderTest()
        let machines = try machines(3, etcd)
        try await EtcdMachine.makeCircle(Array(machines.prefix(2)))
        try machines[0].put("before", "kept")
        _ = try await EtcdMachine.settle(Array(machines.prefix(2)))
        try etcd.control(["snapshot", "save", etcd.path(of: "backup")], endpoints: [etcd.endpoints[0]])
        for number in 0..<150 { try machines[number % 2].put("after \(number)", "kept") }
        _ = try await EtcdMachine.settle(Array(machines.prefix(2)))
        try etcd.restore(etcd.path(of: "backup"))
        if isPassed { for number in 0..<200 { try etcd.control(["put", "other", "\(number)"]) } }
        try machines[1].put("later", "kept")
        try await running(Array(machines.prefix(2))) {
            try await wait("both go on", Array(machines.prefix(2))) { try $0.contents().count == 152 }
            try await suspendUntil("everything is back", within: 60) {
                try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"]).matches(of: /\/i\//).count
                    >= 152
            }
        }
        try await machines[0].admit(machines[2])
        #expect(try await EtcdMachine.settle(machines).allSatisfy { $0.count == 152 })
        for machine in machines.prefix(2) {
            let alarms = await machine.carrier.report.alarms
            #expect(
                alarms.contains { $0.contains(isPassed ? "lost what this machine wrote" : "went back") }, "\(alarms)")
        }
        for machine in machines { #expect(await machine.carrier.report.refused == 0) }
    }

    /// A node is killed, another one stops, and then there is no majority: items travel as long as there is one, and go
    /// on when it is back.
    @Test func nodesThatDie() async throws {
        let etcd = try EtcdUnderTest(nodes: 3)
        let machines = try machines(3, etcd)
        try await EtcdMachine.makeCircle(machines)
        try await running(machines) {
            etcd.kill(0)
            try machines[0].put("alice", "with two nodes")
            try await wait("the change came", machines) { try $0.contents()["alice"] == "with two nodes" }
            // Nobody has a majority, and the vaults work as before.
            etcd.stop(1)
            try machines[1].put("alice", "with one node")
            try machines[2].put("bob", "with one node")
            #expect(try machines[1].contents()["alice"] == "with one node")
            try etcd.start(0)
            try await wait("the changes came", machines, within: 120) {
                try $0.contents() == ["alice": "with one node", "bob": "with one node"]
            }
            etcd.resume(1)
        }
        for machine in machines { #expect(await machine.carrier.report.alarms.isEmpty) }
    }

    /// etcd has no space left: it is said, everything waits, and goes on when an operator made space.
    @Test func aFullStore() async throws {
        let etcd = try EtcdUnderTest(options: ["--quota-backend-bytes", "1048576"])
        let machines = try machines(2, etcd)
        try await EtcdMachine.makeCircle(machines)
        try etcd.control(["put", "filler"], input: Data(repeating: 0x61, count: 900_000))
        _ = try? etcd.control(["put", "filler"], input: Data(repeating: 0x62, count: 900_000))
        try await running(machines) {
            try machines[0].put("alice", "waits")
            try await suspendUntil("the problem is told", within: 60) {
                await machines[0].carrier.report.problem?.contains("no space left") == true
            }
            #expect(try machines[0].status().outgoing > 0)
            try etcd.control(["del", "filler"])
            try etcd.control(["compact", "\(etcd.revision())"])
            try etcd.control(["defrag"])
            try etcd.control(["alarm", "disarm"])
            try await wait("the item came", machines) { try $0.contents() == ["alice": "waits"] }
        }
    }

    /// Users of etcd: a role with the circle's keys is enough, tokens are renewed, and who has no right hears so.
    @Test func usersOfEtcd() async throws {
        let etcd = try EtcdUnderTest(options: ["--bcrypt-cost", "4", "--auth-token-ttl", "2"])
        for arguments in [
            ["user", "add", "root:root"], ["user", "grant-role", "root", "root"], ["role", "add", "circle"],
            ["role", "grant-permission", "circle", "--prefix=true", "readwrite", "/swift-keychain/"],
            ["user", "add", "member:right"], ["user", "grant-role", "member", "circle"],
            ["user", "add", "stranger:right"],
        ] {
            _ = try? etcd.control(arguments)
        }
        try etcd.control(["auth", "enable"])
        let machines = try (0..<2).map {
            try EtcdMachine("machine \($0)", etcd.endpoints, user: .init(name: "member", password: "right"))
        }
        try await EtcdMachine.makeCircle(machines)
        try await running(machines) {
            try machines[0].put("alice", "one")
            try await wait("the item came", machines) { try $0.contents() == ["alice": "one"] }
            // Longer than a token lives without use.
            try await Task.sleep(for: .seconds(4))
            try machines[1].put("alice", "two")
            try await wait("the change came", machines) { try $0.contents() == ["alice": "two"] }
        }
        await expectQuiet(machines)
        for (name, password, text) in [
            ("stranger", "right", "permission denied"), ("member", "wrong", "authentication failed"),
        ] {
            let machine = try EtcdMachine("other", etcd.endpoints, user: .init(name: name, password: password))
            try machine.change(.create(name: "other", groups: ["TEAM.app"], location: "etcd:test"))
            await #expect {
                try await machine.carrier.synchronize()
            } throws: { error in
                guard case EtcdError.notPermitted(_, let reason) = error else { return false }
                return reason.contains(text)
            }
        }
    }

    /// No name of an item, a machine or a group, and no value, is in any file of etcd.
    @Test func etcdIsToldNothing() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try (0..<2).map { try EtcdMachine("canary-machine-\($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        try machines[0].put("canary-account", "canary-value")
        #expect(try await EtcdMachine.settle(machines)[1] == ["canary-account": "canary-value"])
        try etcd.control(["snapshot", "save", etcd.path(of: "backup")], endpoints: [etcd.endpoints[0]])
        etcd.kill(0)
        var found = 0
        let files = FileManager.default.enumerator(atPath: etcd.data(of: 0))?.compactMap { $0 as? String } ?? []
        for path in files.map({ etcd.data(of: 0) + "/" + $0 }) + [etcd.path(of: "backup")] {
            guard let bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else { continue }
            found += bytes.range(of: Data("/swift-keychain/circle/".utf8)) == nil ? 0 : 1
            for word in ["canary", "TEAM.app"] {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(path)")
            }
        }
        #expect(found >= 2)
    }

    /// Old versions of items do not stay for ever, and the last ones do.
    @Test func oldVersionsGo() async throws {
        let etcd = try EtcdUnderTest()
        let clock = MovedClock()
        let machine = try EtcdMachine("machine", etcd.endpoints, now: clock.now)
        try await EtcdMachine.makeCircle([machine])
        for number in 0..<12 {
            clock.move(by: 24 * 3_600)
            try machine.put("alice", "\(number)")
            try await machine.carrier.synchronize()
        }
        let keys = try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"])
        // Those of a week, and at least three.
        #expect(keys.matches(of: /\/i\//).count == 7)
        clock.move(by: 30 * 24 * 3_600)
        try machine.put("alice", "last")
        try await machine.carrier.synchronize()
        #expect(
            try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"]).matches(of: /\/i\//).count == 3)
        let newcomer = try EtcdMachine("newcomer", etcd.endpoints, now: clock.now)
        try await machine.admit(newcomer)
        #expect(try await EtcdMachine.settle([machine, newcomer])[1] == ["alice": "last"])
    }
}
#endif
