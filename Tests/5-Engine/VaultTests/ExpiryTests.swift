import Access
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Items whose values are read up to a moment: what is refused afterwards, and that nothing is lost.
@Suite struct ExpiryTests {
    private static let end = Date(timeIntervalSinceReferenceDate: 900_000_000)
    private let clock = Clock()
    private let vault: EmbeddedVault

    init() throws {
        vault = try memoryVault(now: { [clock] in clock.now })
    }

    /// The time of the vault: before or after the end.
    private final class Clock: Sendable {
        private let offset = Mutex(-60.0)

        var now: Date { ExpiryTests.end.addingTimeInterval(offset.withLock { $0 }) }
        func set(_ seconds: Double) { offset.withLock { $0 = seconds } }
    }

    private func add(_ account: String, _ expiry: Expiry? = .at(end)) throws {
        var item = NewItem.password("s", account, "value")
        item.expiry = expiry
        _ = try vault.add(item, as: .app)
    }

    private func read(_ account: String? = "a", includingExpired: Bool = false, values: Bool = true) throws -> Int {
        var query = account.map { ItemQuery.password("s", $0) } ?? .password("s", limit: nil)
        query.includesExpired = includingExpired
        return try vault.copy(query, includingValues: values, as: .app).count
    }

    @Test func theValueIsReadUpToTheEnd() throws {
        try add("a")
        clock.set(-0.001)
        #expect(try read() == 1)
        clock.set(0)
        #expect(throws: VaultError.itemExpired(Self.end)) { try read() }
        #expect(try read(includingExpired: true) == 1)
        // It is not lost: it is listed, verified, and a duplicate.
        #expect(try read(values: false) == 1)
        #expect(throws: VaultError.duplicateItem) { try add("a") }
        #expect(try vault.verify(as: .owner).validItems == 1)
        #expect(try vault.delete(.password("s", "a", limit: nil), as: .app) == 1)
        #expect(throws: VaultError.itemNotFound) { try read() }
    }

    @Test func whatIsLeftOutIsReportedWithoutItsValue() throws {
        try add("a")
        try add("b", .never)
        clock.set(0)
        var query = ItemQuery.password("s", limit: nil)
        query.reports = .expired
        var parts: [CopyItems.Part] = []
        #expect(try vault.copy(query, includingValues: true, as: .app) { parts.append($0) }.count == 1)
        guard parts.count == 1, case .expired(let item) = parts[0] else {
            Issue.record("\(parts)")
            return
        }
        #expect(item.attribute(.account) == .string("a") && item.value == nil)
    }

    @Test func othersAreReadWithoutIt() throws {
        try add("a")
        try add("b", .never)
        try add("c", nil)
        try add("d", .at(Self.end + 1))
        #expect(try read(nil) == 4)
        clock.set(0)
        #expect(try read(nil) == 3)
        #expect(try read(nil, includingExpired: true) == 4 && read(nil, values: false) == 4)
        clock.set(1)
        #expect(try read(nil) == 2)
    }

    @Test func aNewValueIsNotExpired() throws {
        for account in ["put", "update", "exchange"] { try add(account) }
        func renew(_ expiry: Expiry?) throws {
            var item = NewItem.password("s", "put", "new")
            item.expiry = expiry
            _ = try vault.put(item, as: .app)
            var changes = ItemChanges(value: Data("new".utf8))
            changes.expiry = expiry
            _ = try vault.update(.password("s", "update"), with: changes, as: .app)
            var query = ItemQuery.password("s", "exchange")
            query.includesExpired = true
            let value = try vault.copy(query, includingValues: true, as: .app).first?.value
            item = .password("s", "exchange", "new")
            item.expiry = expiry
            #expect(try vault.exchange(item, expecting: value, as: .app))
        }
        func expiries() throws -> [Expiry] {
            try vault.copy(.password("s", limit: nil), includingValues: false, as: .app).map(\.expiry)
        }
        // Before the end it stays.
        try renew(nil)
        #expect(try expiries() == Array(repeating: .at(Self.end), count: 3))
        clock.set(10)
        try renew(nil)
        #expect(try expiries() == Array(repeating: .never, count: 3) && read(nil) == 3)
        try renew(.at(Self.end + 20))
        #expect(try expiries() == Array(repeating: .at(Self.end + 20), count: 3) && read(nil) == 3)
        clock.set(30)
        #expect(throws: VaultError.itemExpired(Self.end + 20)) { try read(nil) }
        // An end in the past is one, whoever asks for it.
        try renew(.at(Self.end))
        #expect(throws: VaultError.itemExpired(Self.end)) { try read("put") }
        try renew(.never)
        #expect(try read(nil) == 3)
    }

    @Test func otherChangesLeaveTheEnd() throws {
        try add("a")
        clock.set(10)
        let changes = ItemChanges(attributes: [.label: .string("renamed")])
        #expect(try vault.update(.password("s", "a"), with: changes, as: .app) == 1)
        #expect(throws: VaultError.itemExpired(Self.end)) { try read() }
        #expect(try vault.copy(.password("s", "a"), includingValues: false, as: .app).first?.expiry == .at(Self.end))
    }
}
