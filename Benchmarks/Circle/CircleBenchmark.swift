#if HTTPClientSupport
import Access
import AsyncHTTPClient
import CircleEtcd
import Foundation
import KeychainModel
import NIOCore

import Vault
import VaultInterface

/// Measures a circle that meets in etcd: `CircleBenchmark ENDPOINTS FOLDER MEMBERS CHANGES ITEMS`.
///
/// Prints, in microseconds, how long a change takes to each other member and to the last of them, how long an increment
/// of a counter takes that all members share and etcd decides, how long each of so many items takes to etcd and to a
/// new member, how long each of 10,000 changes takes to one that was away, and what all of it takes of memory, in KiB.
/// The vaults are in FOLDER.
@main
struct CircleBenchmark {
    private static let owner = Client(identifier: "benchmark", accessGroups: ["group", Client.everyGroup])

    private struct Member {
        let vault: EmbeddedVault
        let carrier: EtcdCarrier
    }

    let endpoints: [String]
    let folder: String
    let http: HTTPClient

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let members = Int(arguments[3]), let changes = Int(arguments[4]),
            let items = Int(arguments[5])
        else {
            print("usage: CircleBenchmark ENDPOINTS FOLDER MEMBERS CHANGES ITEMS")
            exit(64)
        }
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        // Each member has a watch and calls, each with a connection of its own.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4 * max(2, members)
        let http = HTTPClient(configuration: configuration)
        let benchmark = CircleBenchmark(
            endpoints: arguments[1].split(separator: ",").map(String.init), folder: arguments[2], http: http)
        try await benchmark.run(members: members, changes: changes, items: items)
        try await http.shutdown()
    }

    private func member(_ name: String) throws -> Member {
        let vault = try EmbeddedVault.open(at: folder + "/" + name)
        return Member(
            vault: vault, carrier: EtcdCarrier(vault, as: Self.owner, through: EtcdGateway(endpoints, over: http)))
    }

    private func admit(_ name: String, by first: Member) async throws -> Member {
        let other = try member(name)
        let invited = try first.vault.perform(
            ChangeCircle(.invite(count: 1, seconds: 3_600, rights: 15)), as: Self.owner)
        guard let secret = invited.secret else { throw VaultError.memoryUnavailable }
        try await first.carrier.synchronize()
        _ = try other.vault.perform(
            ChangeCircle(.join(secret: secret, name: name, location: "etcd:", groups: ["group"])), as: Self.owner)
        try await other.carrier.synchronize()
        try await first.carrier.synchronize()
        guard let request = try first.vault.perform(ReadCircle(), as: Self.owner).requests.first else {
            throw VaultError.itemNotFound
        }
        _ = try first.vault.perform(
            ChangeCircle(.approve(request: request.identifier, groups: nil)), as: Self.owner)
        try await first.carrier.synchronize()
        return other
    }

    private static func start(_ member: Member) -> Task<Void, Never> {
        Task { await member.carrier.run() }
    }

    private static func query(_ service: String) -> ItemQuery {
        ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service)], accessGroup: "group",
            synchronizable: .any)
    }

    /// Stores items in parts, as one operation takes them.
    private static func fill(_ vault: EmbeddedVault, _ prefix: String, _ count: Int) throws {
        var items: [StoredItem] = []
        for number in 0..<count {
            items.append(
                StoredItem(
                    itemClass: .genericPassword, identifier: UUID(),
                    attributes: [.service: .string("\(prefix)-\(number)"), .account: .string("user@example.com")],
                    accessGroup: "group", accessControl: AccessControl(protection: .whenUnlocked),
                    isSynchronizable: true, creationDate: Date(), modificationDate: Date(), value: Data(count: 32)))
            guard items.count == ReceiveItems.most || number == count - 1 else { continue }
            _ = try vault.perform(ReceiveItems(items, keepsIdentity: false), as: owner)
            items = []
        }
    }

    private func run(members count: Int, changes: Int, items: Int) async throws {
        let first = try member("member-0")
        _ = try first.vault.perform(
            ChangeCircle(.create(name: "member-0", groups: ["group"], location: "etcd:")), as: Self.owner)
        try await first.carrier.synchronize()
        var members = [first]
        for number in 1..<max(2, count) { members.append(try await admit("member-\(number)", by: first)) }
        try Self.fill(first.vault, "change", 20)
        for _ in 0..<2 { for member in members { try await member.carrier.synchronize() } }
        try await measureChanges(members, changes)
        try await measureCounter(members, changes)
        try await measureItems(first, items)
    }

    /// All members add to one counter at once, and have etcd decide. Prints the time of one increment.
    private func measureCounter(_ members: [Member], _ increments: Int) async throws {
        let running = members.map(Self.start)
        try await Task.sleep(for: .seconds(5))
        let began = ContinuousClock.now
        let each = max(1, increments / members.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for member in members {
                let session = VaultSession(vault: member.vault, client: Self.owner)
                group.addTask { for _ in 0..<each { try await Self.increment(session) } }
            }
            try await group.waitForAll()
        }
        let time = (ContinuousClock.now - began) / .microseconds(1) / Double(each * members.count)
        print("etcd.increment.\(members.count)\t\(time)")
        fflush(nil)
        for task in running { task.cancel() }
        for task in running { await task.value }
    }

    private static func increment(_ session: VaultSession) async throws {
        var item = NewItem(
            itemClass: .genericPassword, attributes: [.service: .string("counter"), .account: .string("")],
            accessGroup: "group", accessControl: AccessControl(protection: .whenUnlocked), isSynchronizable: true,
            value: nil, authentication: AuthenticationOptions())
        var exchange: CircleExchange?
        while true {
            if exchange == nil {
                let present = (try? session.perform(CopyItems(query("counter"), includingValues: true)))?.first?.value
                let count = present.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                item.value = Data("\(count + 1)".utf8)
                exchange = CircleExchange(item, expecting: present, patience: .seconds(60))
            }
            switch try exchange?.step(session) {
            case .wait(let time): try await Task.sleep(for: time)
            case .done(.exchanged): return
            case .done(.undecided), .done(.impossible): throw VaultError.busy
            case .done(.refused):
                try await Task.sleep(for: CircleExchange.pause)
                exchange = nil
            case .done(.differs), nil: exchange = nil
            }
        }
    }

    private func measureChanges(_ members: [Member], _ changes: Int) async throws {
        let running = members.map(Self.start)
        // Until all watch.
        try await Task.sleep(for: .seconds(5))
        var (each, last): ([Double], [Double]) = ([], [])
        for round in 0..<changes {
            let (query, value) = (Self.query("change-\(round % 20)"), Data("round \(round)".utf8))
            let writer = members[round % members.count]
            let arrivals = members.filter { $0.vault !== writer.vault }.map { member in
                // Listens before the change is made.
                let changes = member.vault.changes()
                return Task { () -> ContinuousClock.Instant in
                    for await _ in changes {
                        var isThere = false
                        _ = try member.vault.perform(CopyItems(query, includingValues: true), as: Self.owner) {
                            (part: CopyItems.Part) throws(VaultError) in
                            if case .item(let item) = part, item.value == value { isThere = true }
                        }
                        if isThere { break }
                    }
                    return .now
                }
            }
            let began = ContinuousClock.now
            _ = try writer.vault.perform(UpdateItems(query, with: ItemChanges(value: value)), as: Self.owner)
            var times: [Double] = []
            for arrival in arrivals { times.append(try await (arrival.value - began) / .milliseconds(1)) }
            each += times
            last.append(times.max() ?? 0)
        }
        for task in running { task.cancel() }
        for task in running { await task.value }
        for (name, times) in [("each", each.sorted()), ("last", last.sorted())] where !times.isEmpty {
            for percent in [50, 99] {
                let time = times[min(times.count - 1, times.count * percent / 100)]
                print("etcd.\(name).p\(percent).\(members.count)\t\(time * 1_000)")
            }
        }
        fflush(nil)
    }

    private func measureItems(_ first: Member, _ count: Int) async throws {
        try Self.fill(first.vault, "item", count)
        var began = ContinuousClock.now
        try await first.carrier.synchronize()
        Self.show("hand-on", began, count)
        let newcomer = try await admit("newcomer", by: first)
        began = .now
        try await newcomer.carrier.synchronize()
        Self.show("take-in", began, count)
        let changed = min(10_000, count)
        for number in 0..<changed {
            _ = try first.vault.perform(
                UpdateItems(Self.query("item-\(number)"), with: ItemChanges(value: Data("new".utf8))), as: Self.owner)
        }
        try await first.carrier.synchronize()
        began = .now
        try await newcomer.carrier.synchronize()
        Self.show("catch-up", began, changed)
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let kibibytes = status.firstMatch(of: /VmHWM:\s+(\d+)/).flatMap { Double($0.1) } ?? 0
        print("etcd.memory.\(count)\t\(kibibytes)")
    }

    /// Prints the time of one item in microseconds.
    private static func show(_ name: String, _ began: ContinuousClock.Instant, _ count: Int) {
        print("etcd.\(name).\(count)\t\((ContinuousClock.now - began) / .microseconds(1) / Double(count))")
        fflush(nil)
    }
}
#else
/// Without the trait `HTTPClientSupport`, there is no client of HTTP to speak with etcd.
@main
enum CircleBenchmark {
    static func main() { print("CircleBenchmark was built without the trait HTTPClientSupport") }
}
#endif
