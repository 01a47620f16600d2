#if HTTPClientSupport
import Access
import AsyncHTTPClient
import Bytes
import CircleEtcd
import Foundation
import KeychainModel
import NIOCore

import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// A clock that is moved by hand.
final class MovedClock: Sendable {
    private let moved = Mutex(0.0)

    var now: @Sendable () -> Date { { Date().addingTimeInterval(self.moved.withLock { $0 }) } }

    func move(by seconds: Double) { moved.withLock { $0 += seconds } }
}

/// A machine with a vault whose items travel through etcd.
final class EtcdMachine: Sendable {
    let name: String
    let vault: any Vault
    let carrier: EtcdCarrier
    /// The client that administers the vault, and the one that stores items.
    private let person: Client
    private let program: Client
    private let http: HTTPClient

    static let group = "TEAM.app"

    init(
        _ name: String, _ endpoints: [String], user: EtcdGateway.User? = nil, vault given: (any Vault)? = nil,
        seen: (any Vault)? = nil, client: Client? = nil, longestAnswer: Int = EtcdGateway.longest,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        self.name = name
        (person, program) = (client ?? .owner, client ?? .app)
        vault = try given ?? memoryVault(now: now)
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(2)
        http = HTTPClient(configuration: configuration)
        carrier = EtcdCarrier(
            seen ?? vault, as: person,
            through: EtcdGateway(
                endpoints, user: user, over: http, bodyPatience: .milliseconds(500), longest: longestAnswer),
            silence: .seconds(2), now: now)
    }

    deinit { try? http.syncShutdown() }

    func keepVersions() throws { _ = try vault.keepVersions(KeptVersions.largest, as: person) }

    func setPasscode(_ passcode: String) throws {
        try vault.setPasscode(SecretBytes(passcode), options: .cheapest, as: person)
    }

    func lock() throws { try vault.lock(after: .zero, as: person) }

    func unlock(_ passcode: String) throws { try vault.unlock(with: SecretBytes(passcode), as: person) }

    /// Has items travel until the task is cancelled.
    func run() async { await carrier.run() }

    /// What a program of this machine uses.
    var session: VaultSession { VaultSession(vault: vault, client: program) }

    @discardableResult
    func change(_ change: ChangeCircle.Change) throws -> CircleChanged {
        try vault.perform(ChangeCircle(change), as: person)
    }

    func status() throws -> CircleStatus { try vault.perform(ReadCircle(), as: person) }

    func put(_ account: String, _ value: String) throws {
        var item = NewItem.password("service", account, value)
        (item.isSynchronizable, item.accessGroup) = (true, Self.group)
        _ = try vault.put(item, as: program)
    }

    func remove(_ account: String) throws {
        var query = ItemQuery.password("service", account)
        query.synchronizable = .any
        _ = try vault.delete(query, as: program)
    }

    func contents() throws -> [String: String] {
        let query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        var contents: [String: String] = [:]
        for item in try vault.items(query, as: program) {
            guard case .string(let account)? = item.attributes[.account] else { continue }
            contents[account] = String(decoding: item.value ?? Data(), as: UTF8.self)
        }
        return contents
    }

    /// The values of former versions of each item.
    func history() throws -> [String: [String]] {
        var query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        query.limit = nil
        var history: [String: [String]] = [:]
        let versions = (try? vault.versions(query, as: program)) ?? []
        for version in versions where version.ended != nil {
            guard case .string(let account)? = version.item.attributes[.account] else { continue }
            var one = ItemQuery.password("service", account)
            one.synchronizable = .any
            // Of an item that was deleted, there is none.
            guard let item = try? vault.version(version.item.version, of: one, as: program) else { continue }
            history[account, default: []].append(String(decoding: item.value ?? Data(), as: UTF8.self))
        }
        return history
    }

    /// Makes a circle of the machines.
    static func makeCircle(_ machines: [EtcdMachine]) async throws {
        let first = try #require(machines.first)
        try first.change(.create(name: first.name, groups: [group], location: "etcd:test"))
        try await first.carrier.synchronize()
        for other in machines.dropFirst() { try await first.admit(other) }
    }

    /// Lets another machine in.
    func admit(_ other: EtcdMachine) async throws {
        let secret = try #require(try change(.invite(count: 1, seconds: 86_400, rights: 15)).secret)
        try await carrier.synchronize()
        try other.change(.join(secret: secret, name: other.name, location: "etcd:test", groups: [Self.group]))
        try await other.carrier.synchronize()
        try await carrier.synchronize()
        let request = try #require(try status().requests.first)
        try change(.approve(request: request.identifier, groups: nil))
        try await carrier.synchronize()
        try await other.carrier.synchronize()
    }

    /// Has all items travel, and returns what the machines hold then.
    static func settle(_ machines: [EtcdMachine]) async throws -> [[String: String]] {
        for _ in 0..<2 { for machine in machines { try await machine.carrier.synchronize() } }
        return try machines.map { try $0.contents() }
    }
}
#endif
