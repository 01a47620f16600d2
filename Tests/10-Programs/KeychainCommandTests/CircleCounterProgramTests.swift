#if HTTPClientSupport
import Access
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Programs that add to one counter on two machines, each with a vault in a folder and with `keychain-sync`.
@Suite struct CircleCounterProgramTests {
    private let workplace: Workplace
    private let etcd: EtcdUnderTest
    private static let group = "TEAM.app"
    private static let homes = ["one", "two"]

    init() throws {
        workplace = try Workplace()
        etcd = try EtcdUnderTest()
        let outcome = try workplace.shell(
            """
            etcd=\(etcd.endpoints[0])
            one() { KEYCHAIN_HOME=$HOME/one "$@"; }; two() { KEYCHAIN_HOME=$HOME/two "$@"; }
            sync() { "$1" keychain-sync --endpoint $etcd --once > /dev/null 2>&1; }
            one keychain circle create --etcd $etcd --name one --group \(Self.group) && sync one
            one keychain circle invite > words && sync one
            two keychain circle join --etcd $etcd --name two --group \(Self.group) --words-fd 3 3< words; sync two; sync one
            one keychain circle approve --yes && sync one && sync two && sync one && sync two
            """)
        try #require(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
    }

    private func carry(_ home: String) throws -> pid_t {
        let start = ProgramStart(
            [workplace.path + "/bin/keychain-sync", "--endpoint", etcd.endpoints[0]],
            environment: [
                "PATH=/usr/bin:/bin", "HOME=\(workplace.path)", "KEYCHAIN_HOME=\(workplace.path)/\(home)",
                "LC_ALL=C.UTF-8",
            ])
        return try start.start { actions in
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
    }

    private static func kill(_ process: pid_t) {
        Glibc.kill(process, SIGKILL)
        ProgramStart.wait(for: process)
    }

    private static func value(_ session: VaultSession) -> Int? {
        var query = ItemQuery.password("service", "counter")
        (query.synchronizable, query.accessGroup) = (.synchronizableOnly, group)
        // There is none in the beginning.
        let items = try? session.perform(CopyItems(query, includingValues: true))
        return items?.first?.value.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// - Returns: Whether it was accepted; false if nothing is known.
    private static func increment(_ session: VaultSession) async throws -> Bool {
        while true {
            let present = value(session)
            var item = NewItem.password("service", "counter", "\((present ?? 0) + 1)")
            (item.isSynchronizable, item.accessGroup) = (true, group)
            var exchange = CircleExchange(
                item, expecting: present.map { Data("\($0)".utf8) }, patience: .seconds(20))
            steps: while true {
                switch try exchange.step(session) {
                case .wait(let time): try await Task.sleep(for: time)
                case .done(.exchanged): return true
                case .done(.undecided): return false
                case .done(.impossible(let obstacle)): throw VaultError.unsupported(reason: "\(obstacle)")
                case .done(.differs), .done(.refused):
                    try await Task.sleep(for: CircleExchange.pause)
                    break steps
                }
            }
        }
    }

    /// keychain-sync is killed again and again on both machines: what was acknowledged counts once.
    @Test func killedCarriersLoseNoIncrement() async throws {
        let each = TestScale.count(6, soak: 300)
        let (finished, acknowledged, unknown) = (Collected<Void>(), Collected<Void>(), Collected<Void>())
        let folder = workplace.path
        var processes = try Self.homes.map(carry)
        defer { for process in processes { Self.kill(process) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for home in Self.homes {
                group.addTask {
                    defer { finished.append(()) }
                    let session = VaultSession(
                        vault: try EmbeddedVault.open(at: folder + "/" + home),
                        client: Client(identifier: "counter", accessGroups: [Self.group]))
                    for _ in 0..<each {
                        if try await Self.increment(session) { acknowledged.append(()) } else { unknown.append(()) }
                    }
                }
            }
            var random = SeededGenerator()
            while finished.all.count < Self.homes.count {
                try await Task.sleep(for: .milliseconds(Int.random(in: 300...2_000, using: &random)))
                let place = Int.random(in: 0..<2, using: &random)
                Self.kill(processes[place])
                processes[place] = try carry(Self.homes[place])
            }
            try await group.waitForAll()
        }
        for place in processes.indices {
            Self.kill(processes[place])
            processes[place] = try carry(Self.homes[place])
        }
        let (least, most) = (acknowledged.all.count, acknowledged.all.count + unknown.all.count)
        #expect(least > 0 && most == each * 2)
        let sessions = try Self.homes.map {
            VaultSession(
                vault: try EmbeddedVault.open(at: folder + "/" + $0),
                client: Client(identifier: "counter", accessGroups: [Self.group]))
        }
        try await suspendUntil("both have the same number", within: 60) {
            let values = sessions.map(Self.value)
            return values[0] == values[1] && (least...most).contains(values[0] ?? 0)
        }
    }
}
#endif
