import Foundation

/// Changes to a database's page index, with the valid state after each. The same seed gives the same changes.
package struct PageScript {
    package enum Change {
        case pages([(page: UInt32, version: UInt64)], count: UInt32, frames: UInt32)
        case beginLog(salts: UInt64, former: UInt64)
        case endLog
    }

    /// The valid state.
    package struct State: Equatable {
        package var versions: [UInt32: UInt64] = [:]
        package var pageCount: UInt32 = 0
        package var logSalts: UInt64 = 0
        package var formerSalts: UInt64 = 0
        package var logFrames: UInt32 = 0

        package init() {}
    }

    package private(set) var state: State
    private var random: SeededGenerator
    /// The largest number of pages.
    private let limit: UInt32

    package init(seed: UInt64, from state: State = State(), limit: UInt32 = 3_000) {
        (random, self.state, self.limit) = (SeededGenerator(seed: seed), state, limit)
    }

    package mutating func next() -> Change {
        switch random.int(below: 12) {
        case 0:
            let salts = random.next() | 1
            let change = Change.beginLog(salts: salts, former: state.logSalts)
            (state.formerSalts, state.logSalts, state.logFrames) = (state.logSalts, salts, 0)
            return change
        case 1:
            guard state.logSalts != 0 else { return next() }
            (state.formerSalts, state.logSalts, state.logFrames) = (state.logSalts, 0, 0)
            return .endLog
        default:
            return pages()
        }
    }

    private mutating func pages() -> Change {
        let count =
            random.int(below: 10) == 0
            ? UInt32(1 + random.int(below: Int(limit))) : min(limit, state.pageCount + UInt32(random.int(below: 40)))
        let changed = random.int(below: 40) == 0 ? Int(limit) : random.int(below: 60)
        var pages: [(page: UInt32, version: UInt64)] = []
        for _ in 0..<changed where count > 0 {
            pages.append((UInt32(1 + random.int(below: Int(count))), random.next() | 1))
        }
        let frames = state.logSalts == 0 ? 0 : state.logFrames + UInt32(random.int(below: 5))
        for (page, version) in pages { state.versions[page] = version }
        state.versions = state.versions.filter { $0.key <= count }
        (state.pageCount, state.logFrames) = (count, frames)
        return .pages(pages, count: count, frames: frames)
    }
}
