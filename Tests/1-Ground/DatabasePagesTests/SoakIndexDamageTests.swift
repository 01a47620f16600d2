import DatabasePages
import Foundation
import TestSupport
import Testing

/// Changed files: the change is noticed, or what is in force is a state that once was, which pages of a later one do
/// not fit.
@Suite struct SoakIndexDamageTests {
    /// An index with a history, and each state that it had.
    private func history(_ random: inout SeededGenerator, changes: Int) throws -> (
        test: IndexUnderTest, states: [PageScript.State], ends: [Int]
    ) {
        let test = try IndexUnderTest()
        var script = PageScript(seed: random.next(), limit: 200)
        var (states, ends) = ([script.state], [try test.bytes.count])
        for _ in 0..<changes {
            let sequence = test.index.sequence
            try test.index.perform(script.next())
            guard test.index.sequence > sequence else { continue }
            states.append(script.state)
            ends.append(try test.bytes.count)
        }
        return (test, states, ends)
    }

    /// Cut anywhere, as by somebody who was killed: the state before, and it goes on from there.
    @Test func cut() throws {
        var random = SeededGenerator()
        let (test, states, ends) = try history(&random, changes: 12)
        let bytes = try test.bytes
        let last = try #require(ends.dropLast().last)
        for place in stride(from: ends[0], to: bytes.count, by: TestScale.count(7, soak: 1)) {
            try test.put(bytes.prefix(place))
            let index = try test.open()
            let expected = states[(ends.lastIndex { $0 <= place }) ?? 0]
            #expect(index.state == expected, "byte \(place), seed \(random.seed)")
            try index.set([1], to: 3)
            try index.flush(pageCount: max(1, index.pageCount), durably: false)
            #expect(try test.open().state == index.state)
        }
        // The room of the last batch without its contents, and with a part of them.
        for whole in [last, (last + bytes.count) / 2] {
            try test.put(bytes.prefix(whole) + Data(count: bytes.count - whole))
            #expect(try test.open().state == states[states.count - 2])
        }
        try test.put(bytes + Data(count: 5_000))
        #expect(try test.open().state == states.last)
    }

    @Test func randomDamage() throws {
        var random = SeededGenerator()
        let (test, states, _) = try history(&random, changes: 40)
        let bytes = try test.bytes
        let rounds = TestScale.count(400, soak: 30_000)
        var refused = 0
        for round in 0..<rounds {
            try test.put(random.mutated(bytes))
            guard let state = try? test.open().state else {
                refused += 1
                continue
            }
            #expect(states.contains(state), "round \(round), seed \(random.seed)")
        }
        #expect(refused > rounds / 4)
    }

    /// A bit that flips before the last batch is damage, not the end of the file.
    @Test func flippedBits() throws {
        var random = SeededGenerator()
        let (test, states, ends) = try history(&random, changes: 12)
        let bytes = try test.bytes
        let last = try #require(ends.dropLast().last)
        for place in stride(from: 0, to: bytes.count, by: TestScale.count(5, soak: 1)) {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            try test.put(changed)
            if place >= last + 8 {
                #expect(try test.open().state == states[states.count - 2])
            } else {
                #expect(throws: PageIndexError.self, "byte \(place)") { try test.open() }
            }
        }
    }

    /// Batches left out, exchanged, repeated, or from another file.
    @Test func movedBatches() throws {
        var random = SeededGenerator()
        let (test, states, ends) = try history(&random, changes: 12)
        let (other, _, otherEnds) = try history(&random, changes: 12)
        let (bytes, others) = (try test.bytes, try other.bytes)
        let batches = zip(ends, ends.dropFirst()).map { bytes[$0..<$1] }
        let first = bytes.prefix(ends[0])
        func expectOld(_ changed: Data) throws {
            try test.put(changed)
            let outcome = Result { try test.open().state }
            if case .failure(let error) = outcome {
                #expect(error as? PageIndexError == .damaged(path: test.path))
            } else {
                #expect(try states.contains(outcome.get()))
            }
        }
        for number in batches.indices {
            var left = batches
            left.remove(at: number)
            try expectOld(first + left.joined())
            var repeated = batches
            repeated.insert(batches[number], at: number)
            try expectOld(first + repeated.joined())
            var exchanged = batches
            exchanged.swapAt(number, 0)
            try expectOld(first + exchanged.joined())
            try expectOld(bytes.prefix(ends[number]) + others[otherEnds[0]..<otherEnds[1]])
        }
        // Behind the header of another file nothing opens.
        try test.put(others.prefix(32) + bytes.dropFirst(32))
        #expect(throws: PageIndexError.wrongKey(path: test.path)) { try test.open() }
    }

    /// An older file in the place of one that is in use.
    @Test func replacedByOlder() throws {
        var random = SeededGenerator()
        let (test, states, _) = try history(&random, changes: 10)
        let older = try test.bytes
        try test.index.set([1], to: 5)
        try test.index.flush(pageCount: max(1, test.index.pageCount), durably: true)
        try older.write(to: URL(filePath: test.path), options: .atomic)
        #expect(throws: PageIndexError.older(path: test.path)) { try test.index.refresh() }
        #expect(throws: PageIndexError.older(path: test.path)) { try test.index.beginWAL(salts: 1, over: 0) }
        #expect(try test.open().state == states.last)
    }

    /// Whatever the file is, opening ends with a state that once was or an error.
    @Test func fuzzPageIndex() throws {
        var random = SeededGenerator()
        let (test, states, ends) = try history(&random, changes: 20)
        let bytes = try test.bytes
        let samples = [0, 3, 10, ends.count - 1].map { bytes.prefix(ends[$0]) }
        var run = FuzzRun("page-index", samples: samples, plain: 300, soak: 20_000)
        let report = try run.run { input in
            try test.put(input)
            guard let index = try? test.open() else { return false }
            guard states.contains(index.state) else { throw FuzzFinding("a state that never was") }
            return true
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }
}
