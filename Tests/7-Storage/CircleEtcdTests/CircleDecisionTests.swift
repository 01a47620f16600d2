#if HTTPClientSupport
import Access
import AsyncHTTPClient
import Foundation
import KeychainModel
import NIOCore
import Synchronization
import TestSupport
import Testing
import VaultInterface

@testable import CircleEtcd

/// An etcd whose answers to proposals somebody changes.
private final class ChangedEtcd: Sendable {
    enum Change: Sendable {
        case none
        /// etcd decides, and the carrier does not hear of it.
        case answerLost
        /// etcd hears nothing, and the carrier is told that the proposal is accepted.
        case acceptedByNobody
        /// etcd hears nothing, and the carrier is told that another version is there, without one.
        case refusedWithoutReason
    }

    private final class State: Sendable {
        let change = Mutex(Change.none)
        let proposals = Mutex(0)
    }

    private let state = State()
    private let server: LoopbackServer
    private let http = HTTPClient()

    var address: String { server.address }
    /// How many proposals there were.
    var proposals: Int { state.proposals.withLock { $0 } }

    func set(_ change: Change) { state.change.withLock { $0 = change } }

    init(_ etcd: EtcdUnderTest) throws {
        let (endpoint, http, state) = (try #require(etcd.endpoints.first), http, state)
        server = try LoopbackServer { request in
            let transaction = try? JSONDecoder().decode(EtcdTransaction.self, from: request.body)
            let isProposal = transaction?.compare.contains { $0.range_end != nil } == true
            if isProposal { state.proposals.withLock { $0 += 1 } }
            let change = isProposal ? state.change.withLock { $0 } : .none
            if change == .acceptedByNobody { return .body(Data(#"{"header":{"revision":"9"},"succeeded":true}"#.utf8)) }
            if change == .refusedWithoutReason { return .body(Data(#"{"header":{"revision":"9"}}"#.utf8)) }
            guard
                let answer = try? http.post(url: endpoint + request.path, body: .data(request.body)).wait(),
                change == .none
            else { return .nothing }
            return .body(Data((answer.body ?? ByteBuffer()).readableBytesView))
        }
    }

    deinit { try? http.syncShutdown() }
}

/// What becomes of single proposals, step by step.
@Suite struct CircleDecisionTests {
    private func circle(_ count: Int, _ etcd: EtcdUnderTest) async throws -> [EtcdMachine] {
        let machines = try (0..<count).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        return machines
    }

    private func data(_ value: Int) -> Data { Data("\(value)".utf8) }

    /// Adds 1 without waiting for a running carrier: each step of it is made here.
    private func increment(_ machine: EtcdMachine) async throws {
        while true {
            let present = try machine.value()
            var exchange = CircleExchange(
                machine.counter((present ?? 0) + 1), expecting: present.map(data), patience: .seconds(60))
            guard case .wait = try exchange.step(machine.session) else { continue }
            try await machine.carrier.synchronize()
            if try exchange.step(machine.session) == .done(.exchanged) { return }
        }
    }

    private func propose(
        _ machine: EtcdMachine, _ value: Int?, over present: Int?, account: String = "counter",
        milliseconds: Int64 = 60_000
    ) throws -> ProposalReply {
        try machine.vault.perform(
            ProposeInCircle(
                machine.counter(value, account), expecting: present.map(data), within: milliseconds),
            as: machine.session.client)
    }

    private func state(
        _ reply: ProposalReply, _ machine: EtcdMachine, isWithdrawn: Bool = false
    ) throws -> ProposalState {
        guard case .proposed(let proposal) = reply else {
            Issue.record("\(reply)")
            return .refused
        }
        return try machine.vault.perform(
            AskProposal(proposal, isWithdrawn: isWithdrawn), as: machine.session.client)
    }

    /// Of two proposals that come from one version, the second is refused, and its vault has the first at once. So it
    /// is with deletions.
    @Test func theFirstWins() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(2, etcd)
        var present: Int?
        #expect(try propose(machines[0], nil, over: nil) == .differs)
        for (first, second) in [(1, 2), (3, 4), (nil, 5), (6, 7), (8, nil), (nil, nil)] as [(Int?, Int?)] {
            let proposals = [
                try propose(machines[0], first, over: present), try propose(machines[1], second, over: present),
            ]
            #expect(try state(proposals[0], machines[0]) == .pending)
            try await machines[0].carrier.synchronize()
            try await machines[1].carrier.synchronize()
            #expect(try state(proposals[0], machines[0]) == .accepted)
            #expect(try state(proposals[1], machines[1]) == .refused)
            for machine in machines { #expect(try machine.value() == first) }
            present = first
        }
        for machine in machines { #expect(try machine.status().conflicts == 0 && machine.status().outgoing == 0) }
    }

    /// The answer of etcd is lost after it accepted: it is found there. If so many others followed that it was removed
    /// again, the last of them says so.
    @Test(arguments: [0, 1, 70]) func aLostAnswer(followers: Int) async throws {
        let etcd = try EtcdUnderTest()
        let changed = try ChangedEtcd(etcd)
        let machines = [
            try EtcdMachine("machine 0", [changed.address]), try EtcdMachine("machine 1", etcd.endpoints),
        ]
        try await EtcdMachine.makeCircle(machines)
        try await increment(machines[0])
        try await machines[1].carrier.synchronize()
        let proposal = try propose(machines[0], 2, over: 1)
        changed.set(.answerLost)
        await #expect(throws: EtcdError.self) { try await machines[0].carrier.synchronize() }
        #expect(try state(proposal, machines[0]) == .pending && machines[0].value() == 1)
        try await machines[1].carrier.synchronize()
        #expect(try machines[1].value() == 2)
        for _ in 0..<followers { try await increment(machines[1]) }
        // Members remove the earliest of more than 64 versions.
        let versions = try etcd.control(["get", "--prefix", "--keys-only", "/swift-keychain/"]).matches(of: /\/i\//)
        #expect(versions.count == min(64, 2 + followers))
        changed.set(.none)
        try await machines[0].carrier.synchronize()
        #expect(try state(proposal, machines[0]) == .accepted)
        #expect(try machines[0].value() == 2 + followers)
        #expect(try machines[0].status().outgoing == 0)
        // The next one is not taken for that.
        let next = try propose(machines[0], 3 + followers, over: 2 + followers)
        try await increment(machines[1])
        try await machines[0].carrier.synchronize()
        #expect(try state(next, machines[0]) == .refused && machines[0].value() == 3 + followers)
    }

    /// Without a carrier, the circle does not decide in time, and what was taken back does not come later.
    @Test func withoutACarrier() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(2, etcd)
        try machines[0].put("counter", "1")
        #expect(try await EtcdMachine.settle(machines)[1] == ["counter": "1"])
        let outcome = try await machines[0].exchange(
            machines[0].counter(2), expecting: data(1), patience: .milliseconds(50))
        #expect(outcome == .undecided)
        #expect(try machines[0].status().outgoing == 0)
        #expect(
            try await EtcdMachine.settle(machines) == Array(repeating: ["counter": "1"], count: 2))
    }

    /// A program that is killed while it waits: until its time is up, etcd may decide, and afterwards nobody does.
    @Test func aProgramThatIsGone() async throws {
        let etcd = try EtcdUnderTest()
        let clock = MovedClock()
        let machine = try EtcdMachine("machine", etcd.endpoints, now: clock.now)
        try await EtcdMachine.makeCircle([machine])
        let first = try propose(machine, 1, over: nil)
        try await machine.carrier.synchronize()
        #expect(try state(first, machine) == .accepted && machine.value() == 1)
        let second = try propose(machine, 2, over: 1, milliseconds: 5_000)
        clock.move(by: 6)
        try await machine.carrier.synchronize()
        #expect(try state(second, machine) == .undecided && machine.value() == 1)
        // Nor does a clock that is set back keep one for years.
        let third = try propose(machine, 2, over: 1)
        clock.move(by: -365 * 24 * 3_600)
        try await machine.carrier.synchronize()
        #expect(try state(third, machine) == .undecided && machine.value() == 1)
    }

    /// A change that nobody decides, beside those that etcd decides: the later one is in force, the other one in the
    /// history, and no vault differs.
    @Test func anOrdinaryChangeBeside() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(2, etcd)
        for machine in machines { try machine.keepVersions() }
        try await increment(machines[0])
        _ = try await EtcdMachine.settle(machines)
        // It is in etcd before the proposal: that is refused.
        let first = try propose(machines[0], 2, over: 1)
        try machines[1].put("counter", "10")
        try await machines[1].carrier.synchronize()
        try await machines[0].carrier.synchronize()
        #expect(try state(first, machines[0]) == .refused && machines[0].value() == 10)
        // It comes after what it did not know, and is the later one.
        let second = try propose(machines[0], 11, over: 10)
        try await machines[0].carrier.synchronize()
        #expect(try state(second, machines[0]) == .accepted)
        try machines[1].put("counter", "20")
        let contents = try await EtcdMachine.settle(machines)
        #expect(contents == Array(repeating: ["counter": "20"], count: 2))
        for machine in machines {
            #expect(try machine.history()["counter"]?.contains("11") == true)
            #expect(try machine.status().conflicts == 1)
        }
        // In the same vault, it comes first, and what was proposed before is refused.
        let third = try propose(machines[0], 21, over: 20)
        try machines[0].put("counter", "30")
        #expect(try propose(machines[0], 21, over: 20) == .differs)
        try await machines[0].carrier.synchronize()
        #expect(try state(third, machines[0]) == .refused)
        #expect(
            try await EtcdMachine.settle(machines) == Array(repeating: ["counter": "30"], count: 2))
    }

    /// The vault is locked: nothing is proposed, and what was proposed before waits.
    @Test func aLockedVault() async throws {
        let etcd = try EtcdUnderTest()
        let machine = try await circle(1, etcd)[0]
        try machine.setPasscode("swordfish")
        let proposal = try propose(machine, 1, over: nil)
        try machine.lock()
        #expect {
            _ = try propose(machine, 1, over: nil, account: "other")
        } throws: { error in
            guard case VaultError.interactionNotAllowed = error else { return false }
            return true
        }
        try await machine.carrier.synchronize()
        #expect(try state(proposal, machine) == .pending)
        try machine.unlock("swordfish")
        try await machine.carrier.synchronize()
        #expect(try state(proposal, machine) == .accepted && machine.value() == 1)
    }

    /// Who may not change items of the circle, and who is no member any more, is told so.
    @Test func whoMayNot() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(1, etcd) + [try EtcdMachine("reader", etcd.endpoints)]
        #expect(try propose(machines[1], 1, over: nil) == .impossible(.noCircle))
        let secret = try #require(try machines[0].change(.invite(count: 1, seconds: 3_600, rights: 1)).secret)
        try await machines[0].carrier.synchronize()
        try machines[1].change(
            .join(secret: secret, name: "reader", location: "etcd:test", groups: [EtcdMachine.group]))
        #expect(try propose(machines[1], 1, over: nil) == .impossible(.noMember))
        try await machines[1].carrier.synchronize()
        try await machines[0].carrier.synchronize()
        let request = try #require(try machines[0].status().requests.first)
        try machines[0].change(.approve(request: request.identifier, groups: nil))
        _ = try await EtcdMachine.settle(machines)
        #expect(try propose(machines[1], 1, over: nil) == .impossible(.mayNotWrite))
        let former = try propose(machines[0], 1, over: nil)
        try machines[0].change(.remove(member: 2))
        _ = try await EtcdMachine.settle(machines)
        #expect(try propose(machines[1], 1, over: nil) == .impossible(.noMember))
        // What was proposed under the former keys is dropped.
        #expect(try state(former, machines[0]) == .undecided && machines[0].value() == nil)
        let proposal = try propose(machines[0], 1, over: nil)
        try machines[0].change(.move(location: "folder:/tmp/Sync"))
        #expect(try propose(machines[0], 1, over: nil) == .impossible(.folder))
        try await machines[0].carrier.synchronize()
        #expect(try state(proposal, machines[0]) == .accepted)
        var local = machines[0].counter(1)
        local.isSynchronizable = false
        #expect(
            try machines[0].vault.perform(
                ProposeInCircle(local, expecting: nil, within: 1_000), as: .app) == .impossible(.folder))
    }

    /// One change of an item waits at a time, and so many of a program. Others do not take it back, and do not learn
    /// of it.
    @Test func proposalsAreBounded() async throws {
        let etcd = try EtcdUnderTest()
        let machine = try await circle(1, etcd)[0]
        let first = try propose(machine, 1, over: nil, account: "0")
        #expect(try propose(machine, 2, over: nil, account: "0") == .occupied)
        for number in 1..<16 {
            guard case .proposed = try propose(machine, 1, over: nil, account: "\(number)") else {
                Issue.record("\(number) was not taken")
                continue
            }
        }
        #expect(try propose(machine, 1, over: nil, account: "16") == .occupied)
        guard case .proposed(var proposal) = first else { return }
        let stranger = Client(identifier: "stranger", accessGroups: ["other"])
        #expect(throws: VaultError.self) {
            try machine.vault.perform(AskProposal(proposal, isWithdrawn: true), as: stranger)
        }
        proposal.group = "other"
        #expect(
            try machine.vault.perform(AskProposal(proposal, isWithdrawn: true), as: stranger) == .undecided)
        #expect(try state(first, machine) == .pending)
        // Another program has its own.
        let other = Client(identifier: "another", accessGroups: [EtcdMachine.group])
        let reply = try machine.vault.perform(
            ProposeInCircle(machine.counter(1, "17"), expecting: nil, within: 60_000), as: other)
        guard case .proposed = reply else {
            Issue.record("\(reply)")
            return
        }
        // A program that may store little in a group proposes little.
        var quotas = GroupQuotas()
        quotas.add(EtcdMachine.group, bytes: 2_000)
        var large = machine.counter(1, "18")
        large.value = Data(count: 10_000)
        let small = Client(identifier: "small", accessGroups: [EtcdMachine.group], quotas: quotas)
        #expect(throws: VaultError.quotaExceeded(group: EtcdMachine.group, limit: 2_000)) {
            try machine.vault.perform(ProposeInCircle(large, expecting: nil, within: 60_000), as: small)
        }
        #expect(try state(first, machine, isWithdrawn: true) == .refused)
        try await machine.carrier.synchronize()
        #expect(try machine.contents().count == 16 && machine.value("0") == nil && machine.status().outgoing == 0)
    }

    /// An etcd that says what is not so: two vaults are told that both changes are accepted. Both keep theirs, bring
    /// them together, and list the one that lost.
    @Test(arguments: [2, 3]) func anEtcdThatLies(second: Int) async throws {
        let etcd = try EtcdUnderTest()
        let changed = try ChangedEtcd(etcd)
        let machines = try (0..<2).map { try EtcdMachine("machine \($0)", [changed.address]) }
        try await EtcdMachine.makeCircle(machines)
        for machine in machines { try machine.keepVersions() }
        try await increment(machines[0])
        _ = try await EtcdMachine.settle(machines)
        // Refused for no reason: nothing changes.
        changed.set(.refusedWithoutReason)
        let first = try propose(machines[0], 2, over: 1)
        try await machines[0].carrier.synchronize()
        #expect(try state(first, machines[0]) == .pending && machines[0].value() == 1)
        #expect(try state(first, machines[0], isWithdrawn: true) == .refused)
        changed.set(.acceptedByNobody)
        let proposals = [try propose(machines[0], 2, over: 1), try propose(machines[1], second, over: 1)]
        for (machine, proposal) in zip(machines, proposals) {
            try await machine.carrier.synchronize()
            #expect(try state(proposal, machine) == .accepted)
        }
        #expect(try machines[0].value() == 2 && machines[1].value() == second)
        changed.set(.none)
        // Each begins anew, since etcd does not have what it was told to have.
        let honest = try machines.map { try EtcdMachine($0.name, etcd.endpoints, vault: $0.vault) }
        let contents = try await EtcdMachine.settle(honest)
        #expect(contents == Array(repeating: ["counter": "\(second)"], count: 2))
        for machine in honest {
            #expect(try machine.status().conflicts == 1)
            #expect(try machine.history()["counter"]?.contains("2") == true)
        }
        #expect(await honest[0].carrier.report.alarms.contains { $0.contains("lost what this machine wrote") })
    }

    /// What says that something was decided, and was not asked, changes nothing.
    @Test func decisionsThatNobodyAsked() async throws {
        let etcd = try EtcdUnderTest()
        let machine = try await circle(1, etcd)[0]
        let proposal = try propose(machine, 1, over: nil)
        var random = SeededGenerator()
        for size in [0, 12, 31, 32, 44] {
            for count in [0, 11, 12, 300] {
                let bytes = (0..<(size + count)).map { _ in UInt8.random(in: 0...255, using: &random) }
                let object = CircleObject(
                    .proposal, key: Data(bytes.prefix(size)), value: Data(bytes.suffix(count)))
                _ = try machine.vault.perform(
                    TakeCircleObjects([object], from: "etcd", isDecided: true), as: .owner)
            }
        }
        #expect(try machine.status().waiting == 0)
        #expect(try state(proposal, machine) == .pending)
    }
}
#endif
