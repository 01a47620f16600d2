import Access
import Bytes
import Foundation
import Items
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// Vaults in a circle, and what carries between them: a list of all objects, from which each vault reads those of the
/// others, in the order of each, however the lists are mixed.
final class CircleOfVaults {
    struct Peer {
        let vault: EmbeddedVault
        let clock: MovableClock
        var own: [CircleObject] = []
        /// How much of the list of each other was read.
        var read: [Int: Int] = [:]
    }

    static let group = "TEAM.app"
    private(set) var peers: [Peer] = []
    private var random: SeededGenerator
    /// Changes an object on its way to a vault.
    var tamper: ((CircleObject) -> [CircleObject])?
    private(set) var refused = 0
    /// The values that were handed on, by account.
    private(set) var published: [String: Set<String>] = [:]
    private(set) var conflicts = 0
    private(set) var reasons: Set<String> = []

    /// A circle of so many vaults, all of which hold the view of ``group``.
    init(_ count: Int, random: SeededGenerator = SeededGenerator(seed: 1)) throws {
        self.random = random
        for _ in 0..<count { try addPeer() }
        try change(0, .create(name: "machine 0", groups: [Self.group], location: "test:"))
        for number in 1..<max(count, 1) where number < count { try join(number) }
        try settle()
    }

    /// - Parameter vault: Made with a clock; one in memory unless given.
    func addPeer(_ vault: ((MovableClock) throws -> EmbeddedVault)? = nil) throws {
        let clock = MovableClock()
        peers.append(Peer(vault: try vault?(clock) ?? memoryVault(now: clock.now), clock: clock))
    }

