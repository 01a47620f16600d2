import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// Random operations on a vault against a simple model of versions, histories and changes.
@Suite struct HistoryModelTests {
    /// A version of an item in the model.
    private struct Version: Equatable {
        var number: Int64
        var value: String
        var label: String
        var kept: Int?
        /// When the version ended.
        var ended = 0
        var isDeleted = false
    }

    /// An item from its making to its deletion, and on if it comes back.
    private struct Line {
        var identifier: UUID
        var isLive = true
        var present: Version
        var former: [Version] = []
    }

    /// Somebody who reads the changes from time to time.
    private struct Follower {
        var next: Int64 = 0
        var known: [UUID: Int64] = [:]
        /// The items that were touched since the last look.
        var touched: Set<UUID> = []
    }

    private struct Model {
        var lines: [String: [Line]] = [:]
        var defaultKept = 0
        var clock = 0

        func live(_ account: String) -> Line? { lines[account]?.first { $0.isLive } }

        mutating func change(_ account: String, _ body: (inout Line) -> Void) {
            guard let place = lines[account]?.firstIndex(where: { $0.isLive }) else { return }
            body(&lines[account]![place])
        }

        /// The deleted item of that name that was deleted last.
        func lastDeleted(_ account: String) -> Int? {
            let deleted = (lines[account] ?? []).enumerated().filter {
                !$0.element.isLive && !$0.element.former.isEmpty
            }
            return deleted.max { $0.element.former.last!.ended < $1.element.former.last!.ended }?.offset
        }

        func kept(_ version: Version) -> Int { version.kept ?? defaultKept }

        mutating func renew(_ account: String, value: String?, label: String?, kept: Int?) {
            clock += 1
            let (clock, defaultKept) = (clock, defaultKept)
            change(account) { line in
                var next = line.present
                next.number += 1
                next.value = value ?? next.value
                next.label = label ?? next.label
                next.kept = kept ?? next.kept
                let count = next.kept ?? defaultKept
                let hasNewValue = next.value != line.present.value
                if hasNewValue, count > 0 {
                    line.present.ended = clock
                    line.former.append(line.present)
                }
                if hasNewValue || next.kept != line.present.kept {
                    line.former = Array(line.former.suffix(count))
                }
                line.present = next
            }
        }

        mutating func delete(_ account: String) {
            clock += 1
            guard let line = live(account) else { return }
            let (count, clock) = (kept(line.present), clock)
            change(account) { line in
                if count > 0 {
                    line.present.ended = clock
                    line.present.isDeleted = true
                    line.former.append(line.present)
                }
                line.isLive = false
            }
            if count > 0 {
                let all = lines[account]!.flatMap(\.former).map { ($0.ended, $0.number) }.sorted { $0 > $1 }
                for place in lines[account]!.indices {
                    lines[account]![place].former.removeAll { version in
                        !all.prefix(count).contains { $0 == (version.ended, version.number) }
                    }
                }
            }
            let place = lines[account]!.firstIndex { $0.identifier == line.identifier }!
            lines[account]![place].former = Array(lines[account]![place].former.suffix(count))
        }
    }

    private let vault: EmbeddedVault
    private var random = SeededGenerator()
    private var model = Model()
    private var followers = [Follower](repeating: Follower(), count: 3)

    init() throws { vault = try memoryVault(now: tickingClock()) }

    private mutating func touch(_ identifier: UUID) {
        for place in followers.indices { followers[place].touched.insert(identifier) }
    }

    private static func item(_ account: String, _ value: String, _ label: String, _ kept: Int?) -> NewItem {
        var item = NewItem.password("s", account, value)
        item.attributes[.label] = .string(label)
        item.kept = kept.map { .atMost($0) }
        return item
    }

    private static func text(_ value: Data?) -> String? { value.map { String(decoding: $0, as: UTF8.self) } }

    private static func failure(_ body: () throws -> Void) -> VaultError? {
        do {
            try body()
            return nil
        } catch {
            return error as? VaultError
        }
    }

