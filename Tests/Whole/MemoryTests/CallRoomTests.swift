import Access
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Operations of served calls, which have room for a part of what they find. Each asks for strictly more room than it
/// has, and ends: with all that it found, or with an error that says why not.
@Suite struct CallRoomTests {
    /// A server's call, with the room that a server gives, which notes what the operation asks for.
    private final class Call: ServedCall, Sendable {
        private struct State {
            var room = 64 << 10
            var asked: [Int] = []
            var turns = 0
            var turnsLeft: Int
        }

        private let state: Mutex<State>
        let rows = 1_000
        let largestRoom = 36 << 20

        /// - Parameter turns: After how many turns the client is gone. An operation that never ends gets no further.
        init(turns: Int = 10_000) { state = Mutex(State(turnsLeft: turns)) }

        var room: Int { state.withLock { $0.room } }
        /// Each growth of the room.
        var asked: [Int] { state.withLock { $0.asked } }
        var turns: Int { state.withLock { $0.turns } }

        func makeRoom(for bytes: Int) throws(VaultError) {
            try giveWay()
            state.withLock { state in
                guard bytes > state.room else { return }
                state.asked.append(bytes)
                state.room = bytes > 1 << 20 ? largestRoom : 1 << 20
            }
        }

        func giveWay() throws(VaultError) {
            let isThere = state.withLock { state in
                (state.turns, state.turnsLeft) = (state.turns + 1, state.turnsLeft - 1)
                return state.turnsLeft >= 0
            }
            guard isThere else { throw .clientIsGone }
        }

        func breathe() throws(VaultError) {
            guard state.withLock({ $0.turnsLeft >= 0 }) else { throw .clientIsGone }
        }

        func wait<Result>(for body: () -> Result) -> Result { body() }
    }

    /// A number of items, and the bytes of the attributes and of the value of each.
    struct Size: CustomTestStringConvertible {
        var count: Int
        var attributes: Int
        var value: Int
        var testDescription: String { "\(count) items of \(attributes) + \(value) bytes" }
    }

    static let sizes: [Size] = {
        let counts =
            TestScale.isSoak ? [1, 2, 50, 300, 440, 441, 450, 600, 999, 1_000, 1_001, 2_000] : [1, 600, 1_200]
        let bytes = TestScale.isSoak ? [50, 150, 500, 1_500, 5_000] : [50, 5_000]
        return counts.flatMap { count in
            bytes.flatMap {
                [Size(count: count, attributes: $0, value: 10), Size(count: count, attributes: 10, value: $0)]
            }
        } + [Size(count: 3, attributes: 200_000, value: 10), Size(count: 3, attributes: 10, value: 2_000_000)]
    }()

    private let folder: TemporaryFolder
    private let vault: EmbeddedVault
    private static let service = "many"
    private static let all = ItemQuery.password(service, limit: nil)

    init() throws {
        folder = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
    }

    private func fill(_ size: Size) throws {
        var left = 0..<size.count
        while !left.isEmpty {
            let items = left.prefix(ReceiveItems.most).map { number in
                StoredItem(
                    itemClass: .genericPassword, identifier: UUID(),
                    attributes: [
                        .service: .string(Self.service), .account: .string("a\(number)"),
                        .label: .string(String(repeating: "l", count: size.attributes)),
                    ], accessGroup: "TEAM.app", accessControl: AccessControl(protection: .afterFirstUnlock),
                    isSynchronizable: false, creationDate: Date(), modificationDate: Date(),
                    value: Data(repeating: 7, count: size.value))
            }
            try served {
                try vault.perform(ReceiveItems(items, accessGroup: "TEAM.app", keepsIdentity: false), as: .app)
            }
            left = left.dropFirst(ReceiveItems.most)
        }
    }

    /// Runs an operation as a server's call, and checks what it asked for.
    @discardableResult
    private func served<Result>(_ call: Call = Call(), _ body: () throws -> Result) throws -> Result {
        defer {
            #expect(call.asked == call.asked.sorted() && call.asked.count <= 2, "\(call.asked)")
            // A turn for each slice, and no more.
            #expect(call.turns < 200)
        }
        return try CurrentCall.$served.withValue(call) { try body() }
    }

