#if HTTPClientSupport
import Foundation
import TestSupport
import Testing
import VaultInterface

@testable import CircleEtcd

/// Changes about which etcd decides while a group gets new keys, and its items other names.
@Suite struct CircleRotationTests {
    /// A circle in which the counter is 1, and whose last machine is to go.
    private func circle(_ count: Int, _ etcd: EtcdUnderTest) async throws -> [EtcdMachine] {
        let machines = try (0..<count).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        try machines[0].put("counter", "1")
        // The others know what signs its changes.
        try machines[1].put("other", "1")
        _ = try await EtcdMachine.settle(machines)
        return machines
    }

    private func propose(_ machine: EtcdMachine, _ value: Int?, over present: Int?) throws -> CircleProposal {
        let reply = try machine.vault.perform(
            ProposeInCircle(
                machine.counter(value), expecting: present.map { Data("\($0)".utf8) }, within: 60_000),
            as: machine.session.client)
        guard case .proposed(let proposal) = reply else {
            throw VaultError.invalidRequest(reason: "\(reply)")
        }
        return proposal
    }

    private func state(_ proposal: CircleProposal, _ machine: EtcdMachine) throws -> ProposalState {
        try machine.vault.perform(AskProposal(proposal, isWithdrawn: false), as: machine.session.client)
    }

    /// Writes without reading first, as a carrier does that was told to read and was not fast enough.
    private func push(_ machine: EtcdMachine) async throws {
        do { try await machine.carrier.push() } catch EtcdError.beginAgain {}
    }

    /// Nothing differs, and nobody complains.
    private func expectPeace(_ machines: [EtcdMachine], _ value: Int?) async throws {
        _ = try await EtcdMachine.settle(machines)
        for machine in machines {
            let report = await machine.carrier.report
            #expect(report.alarms.isEmpty && report.conflicts == 0 && report.refused == 0, "\(report)")
            #expect(try machine.status().conflicts == 0 && machine.status().outgoing == 0)
            #expect(try machine.value() == value)
        }
    }

