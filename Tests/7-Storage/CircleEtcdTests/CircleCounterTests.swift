#if HTTPClientSupport
import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import CircleEtcd

/// What became of increments that the circle decided.
struct IncrementCount {
    var acknowledged = 0
    /// The circle did not decide in time: such an increment was made or not.
    var unknown = 0
}

extension EtcdMachine {
    func counter(_ value: Int?, _ account: String = "counter") -> NewItem {
        var item = NewItem.password("service", account, "")
        item.value = value.map { Data("\($0)".utf8) }
        (item.isSynchronizable, item.accessGroup) = (true, Self.group)
        return item
    }

    func value(_ account: String = "counter") throws -> Int? {
        try contents()[account].flatMap { Int($0) }
    }

    /// Has the circle decide about one change.
    func exchange(
        _ item: NewItem, expecting expected: Data?, patience: Duration = .seconds(60)
    ) async throws -> CircleExchange.Outcome {
        var exchange = CircleExchange(item, expecting: expected, patience: patience)
        while true {
            switch try exchange.step(session) {
            case .wait(let time): try await Task.sleep(for: time)
            case .done(let outcome): return outcome
            }
        }
    }

    /// Adds 1 until the circle accepts it, or does not decide.
    ///
    /// - Returns: Whether it was accepted.
    func increment(_ account: String = "counter", patience: Duration = .seconds(60)) async throws -> Bool {
        while true {
            let present = try value(account)
            let outcome = try await exchange(
                counter((present ?? 0) + 1, account), expecting: present.map { Data("\($0)".utf8) },
                patience: patience)
            switch outcome {
            case .exchanged: return true
            case .differs: continue
            case .refused: try await Task.sleep(for: CircleExchange.pause)
            case .undecided: return false
            case .impossible(let obstacle): throw VaultError.unsupported(reason: "\(obstacle)")
            }
        }
    }

    func count(_ number: Int, patience: Duration = .seconds(60)) async throws -> IncrementCount {
        var count = IncrementCount()
        for _ in 0..<number {
            if try await increment(patience: patience) { count.acknowledged += 1 } else { count.unknown += 1 }
        }
        return count
    }
}

/// Changes about which etcd decides: no increment of a counter is lost, and none counts twice.
@Suite struct CircleCounterTests {
    private func circle(_ count: Int, _ etcd: EtcdUnderTest) async throws -> [EtcdMachine] {
        let machines = try (0..<count).map { try EtcdMachine("machine \($0)", etcd.endpoints) }
        try await EtcdMachine.makeCircle(machines)
        return machines
    }

    /// Runs `body` while the items of all machines travel.
    private func running(_ machines: [EtcdMachine], _ body: () async throws -> Void) async throws {
        let tasks = machines.map { machine in Task { await machine.run() } }
        do { try await body() } catch {
            for machine in machines { print(machine.name, await machine.carrier.report) }
            for task in tasks { task.cancel() }
            throw error
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func count(_ machines: [EtcdMachine], _ each: Int) async throws -> [IncrementCount] {
        try await withThrowingTaskGroup(of: IncrementCount.self) { group in
            for machine in machines { group.addTask { try await machine.count(each) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: [1, 2, 8]) func noIncrementIsLost(machines number: Int) async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(number, etcd)
        let each = TestScale.count(number == 8 ? 5 : 20, soak: 200)
        try await running(machines) {
            let began = ContinuousClock.now
            let counts = try await count(machines, each)
            print("\(number) machines: \(each * number) increments in \(ContinuousClock.now - began)")
            #expect(counts.map(\.acknowledged).reduce(0, +) == each * number)
        }
        let contents = try await EtcdMachine.settle(machines)
        #expect(contents == Array(repeating: ["counter": "\(each * number)"], count: number))
        for machine in machines {
            let report = await machine.carrier.report
            #expect(report.alarms.isEmpty && report.conflicts == 0 && report.refused == 0, "\(report)")
            #expect(try machine.status().conflicts == 0 && machine.status().outgoing == 0)
        }
    }

    /// Nodes of etcd stop and die, and carriers are ended in the middle of what they do, with answers on their way:
    /// each acknowledged increment counts once, and one of which nothing is known once or not at all.
    @Test func noIncrementIsLostInAnOutage() async throws {
        let etcd = try EtcdUnderTest(nodes: 3)
        let machines = try await circle(3, etcd)
        let each = TestScale.count(15, soak: 500)
        let finished = Collected<Void>()
        let counts = Collected<IncrementCount>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines {
                group.addTask {
                    defer { finished.append(()) }
                    counts.append(try await machine.count(each, patience: .seconds(3)))
                }
            }
            var random = SeededGenerator()
            var carrying = machines.map { machine in Task { await machine.run() } }
            var (broken, round): (Int?, Int) = (nil, 0)
            while finished.all.count < machines.count {
                round += 1
                try await Task.sleep(for: .milliseconds(Int.random(in: 20...300, using: &random)))
                let place = Int.random(in: 0..<3, using: &random)
                carrying[place].cancel()
                await carrying[place].value
                carrying[place] = Task { [machine = machines[place]] in await machine.run() }
                guard round.isMultiple(of: 4) else { continue }
                if let node = broken {
                    etcd.resume(node)
                    try etcd.start(node)
                    broken = nil
                } else {
                    if Bool.random(using: &random) { etcd.stop(place) } else { etcd.kill(place) }
                    broken = place
                }
            }
            if let node = broken {
                etcd.resume(node)
                try etcd.start(node)
            }
            for task in carrying { task.cancel() }
            for task in carrying { await task.value }
            try await group.waitForAll()
        }
        try etcd.waitUntilReady()
        let acknowledged = counts.all.map(\.acknowledged).reduce(0, +)
        let unknown = counts.all.map(\.unknown).reduce(0, +)
        #expect(acknowledged + unknown == each * machines.count && acknowledged > 0)
        let contents = try await EtcdMachine.settle(machines)
        let sum = try #require(contents[0]["counter"].flatMap { Int($0) })
        #expect((acknowledged...(acknowledged + unknown)).contains(sum), "\(acknowledged) and \(unknown): \(sum)")
        #expect(contents == Array(repeating: ["counter": "\(sum)"], count: 3))
        for machine in machines {
            #expect(try machine.status().conflicts == 0)
            #expect(await machine.carrier.report.refused == 0)
        }
    }
}
#endif