    /// Invites, and has vaults ask that are not in the circle yet.
    ///
    /// - Returns: The words.
    @discardableResult
    func ask(
        _ numbers: [Int], of other: Int = 0, count: UInt16? = nil, rights: UInt8 = 8, flags: UInt8 = 0,
        groups: [String] = [], attesters: [Data] = []
    ) throws -> SecretBytes {
        let secret = try #require(
            try change(
                other,
                .invite(
                    count: count ?? UInt16(clamping: numbers.count), seconds: 3_600, rights: rights, flags: flags,
                    groups: groups,
                    attesters: attesters)
            ).secret)
        try write(other)
        for number in numbers { try ask(number, with: secret) }
        return secret
    }

    /// Has a vault ask, up to the request that it writes.
    func ask(_ number: Int, with secret: SecretBytes) throws {
        try change(
            number,
            .join(secret: secret, name: "machine \(number)", location: "test:", groups: [Self.group, "TEAM.shared"]))
        try carry(number)
        try write(number)
    }

    func move(by seconds: TimeInterval) { for peer in peers { peer.clock.move(by: seconds) } }

    /// Does something with the circle of a vault, past what its interface permits.
    func engine<Result>(
        _ number: Int, _ body: (CircleMaking, ItemStore.Writer) throws -> Result
    ) throws -> Result {
        let circle = try #require(self[number].circle as? VaultCircle)
        return try circle.vault.writing(for: AccessGate.authorize(.removeUnreadable)) { writer, keybag in
            let session = try #require(try circle.session(writer.reader.circle, keybag))
            return try body(
                CircleMaking(session: session, writer: writer, logs: CircleLogs(), now: peers[number].clock.now()),
                writer)
        }
    }

    subscript(number: Int) -> EmbeddedVault { peers[number].vault }

    @discardableResult
    func change(_ number: Int, _ change: ChangeCircle.Change) throws -> CircleChanged {
        try self[number].perform(ChangeCircle(change), as: .owner)
    }

    func status(_ number: Int) throws -> CircleStatus { try self[number].perform(ReadCircle(), as: .owner) }

    /// Has one vault join, by the words of another.
    func join(_ number: Int, by other: Int = 0, groups: [String]? = nil, rights: UInt8 = 15) throws {
        let secret = try #require(
            try change(other, .invite(count: 1, seconds: 3_600, rights: rights)).secret)
        try change(
            number,
            .join(secret: secret, name: "machine \(number)", location: "test:", groups: [Self.group, "TEAM.shared"]))
        try carry(other)
        try carry(number)
        try carry(number)
        try carry(other)
        let request = try #require(try status(other).requests.first)
        try change(other, .approve(request: request.identifier, groups: groups))
        try carry(other)
        try carry(number)
        try carry(number)
    }

    // MARK: Carrying

    /// Writes what a vault has, and has it read what others wrote.
    ///
    /// - Parameter most: How many objects of each other it reads.
    func carry(_ number: Int, most: Int = .max) throws {
        try write(number)
        try read(number, most: most)
    }

    private func collect(_ number: Int, settled: Int64) throws -> ([CircleObject], CollectedObjects) {
        var objects: [CircleObject] = []
        let reply = try self[number].perform(
            CollectCircleObjects(for: "test", settled: settled, isCaughtUp: true), as: .owner
        ) {
            (object: CircleObject) throws(VaultError) in objects.append(object)
        }
        return (objects, reply)
    }

    func write(_ number: Int) throws {
        var settled: Int64 = 0
        while true {
            let (objects, reply) = try collect(number, settled: settled)
            if reply.standing != .joining, reply.place == nil { peers[number].read = [:] }
            if settled > 0 || !objects.isEmpty { peers[number].own += objects }
            settled = reply.through
            guard reply.hasMore || !objects.isEmpty else { break }
        }
        for (account, value) in try contents(number) { published[account, default: []].insert(value) }
    }

    func read(_ number: Int, most: Int = .max) throws {
        let isJoining = try status(number).standing == .joining
        var objects: [CircleObject] = []
        // Who comes back finds what it wrote when it was a member before.
        var lists = peers.indices.filter { $0 != number || isJoining }.map { other in
            let start = isJoining ? 0 : peers[number].read[other] ?? 0
            return (other, peers[other].own.dropFirst(start).prefix(most))
        }
        if !isJoining { for (other, list) in lists { peers[number].read[other, default: 0] += list.count } }
        // Mixed in any way that keeps the order of each.
        while let place = lists.indices.filter({ !lists[$0].1.isEmpty }).randomElement(using: &random) {
            let object = lists[place].1.removeFirst()
            objects += tamper?(object) ?? [object]
        }
        for start in stride(from: 0, to: max(objects.count, 1), by: CircleObject.most) {
            let part = Array(objects.dropFirst(start).prefix(CircleObject.most))
            let taken = try self[number].perform(
                TakeCircleObjects(part, from: "test", place: Data([1])), as: .owner)
            refused += taken.refused
            conflicts += taken.conflicts
            reasons.formUnion(taken.reasons)
        }
    }

    /// Carries until nothing changes any more.
    func settle(_ numbers: [Int]? = nil) throws {
        for _ in 0..<4 { for number in numbers ?? Array(peers.indices) { try carry(number) } }
    }

    // MARK: Items

    func item(_ account: String, _ value: String, protection: ProtectionClass = .afterFirstUnlock) -> NewItem {
        var item = NewItem.password("service", account, value)
        item.isSynchronizable = true
        item.accessControl = AccessControl(protection: protection)
        return item
    }

    func query(_ account: String) -> ItemQuery {
        var query = ItemQuery.password("service", account)
        query.synchronizable = .any
        return query
    }

    func value(_ account: String, at number: Int) throws -> String? {
        try self[number].items(query(account)).first?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The values of all items by account, of each vault.
    func contents(_ number: Int) throws -> [String: String] {
        var query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        query.includesExpired = true
        var contents: [String: String] = [:]
        for item in try self[number].items(query) {
            guard case .string(let account)? = item.attributes[.account] else { continue }
            contents[account] = String(decoding: item.value ?? Data(), as: UTF8.self)
        }
        return contents
    }

    /// The values that an item had, the present one among them.
    func history(_ account: String, at number: Int) throws -> Set<String> {
        let query = query(account)
        let versions: [ItemVersion]
        do {
            versions = try self[number].versions(query, as: .app)
        } catch VaultError.itemNotFound {
            return []
        }
        return try Set(
            versions.map { version in
                let item = try self[number].version(version.item.version, of: query, as: .app)
                return String(decoding: item.value ?? Data(), as: UTF8.self)
            })
    }
}

/// A clock that goes on by a second with each look, and that a test can move.
final class MovableClock: Sendable {
    private let date = Mutex(Date(timeIntervalSinceReferenceDate: 800_000_000))

    var now: @Sendable () -> Date {
        { [self] in
            date.withLock { date in
                date += 1
                return date
            }
        }
    }

    func move(by seconds: TimeInterval) { date.withLock { $0 += seconds } }

    func set(_ time: Date) { date.withLock { $0 = time } }
}