    private func versions(_ account: String) throws -> [ItemVersion] {
        do {
            return try vault.versions(.password("s", account, limit: nil), as: .app)
        } catch VaultError.itemNotFound {
            return []
        }
    }

    private mutating func step() throws {
        let account = ["a", "b", "c"][random.int(below: 3)]
        let (value, label) = ("value \(random.int(below: 4))", "label \(random.int(below: 3))")
        let kept = random.int(below: 5) == 0 ? random.int(below: 4) : nil
        let query = ItemQuery.password("s", account)
        let live = model.live(account)
        switch random.int(below: 12) {
        case 0, 1:
            let item = Self.item(account, value, label, kept)
            guard live == nil else {
                #expect(Self.failure { _ = try vault.add(item, as: .app) } == .duplicateItem)
                return
            }
            let added = try vault.add(item, as: .app)
            model.clock += 1
            let version = Version(number: 1, value: value, label: label, kept: kept)
            model.lines[account, default: []].append(Line(identifier: added.identifier, present: version))
            touch(added.identifier)
        case 2, 3:
            let put = try vault.put(Self.item(account, value, label, kept), as: .app)
            if live == nil {
                model.clock += 1
                let version = Version(number: 1, value: value, label: label, kept: kept)
                model.lines[account, default: []].append(Line(identifier: put.identifier, present: version))
            } else {
                model.renew(account, value: value, label: label, kept: kept)
                #expect(put.version == model.live(account)?.present.number)
            }
            touch(put.identifier)
        case 4, 5, 6:
            guard let live else { return }
            let parts = random.int(below: 4)
            var changes = ItemChanges(value: parts & 1 == 0 ? nil : Data(value.utf8))
            if parts & 2 != 0 { changes.attributes[.label] = .string(label) }
            changes.kept = kept.map { .atMost($0) }
            #expect(try vault.update(query, with: changes, as: .app) == 1)
            model.renew(
                account, value: parts & 1 == 0 ? nil : value, label: parts & 2 == 0 ? nil : label, kept: kept)
            touch(live.identifier)
        case 7:
            guard let live else { return }
            #expect(
                try vault.exchange(
                    Self.item(account, value, live.present.label, nil), expecting: Data(live.present.value.utf8),
                    as: .app))
            model.renew(account, value: value, label: nil, kept: nil)
            touch(live.identifier)
        case 8:
            guard let live else { return }
            #expect(try vault.delete(query, as: .app) == 1)
            model.delete(account)
            touch(live.identifier)
        case 9: try restore(account, random.int(below: 2) == 0 ? nil : Int64(random.int(below: 6)))
        case 10 where random.int(below: 4) == 0:
            let isAll = random.int(below: 2) == 0
            let accounts = isAll ? ["a", "b", "c"] : [account]
            let count = accounts.flatMap { model.lines[$0] ?? [] }.map(\.former.count).reduce(0, +)
            #expect(try vault.purge(isAll ? nil : query, as: .app) == count)
            for account in accounts {
                for place in (model.lines[account] ?? []).indices { model.lines[account]![place].former = [] }
            }
        case 11 where random.int(below: 4) == 0:
            model.defaultKept = random.int(below: 4)
            #expect(try vault.keepVersions(model.defaultKept, as: .owner) == model.defaultKept)
        default: try follow(random.int(below: followers.count))
        }
    }

    private mutating func restore(_ account: String, _ version: Int64?) throws {
        let query = ItemQuery.password("s", account)
        func restore() throws -> StoredItem { try vault.restore(version, of: query, as: .app) }
        func wanted(in line: Line) -> Version? {
            guard let version else { return line.former.last }
            return line.former.first { $0.number == version }
        }
        let deleted = model.lastDeleted(account)
        guard let live = model.live(account) else {
            guard let deleted, let former = wanted(in: model.lines[account]![deleted]) else {
                #expect(Self.failure { _ = try restore() } == .itemNotFound)
                return
            }
            let item = try restore()
            model.clock += 1
            var line = model.lines[account]![deleted]
            line.present = former
            line.present.number = line.former.last!.number + 1
            line.present.isDeleted = false
            line.isLive = true
            line.former = Array(line.former.suffix(max(1, model.kept(former))))
            model.lines[account]![deleted] = line
            #expect(item.identifier == line.identifier && item.version == line.present.number)
            touch(line.identifier)
            return
        }
        if version == live.present.number {
            let failure = Self.failure { _ = try restore() }
            guard case .invalidRequest = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        } else if let former = wanted(in: live) {
            let item = try restore()
            model.renew(account, value: former.value, label: former.label, kept: nil)
            #expect(item.identifier == live.identifier && item.version == live.present.number + 1)
            touch(live.identifier)
        } else {
            let isThere = deleted.flatMap { wanted(in: model.lines[account]![$0]) } != nil
            #expect(Self.failure { _ = try restore() } == (isThere ? .duplicateItem : .itemNotFound))
        }
    }

    /// Has somebody read the changes since the last look: each touched item once, as it is now.
    private mutating func follow(_ place: Int) throws {
        let (items, known) = try vault.changes(since: followers[place].next, as: .app)
        let told = Dictionary(items.map { ($0.identifier, $0.version) }) { $1 }
        #expect(known.isComplete)
        #expect(Set(told.keys) == followers[place].touched, "seed \(random.seed)")
        // An item that was deleted and came back is told of twice, and its deletion first.
        #expect(Dictionary(grouping: items.filter { !$0.isDeleted }, by: \.identifier).allSatisfy { $1.count == 1 })
        followers[place].known.merge(told) { $1 }
        followers[place].known = followers[place].known.filter { $0.value != 0 }
        followers[place].next = known.next
        followers[place].touched = []
        let live = model.lines.values.joined().filter(\.isLive)
        #expect(
            followers[place].known
                == Dictionary(uniqueKeysWithValues: live.map { ($0.identifier, $0.present.number) }),
            "seed \(random.seed)")
    }

    /// Compares the history of an account, and every value in it, with the model.
    private mutating func compare(_ account: String) throws {
        let lines = model.lines[account] ?? []
        let found = Dictionary(grouping: try versions(account), by: \.item.identifier)
        let expected = lines.filter { $0.isLive || !$0.former.isEmpty }
        #expect(Set(found.keys) == Set(expected.map(\.identifier)), "seed \(random.seed)")
        for line in expected {
            let all = (line.isLive ? [line.present] : []) + line.former.reversed()
            let told = found[line.identifier] ?? []
            #expect(told.map(\.item.version) == all.map(\.number), "seed \(random.seed)")
            #expect(told.map { $0.item.attribute(.label) } == all.map { .string($0.label) })
            #expect(told.map(\.item.kept.count) == all.map(\.kept))
            #expect(told.map(\.isDeleted) == all.map(\.isDeleted))
            let arePresent = all.indices.map { line.isLive && $0 == 0 }
            #expect(told.map { $0.ended == nil } == arePresent)
            #expect(told.allSatisfy { $0.item.value == nil })
            // Deleted items of one name are told apart by their identifiers.
            var query = ItemQuery.password("s", account)
            query.identifier = line.identifier
            for version in all {
                let item = try vault.version(version.number, of: query, as: .app)
                #expect(Self.text(item.value) == version.value, "seed \(random.seed)")
            }
            let missing = Self.failure { _ = try vault.version(all[0].number + 1, of: query, as: .app) }
            #expect(missing == .itemNotFound)
        }
    }

    @Test mutating func randomOperationsFollowTheModel() throws {
        for _ in 0..<TestScale.count(1_500, soak: 40_000) {
            try step()
            if random.int(below: 10) == 0 { try compare(["a", "b", "c"][random.int(below: 3)]) }
        }
        for account in ["a", "b", "c"] { try compare(account) }
        for place in followers.indices { try follow(place) }
        let report = try vault.verify(as: .owner)
        #expect(report.problems.isEmpty && report.validItems == model.lines.values.joined().count(where: \.isLive))
    }
}