    @Test(arguments: sizes)
    func everyOperationEnds(_ size: Size) throws {
        try fill(size)
        for values in [true, false] {
            let found = try served { try vault.copy(Self.all, includingValues: values, as: .app) }
            #expect(Set(found.map(\.identifier)).count == size.count)
        }
        let changes = ItemChanges(attributes: [.comment: .string("changed")])
        for limit in [nil, 500] {
            var query = Self.all
            query.limit = limit
            let (count, bytes) = (
                min(size.count, limit ?? .max), min(size.count, limit ?? .max) * (size.attributes + size.value)
            )
            if count <= 1_000, bytes < 30 << 20 {
                #expect(try served { try vault.update(query, with: changes, as: .app) } == count)
            } else {
                #expect { try served { try vault.update(query, with: changes, as: .app) } } throws: { error in
                    guard case VaultError.invalidRequest = error else { return false }
                    return true
                }
            }
        }
        #expect(try served { try vault.versions(Self.all, as: .app) }.count == size.count)
        #expect(try served { try vault.changes(since: 0, as: .app) }.items.count == size.count)
        // A version is one of one item.
        if size.count > 1 {
            for operation: () throws -> Void in [
                { _ = try vault.version(1, of: Self.all, as: .app) },
                { _ = try vault.restore(nil, of: Self.all, as: .app) },
                { _ = try vault.version(1, of: ItemQuery(itemClass: .genericPassword), as: .app) },
            ] {
                #expect(
                    throws: VaultError.invalidRequest(reason: "several items have these attributes; name one of them")
                ) {
                    try served { try operation() }
                }
            }
        }
        let one = ItemQuery.password(Self.service, "a0", limit: nil)
        let present = try vault.items(one).first?.version ?? 0
        #expect(try served { try vault.version(present, of: one, as: .app) }.value?.count == size.value)
        #expect(throws: VaultError.itemNotFound) { try served { try vault.restore(nil, of: one, as: .app) } }
        #expect(try served { try vault.delete(Self.all, as: .app) } == size.count)
        #expect(throws: VaultError.itemNotFound) { try served { try vault.delete(Self.all, as: .app) } }
    }

    /// A search by what is in the values needs room for each value that it looks into.
    @Test func versionsOfItemsWithLargeValuesAreFound() throws {
        let certificate = NewItem(
            itemClass: .certificate, attributes: [.label: .string("large")], value: Data(repeating: 1, count: 200_000))
        _ = try vault.add(certificate, as: .app)
        var query = ItemQuery(itemClass: .certificate, attributes: [.label: .string("large")])
        query.filters = [.emailAddress("a@example.org")]
        #expect(throws: VaultError.unsupported(reason: "deleted items are not searched by what is in their values")) {
            try served { try vault.versions(query, as: .app) }
        }
    }

    /// Former versions of many deleted items, of which a query names none.
    @Test func deletedItemsAreLookedThrough() throws {
        for number in 0..<TestScale.count(40, soak: 3_000) {
            var item = NewItem.password(Self.service, "a\(number)", String(repeating: "v", count: 100_000))
            item.kept = .atMost(2)
            _ = try vault.add(item, as: .app)
        }
        #expect(try served { try vault.delete(Self.all, as: .app) } > 0)
        let any = ItemQuery(itemClass: .genericPassword)
        #expect(try served { try vault.version(1, of: any, as: .app) }.value?.count == 100_000)
        #expect(try served { try vault.versions(any, as: .app) }.count == TestScale.count(40, soak: 3_000))
        #expect(try served { try vault.restore(nil, of: any, as: .app) }.version > 1)
        #expect(try served { try vault.purge(nil, as: .app) } > 0)
    }

    /// Whatever an operation does, it notices in time that its client is gone.
    @Test func operationsEndWithTheirClient() throws {
        try fill(Size(count: 2_500, attributes: 300, value: 10))
        // Visits all, and finds none.
        let none = ItemQuery(itemClass: .genericPassword, attributes: [.creationDate: .date(.distantPast)], limit: nil)
        for operation: () throws -> Void in [
            { _ = try vault.copy(Self.all, includingValues: true, as: .app) },
            { _ = try vault.versions(Self.all, as: .app) }, { _ = try vault.changes(since: 0, as: .app) },
            { _ = try vault.update(Self.all, with: ItemChanges(attributes: [.label: .string("x")]), as: .app) },
            { _ = try vault.delete(none, as: .app) }, { _ = try vault.purge(nil, as: .app) },
        ] {
            #expect(throws: VaultError.clientIsGone) {
                try CurrentCall.$served.withValue(Call(turns: 0)) { try operation() }
            }
        }
    }
}