    /// One half decided under the former keys before the entry of the new ones was in etcd. The other half, which has
    /// the new ones, comes from that, though its maker is away.
    @Test(arguments: [2, nil]) func whatWasAcceptedBeforeCounts(value: Int?) async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(4, etcd)
        try machines[0].change(.remove(member: 4))
        let late = try propose(machines[0], 3, over: 1)
        let early = try propose(machines[1], value, over: 1)
        try await push(machines[1])
        #expect(try state(early, machines[1]) == .accepted)
        // It has read nothing since.
        try await push(machines[0])
        #expect(try state(late, machines[0]) == .pending && machines[0].value() == value)
        // Once the other change is there under the present name, this is final.
        try await push(machines[0])
        #expect(try state(late, machines[0]) == .refused)
        let next = try propose(machines[0], 3, over: value)
        try await push(machines[0])
        #expect(try state(next, machines[0]) == .accepted && machines[0].value() == 3)
        try await expectPeace(Array(machines.prefix(3)), 3)
    }

    /// The other half does not know yet what signs the change that was accepted: it waits for that.
    @Test func theCertificateIsLate() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(4, etcd)
        try machines[0].change(.remove(member: 4))
        let early = try propose(machines[2], 2, over: 1)
        try await push(machines[2])
        #expect(try state(early, machines[2]) == .accepted)
        let late = try propose(machines[0], 2, over: 1)
        for _ in 0..<2 {
            try await push(machines[0])
            #expect(try state(late, machines[0]) == .pending && machines[0].value() == 1)
        }
        try await machines[0].carrier.synchronize()
        #expect(try state(late, machines[0]) == .refused && machines[0].value() == 2)
        let next = try propose(machines[0], 3, over: 2)
        try await push(machines[0])
        #expect(try state(next, machines[0]) == .accepted)
        try await expectPeace(Array(machines.prefix(3)), 3)
    }

    /// Who reads a change under former keys takes it, before the member that made it seals it anew.
    @Test func whoHasTheNewKeysReadsTheFormer() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(4, etcd)
        try machines[0].change(.remove(member: 4))
        let early = try propose(machines[1], 2, over: 1)
        try await push(machines[1])
        #expect(try state(early, machines[1]) == .accepted)
        try await machines[0].carrier.synchronize()
        try await machines[2].carrier.synchronize()
        #expect(try machines[0].value() == 2 && machines[2].value() == 2)
        try await expectPeace(Array(machines.prefix(3)), 2)
    }

    /// Under former keys, nothing is accepted once the entry of the new ones is in etcd.
    @Test func nothingIsAcceptedUnderFormerKeys() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(3, etcd)
        let former = try propose(machines[1], 2, over: 1)
        try machines[0].change(.remove(member: 3))
        try await machines[0].carrier.synchronize()
        // It has not read that.
        try await push(machines[1])
        #expect(try state(former, machines[1]) == .refused && machines[1].value() == 1)
        try await machines[1].carrier.synchronize()
        let next = try propose(machines[1], 2, over: 1)
        try await machines[1].carrier.synchronize()
        #expect(try state(next, machines[1]) == .accepted)
        try await expectPeace(Array(machines.prefix(2)), 2)
    }

    /// What etcd has under a former name and no vault counts, such as an ordinary change of a member that is away,
    /// delays a change, and does not keep it from being made.
    @Test func whatNobodyCountsDelaysOnly() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(4, etcd)
        try machines[0].change(.remove(member: 4))
        try machines[1].put("counter", "10")
        try await push(machines[1])
        let proposal = try propose(machines[0], 2, over: 1)
        try await push(machines[0])
        #expect(try state(proposal, machines[0]) == .pending)
        try await machines[0].carrier.synchronize()
        #expect(try state(proposal, machines[0]) == .accepted)
        let contents = try await EtcdMachine.settle(Array(machines.prefix(3)))
        #expect(Set(contents.map { $0["counter"] }).count == 1)
    }

    /// A member that was removed knows the former keys: what it has etcd accept under them counts for nobody.
    @Test func whoWasRemovedChangesNothing() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(3, etcd)
        try machines[0].change(.remove(member: 3))
        let theirs = try propose(machines[2], 2, over: 1)
        try await push(machines[2])
        #expect(try state(theirs, machines[2]) == .accepted)
        try await expectPeace(Array(machines.prefix(2)), 1)
        let next = try propose(machines[1], 5, over: 1)
        try await machines[1].carrier.synchronize()
        #expect(try state(next, machines[1]) == .accepted)
        try await expectPeace(Array(machines.prefix(2)), 5)
    }

    /// Somebody writes entries of keys that nobody gave: they delay a change, and do not keep it from being made.
    @Test func entriesThatNobodyMadeDelayOnly() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(2, etcd)
        let listed = try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"])
        let entry = try #require(listed.split(separator: "\n").first { $0.contains("/c4/") })
        let view = entry.split(separator: "/").prefix(5).joined(separator: "/")
        for digits in ["3ffffffe00000000", "fffffffe00000000", "3ffffffe00000001"] {
            _ = try etcd.control(["put", "/\(view)/\(digits)/0123456789abcdef", "nothing"])
        }
        let first = try propose(machines[0], 2, over: 1)
        try await push(machines[0])
        #expect(try state(first, machines[0]) == .refused)
        for value in 2...3 {
            let next = try propose(machines[0], value, over: value - 1)
            try await machines[0].carrier.synchronize()
            #expect(try state(next, machines[0]) == .accepted)
        }
        #expect(await machines[0].carrier.report.alarms.contains { $0.contains("that this machine cannot use") })
    }

    /// Who gets the group after its new keys finds what was accepted under the former ones, which it never gets: that
    /// does not wait for ever.
    @Test func whoComesLaterWaitsForNothing() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(3, etcd) + [try EtcdMachine("later", etcd.endpoints)]
        for value in 2...5 {
            let proposal = try propose(machines[1], value, over: value - 1)
            try await machines[1].carrier.synchronize()
            #expect(try state(proposal, machines[1]) == .accepted)
        }
        try machines[0].change(.remove(member: 3))
        _ = try await EtcdMachine.settle(Array(machines.prefix(2)))
        try await machines[0].admit(machines[3])
        let staying = [machines[0], machines[1], machines[3]]
        try await expectPeace(staying, 5)
        for machine in staying { #expect(try machine.status().waiting == 0) }
        let next = try propose(machines[3], 6, over: 5)
        try await machines[3].carrier.synchronize()
        #expect(try state(next, machines[3]) == .accepted)
        try await expectPeace(staying, 6)
    }

    /// A machine that leaves has written all before, and the others read it afterwards, though they give the group new
    /// keys.
    @Test func whoLeavesTakesNothingAway() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(2, etcd)
        let former = try machines[0].status().views.first?.generation
        try machines[1].put("last", "words")
        let proposal = try propose(machines[1], 2, over: 1)
        try await machines[1].carrier.synchronize()
        #expect(try state(proposal, machines[1]) == .accepted)
        try machines[1].put("very last", "words")
        try machines[1].change(.leave)
        await #expect(throws: EtcdError.noCircle) { try await machines[1].carrier.synchronize() }
        // What it learns while it watches does not make it give new keys at once.
        let carrier = machines[0].carrier
        let areas = await carrier.areasOf(try await carrier.collect(limit: 0).state)
        try await carrier.catchUp(try #require(areas.first))
        #expect(try machines[0].status().members.last?.isRemoved == true)
        await #expect(throws: EtcdError.beginAgain) { try await carrier.push() }
        #expect(try machines[0].status().views.first?.generation == former)
        try await expectPeace([machines[0]], 2)
        #expect(
            try machines[0].contents() == ["counter": "2", "other": "1", "last": "words", "very last": "words"])
        #expect(try machines[0].status().views.first?.generation != former)
    }

    /// The member that removes a machine gives the new keys. The first holder then gives none of its own, whether it
    /// reads by ranges or watches.
    @Test(arguments: [false, true]) func oneGivesTheKeys(isWatching: Bool) async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(4, etcd)
        let staying = Array(machines.prefix(3))
        let watching = isWatching ? Task { await machines[0].run() } : nil
        try machines[1].change(.remove(member: 4))
        try await machines[1].carrier.synchronize()
        if isWatching {
            let before = try machines[1].status().views.first?.generation
            while try machines[0].status().views.first?.generation != before {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        watching?.cancel()
        await watching?.value
        try await expectPeace(staying, 1)
        let entries = try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"])
            .matches(of: /\/c4\/[0-9a-f]{32}\/([0-9a-f]{8})00000000\//).map(\.1)
        #expect(entries.count == 2 && Set(entries).count == 2, "\(entries)")
        #expect(Set(try staying.map { try $0.status().views.first?.generation }).count == 1)
    }

    /// Machines go while others count: each acknowledged increment counts once.
    @Test func noIncrementIsLostWhenMembersGo() async throws {
        let etcd = try EtcdUnderTest()
        let leaving = TestScale.count(3, soak: 30)
        let machines = try (0..<(3 + leaving)).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        let staying = Array(machines.prefix(3))
        // Who removes knows all.
        _ = try await EtcdMachine.settle(staying)
        let carrying = staying.map { machine in Task { await machine.run() } }
        let isOver = Collected<Void>()
        let counts = try await withThrowingTaskGroup(of: IncrementCount.self) { group in
            for machine in staying {
                group.addTask {
                    var count = IncrementCount()
                    while isOver.all.isEmpty {
                        let one = try await machine.count(1, patience: .seconds(10))
                        count.acknowledged += one.acknowledged
                        count.unknown += one.unknown
                    }
                    return count
                }
            }
            var random = SeededGenerator()
            do {
                for number in 0..<leaving {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 50...500, using: &random)))
                    // One person removes machines.
                    try machines[1].change(.remove(member: UInt32(4 + number)))
                }
                try await Task.sleep(for: .seconds(1))
            } catch {
                isOver.append(())
                throw error
            }
            isOver.append(())
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for task in carrying { task.cancel() }
        for task in carrying { await task.value }
        let acknowledged = counts.map(\.acknowledged).reduce(0, +)
        let unknown = counts.map(\.unknown).reduce(0, +)
        let contents = try await EtcdMachine.settle(staying)
        let sum = try #require(contents[0]["counter"].flatMap { Int($0) })
        #expect(acknowledged > 0 && (acknowledged...(acknowledged + unknown)).contains(sum), "\(counts): \(sum)")
        try await expectPeace(staying, sum)
    }
}
#endif
