#if HTTPClientSupport
import Access
import CircleEtcd
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Random changes on many machines, while nodes of etcd die, stop and forget, machines are cut off and clocks are
/// wrong. A program of its own judges what was recorded: `Peer/check_history.py`.
@Suite struct EtcdChaosTests {
    private static let checker = Repository.file("Tests/7-Storage/CircleEtcdTests/Peer/check_history.py").path

    private struct Machine {
        var machine: EtcdMachine
        var vault: ChaosVault
        var task: Task<Void, Never>?
        var isLocked = false

        /// A vault in memory has no passcode.
        var hasPasscode: Bool { vault.kind != .memory }
    }

    private static let passcode = "swordfish"

    private func check(_ history: [String]) throws -> ProgramOutcome {
        let folder = try TemporaryFolder()
        try FolderContents.write(Data(history.joined(separator: "\n").utf8), to: folder.path(of: "history"))
        return try ProgramStart(["python3", "-B", Self.checker, folder.path(of: "history")]).run()
    }

    /// - Parameters:
    ///   - patience: In seconds. A carrier waits for up to 30 before it tries again, and again if its node still
    ///     starts.
    ///   - wrap: Makes the vault that the carrier of the last machine sees.
    /// - Returns: What was recorded.
    private func run(
        _ kinds: [ChaosVault.Kind], seconds: Int, patience: Int = 150, wrap: (any Vault) -> any Vault = { $0 }
    ) async throws -> [String] {
        let count = kinds.count
        var random = SeededGenerator()
        let etcd = try EtcdUnderTest(nodes: 3)
        var machines: [Machine] = []
        for (number, kind) in kinds.enumerated() {
            let place = try ChaosVault(kind)
            place.clock.move(by: Double.random(in: -7_200...7_200, using: &random))
            let vault = place.vault
            let machine = try EtcdMachine(
                "machine \(number)", etcd.endpoints, vault: vault, seen: number == count - 1 ? wrap(vault) : vault,
                client: place.client)
            try machine.keepVersions()
            machines.append(Machine(machine: machine, vault: place))
            if machines[number].hasPasscode { try machine.setPasscode(Self.passcode) }
        }
        try await EtcdMachine.makeCircle(machines.map(\.machine))
        func start(_ number: Int) {
            let machine = machines[number].machine
            machines[number].task = Task { await machine.run() }
        }
        for number in machines.indices { start(number) }
        var history: [String] = []
        func record(_ entry: [String: Any]) throws {
            history.append(
                String(decoding: try JSONSerialization.data(withJSONObject: entry, options: .sortedKeys), as: UTF8.self)
            )
        }
        let end = ContinuousClock.now + .seconds(seconds)
        var (number, broken): (Int, Int?) = (0, nil)
        while ContinuousClock.now < end {
            number += 1
            let place = Int.random(in: 0..<count, using: &random)
            // Some items are deleted now and then.
            let kind = Int.random(in: 0..<12, using: &random)
            // A vault keeps 1,000 former versions of an item, and all of them are looked for in the end.
            let account = "\(number / 6_000)-\(kind)"
            // While it is locked, nobody stores anything there.
            if machines[place].isLocked {
                guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
                try machines[place].machine.unlock(Self.passcode)
                machines[place].isLocked = false
            }
            if kind >= 8, Bool.random(using: &random), try machines[place].machine.contents()[account] != nil {
                do { try machines[place].machine.remove(account) } catch VaultError.itemNotFound {
                    // Another machine deleted it just now.
                    continue
                }
                try record(["ack": place, "account": account, "value": NSNull()])
            } else {
                try machines[place].machine.put(account, "value \(number)")
                try record(["ack": place, "account": account, "value": "value \(number)"])
            }
            if number % 20 == 0 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1:
                    // One node at most is away.
                    if let node = broken {
                        etcd.resume(node)
                        try? etcd.start(node)
                        broken = nil
                    } else {
                        let node = Int.random(in: 0..<3, using: &random)
                        if Bool.random(using: &random) { etcd.kill(node) } else { etcd.stop(node) }
                        broken = node
                    }
                case 2: _ = try? etcd.control(["compact", "\(etcd.revision())"])
                case 3:
                    // A carrier ends in the middle of anything, and begins again later.
                    machines[place].task?.cancel()
                    if let task = machines[place].task { await task.value }
                    start(place)
                case 4: machines[place].vault.clock.move(by: Double.random(in: -3_600...3_600, using: &random))
                case 5:
                    guard machines[place].hasPasscode else { continue }
                    try machines[place].machine.lock()
                    machines[place].isLocked = true
                case 6:
                    try machines[place].vault.restart()
                    machines[place].isLocked = machines[place].vault.client != nil || machines[place].isLocked
                default:
                    machines[place].task?.cancel()
                    if let task = machines[place].task { await task.value }
                    machines[place].task = nil
                    let away = Int.random(in: 0..<count, using: &random)
                    if machines[away].task == nil { start(away) }
                }
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<30, using: &random)))
        }
        if let node = broken {
            etcd.resume(node)
            try? etcd.start(node)
        }
        for number in machines.indices {
            if machines[number].isLocked { try machines[number].machine.unlock(Self.passcode) }
            if machines[number].task == nil { start(number) }
        }
        // Until all are the same for a while, or for so long that they never will be.
        var same = 0
        let latest = ContinuousClock.now + .seconds(patience)
        while same < 10, ContinuousClock.now < latest {
            let contents = Set(try machines.map { try $0.machine.contents() })
            let outgoing = try machines.map { try $0.machine.status().outgoing }.reduce(0, +)
            same = contents.count == 1 && outgoing == 0 ? same + 1 : 0
            try await Task.sleep(for: .milliseconds(100))
        }
        for place in machines.indices {
            machines[place].task?.cancel()
            if let task = machines[place].task { await task.value }
            let machine = machines[place].machine
            try record(["final": place, "items": machine.contents()])
            try record(["history": place, "items": machine.history()])
            let report = await machine.carrier.report
            for alarm in report.alarms { try record(["alarm": place, "text": alarm]) }
            if report.refused > 0 { try record(["alarm": place, "text": "\(report.refused) refused"]) }
        }
        return history
    }

    @Test func nothingIsLost() async throws {
        let kinds = ChaosVault.Kind.allCases + Array(repeating: .memory, count: TestScale.count(0, soak: 3))
        let history = try await run(kinds, seconds: TestScale.count(8, soak: 1_800))
        let outcome = try check(history)
        #expect(outcome.status == 0 && outcome.text.contains("OK"), "\(outcome.text)\(outcome.errors)")
    }

    /// A vault that fails while it takes a record, after the carrier told it of what it wrote meanwhile: the record is
    /// read again.
    @Test func whatFailedOnItsWayComesAgain() async throws {
        let etcd = try EtcdUnderTest()
        let vault = try memoryVault()
        let slow = FailingVault(vault)
        let machines = [
            try EtcdMachine("writes", etcd.endpoints),
            try EtcdMachine("fails", etcd.endpoints, vault: vault, seen: slow),
        ]
        try await EtcdMachine.makeCircle(machines)
        let task = Task { await machines[1].run() }
        defer { task.cancel() }
        try machines[1].put("warm", "0")
        try await suspendUntil("the watch has begun") {
            try await machines[0].carrier.synchronize()
            return try machines[0].contents() == ["warm": "0"]
        }
        slow.plan()
        try machines[0].put("alice", "1")
        try await machines[0].carrier.synchronize()
        try await suspendUntil("the vault takes the record") { slow.isTaking }
        try machines[1].put("bob", "2")
        try await suspendUntil("the vault failed") { slow.hasFailed }
        try await suspendUntil("the record came again") { try machines[1].contents().count == 3 }
    }

    /// The checker finds a vault that never gets what others wrote.
    @Test func aPlantedFaultIsFound() async throws {
        let history = try await run([.memory, .memory, .memory], seconds: 5, patience: 8) { LosingVault($0) }
        let outcome = try check(history)
        #expect(outcome.status == 1 && outcome.text.contains("differ"), "\(outcome.text)")
    }

    /// The checker finds changes to what was recorded.
    @Test func theCheckerChecks() throws {
        let honest = [
            #"{"ack":0,"account":"a","value":"1"}"#, #"{"ack":1,"account":"a","value":"2"}"#,
            #"{"final":0,"items":{"a":"2"}}"#, #"{"final":1,"items":{"a":"2"}}"#,
            #"{"history":0,"items":{"a":["1"]}}"#, #"{"history":1,"items":{"a":["1"]}}"#,
        ]
        #expect(try check(honest).status == 0)
        for (line, text) in [
            (2, #"{"final":0,"items":{"a":"1"}}"#), (3, #"{"final":1,"items":{}}"#),
            (4, #"{"history":0,"items":{}}"#), (2, #"{"final":0,"items":{"a":"3"}}"#),
            (0, #"{"alarm":0,"text":"refused"}"#),
        ] {
            var changed = honest
            changed[line] = text
            #expect(try check(changed).status == 1, "\(text)")
        }
        #expect(try check([honest[0], #"{"ack":0,"account":"a","value":"3"}"#, honest[2]]).status == 1)
    }
}

/// A vault that fails once while it takes records: once its carrier has told it how far it has got.
private final class FailingVault: Vault {
    private struct State {
        var isPlanned = false
        var isTaking = false
        var isTold = false
        var hasFailed = false
    }

    private let vault: any Vault
    private let state = Mutex(State())

    init(_ vault: any Vault) { self.vault = vault }

    func plan() { state.withLock { $0.isPlanned = true } }

    var isTaking: Bool { state.withLock { $0.isTaking } }
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        if let taking = operation as? TakeCircleObjects, taking.objects.contains(where: { $0.kind == .record }) {
            let isToFail = state.withLock { state in
                defer { state.isPlanned = false }
                state.isTaking = state.isPlanned
                return state.isPlanned
            }
            if isToFail {
                try? eventually("the carrier tells how far it has got") { state.withLock { $0.isTold } }
                state.withLock { $0.hasFailed = true }
                throw VaultError.inputOutput(reason: "planned")
            }
        }
        let reply = try vault.perform(operation, as: client, send: send)
        if let collecting = operation as? CollectCircleObjects, collecting.place != nil {
            state.withLock { $0.isTold = $0.isTaking }
        }
        return reply
    }

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        vault.changes(to: audience)
    }

    func lockEvents() -> AsyncStream<LockEvent> { vault.lockEvents() }

    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation { vault.observeLocking(tell) }
}

/// A vault that never gets the records that its carrier brings.
private final class LosingVault: Vault {
    private let vault: any Vault

    init(_ vault: any Vault) { self.vault = vault }

    func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        guard var taking = operation as? TakeCircleObjects else {
            return try vault.perform(operation, as: client, send: send)
        }
        taking.objects.removeAll { $0.kind == .record }
        guard let lessened = taking as? Operation else { return try vault.perform(operation, as: client, send: send) }
        return try vault.perform(lessened, as: client, send: send)
    }

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        vault.changes(to: audience)
    }

    func lockEvents() -> AsyncStream<LockEvent> { vault.lockEvents() }

    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation { vault.observeLocking(tell) }
}
#endif
