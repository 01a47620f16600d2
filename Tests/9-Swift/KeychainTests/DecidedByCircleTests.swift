#if HTTPClientSupport
import Access
import AsyncHTTPClient
import CircleEtcd
import Foundation
import Keychain
import ProcessVault
import StatusCodes
import TestSupport
import Testing
import VaultInterface

/// Changes that a program has the circle decide.
@Suite struct DecidedByCircleTests {
    private var keychain: Keychain {
        var keychain = Keychain(service: "counters", isSynchronizable: true)
        keychain.accessGroup = Self.group
        return keychain
    }

    private static let group = "TEAM.app"

    /// A vault whose items travel.
    private final class Machine {
        let test: KeychainUnderTest
        let carrier: EtcdCarrier
        private let http: HTTPClient

        init(_ etcd: EtcdUnderTest) throws {
            test = try KeychainUnderTest(now: { Date() })
            var configuration = HTTPClient.Configuration()
            configuration.httpVersion = .http1Only
            http = HTTPClient(configuration: configuration)
            carrier = EtcdCarrier(
                test.vault, as: .owner, through: EtcdGateway(etcd.endpoints, over: http))
        }

        deinit { try? http.syncShutdown() }

        func change(_ change: ChangeCircle.Change) throws -> CircleChanged {
            try test.vault.perform(ChangeCircle(change), as: .owner)
        }
    }

    private func circle(_ etcd: EtcdUnderTest) async throws -> [Machine] {
        let (first, second) = (try Machine(etcd), try Machine(etcd))
        _ = try first.change(.create(name: "one", groups: [Self.group], location: "etcd:test"))
        let secret = try #require(try first.change(.invite(count: 1, seconds: 3_600, rights: 15)).secret)
        try await first.carrier.synchronize()
        _ = try second.change(.join(secret: secret, name: "two", location: "etcd:test", groups: [Self.group]))
        try await second.carrier.synchronize()
        try await first.carrier.synchronize()
        let request = try #require(try first.test.vault.perform(ReadCircle(), as: .owner).requests.first)
        _ = try first.change(.approve(request: request.identifier, groups: nil))
        try await first.carrier.synchronize()
        try await second.carrier.synchronize()
        return [first, second]
    }

    private func failureLater(_ body: () async throws -> Void) async -> KeychainError? {
        do {
            try await body()
            return nil
        } catch { return error as? KeychainError }
    }

    private static func increment(_ keychain: Keychain) throws {
        try keychain.update(Int.self, for: "n", decidedBy: .circle) { $0 = ($0 ?? 0) + 1 }
    }

    /// Two programs on two machines, in the synchronous and the asynchronous form.
    @Test func twoMachinesCountTogether() async throws {
        let etcd = try EtcdUnderTest()
        let machines = try await circle(etcd)
        let carrying = machines.map { machine in Task { [carrier = machine.carrier] in await carrier.run() } }
        let (each, keychain) = (10, keychain)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, machine) in machines.enumerated() {
                group.addTask { [test = machine.test] in
                    try await VaultSession.$override.withValue(test) { () async throws in
                        for _ in 0..<each {
                            if number == 0 {
                                try Self.increment(keychain)
                            } else {
                                try await keychain.update(Int.self, for: "n", decidedBy: .circle) {
                                    $0 = ($0 ?? 0) + 1
                                }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for machine in machines {
            try await VaultSession.$override.withValue(machine.test) { () async throws in
                // What another machine had accepted arrives a moment later.
                try await suspendUntil("all increments are here") {
                    try await keychain.get(Int.self, for: "n") == 2 * each
                }
            }
        }
        try await VaultSession.$override.withValue(machines[0].test) { () async throws in
            // Nothing is asked of the circle for no change; a deletion is one.
            #expect(try await keychain.update(Int.self, for: "n", decidedBy: .circle) { _ in } == 2 * each)
            #expect(try await keychain.update(Int.self, for: "n", decidedBy: .circle) { $0 = nil } == nil)
            #expect(try await keychain.get(Int.self, for: "n") == nil)
            #expect(try await keychain.refresh(Int.self, for: "n", decidedBy: .circle) { $0 = 7 } == 7)
        }
        for task in carrying { task.cancel() }
        for task in carrying { await task.value }
        // Optimized code ends etcd and the connections after the last use.
        withExtendedLifetime((etcd, machines)) {}
    }

    /// Without the network, nothing changes, then and afterwards.
    @Test func offlineIsAnError() async throws {
        let etcd = try EtcdUnderTest()
        let machine = try await circle(etcd)[0]
        try await VaultSession.$override.withValue(machine.test) { () async throws in
            try await CircleExchange.$patience.withValue(.milliseconds(200)) { () async throws in
                try await keychain.set(5, for: "n")
                let update = failure { try Self.increment(keychain) }
                #expect(update?.code == .circleUnavailable && update?.status == errSecNotAvailable)
                #expect(update?.message.contains("keychain circle doctor") == true)
                let asynchronous = await failureLater {
                    try await keychain.update(Int.self, for: "n", decidedBy: .circle) { $0 = 7 }
                }
                #expect(asynchronous?.code == .circleUnavailable)
                #expect(try await keychain.get(Int.self, for: "n") == 5)
            }
            try await machine.carrier.synchronize()
            #expect(try await keychain.get(Int.self, for: "n") == 5)
        }
    }

    /// A task that is cancelled takes its change back.
    @Test func aCancelledTaskTakesItBack() async throws {
        let etcd = try EtcdUnderTest()
        let machine = try await circle(etcd)[0]
        let keychain = keychain
        try await VaultSession.$override.withValue(machine.test) { () async throws in
            let task = Task {
                try await keychain.update(Int.self, for: "n", decidedBy: .circle) { $0 = 1 }
            }
            try await suspendUntil("it is proposed") {
                try machine.test.vault.perform(ReadCircle(), as: .owner).outgoing > 0
            }
            task.cancel()
            await #expect(throws: KeychainError.taskCanceled) { try await task.value }
            try await machine.carrier.synchronize()
            #expect(try await keychain.get(Int.self, for: "n") == nil)
        }
    }

    /// Where nobody decides, a program learns at once why.
    @Test func whereNobodyDecides() async throws {
        let machine = try Machine(EtcdUnderTest())
        func expect(_ sentence: String, _ keychain: Keychain, line: Int = #line) async throws {
            let error = await failureLater {
                try await keychain.update(Int.self, for: "n", decidedBy: .circle) { $0 = 1 }
            }
            #expect(error?.code == .circleUnavailable && error?.status == errSecNotAvailable, "line \(line)")
            #expect(error?.message.contains(sentence) == true, "line \(line): \(error?.message ?? "")")
            #expect(try await keychain.get(Int.self, for: "n") == nil)
        }
        try await VaultSession.$override.withValue(machine.test) { () async throws in
            try await expect("is in no circle", keychain)
            _ = try machine.change(.create(name: "one", groups: [Self.group], location: "folder:/tmp/Sync"))
            try await expect("keychain circle move --etcd", keychain)
            _ = try machine.change(.move(location: "etcd:test"))
            var local = keychain
            local.isSynchronizable = false
            try await expect("stays on this device", local)
            var other = keychain
            other.accessGroup = "TEAM.shared"
            try await expect("keychain circle add", other)
        }
    }
}

extension KeychainError {
    fileprivate static var taskCanceled: KeychainError { KeychainError(.taskCanceled, status: 0, message: "") }
}
#endif
