import Access
import CLibrary
import Dispatch
import Synchronization

/// A number of places that programs share. Users take turns for a free place, and so do the programs of each user.
final class FairQueue: Sendable {
    /// How many places there are in all, how many of them one user may take, and how many one program.
    struct Places: Sendable {
        var all: Int
        var ofUser: Int
        var ofProgram: Int
    }

    private final class Waiter: Sendable {
        let isNext = DispatchSemaphore(value: 0)
    }

    /// Those of a program that wait, the first in front.
    private struct WaitingProgram {
        let program: ServedProgram
        var waiters: [Waiter]
    }

    /// The programs of a user that have somebody waiting, the next in front.
    private struct WaitingUser {
        let user: UInt32
        var programs: [WaitingProgram]
    }

    private struct State {
        var taken = 0
        var takenByUser: [UInt32: Int] = [:]
        var takenByProgram: [ServedProgram: Int] = [:]
        /// The next user in front.
        var waiting: [WaitingUser] = []
    }

    private let places: Places
    private let state = UnfairMutex(State())
    /// Whether somebody waits: for those who give way, who ask often.
    private let isAwaited = Atomic(false)

    init(_ places: Places) {
        self.places = places
    }

    /// How many wait for a place.
    var waiting: Int {
        state.withLock { state in
            state.waiting.reduce(0) { $0 + $1.programs.reduce(0) { $0 + $1.waiters.count } }
        }
    }

    /// Takes a place; waits for it if there is none.
    ///
    /// - Parameter isWanted: Asked now and then while there is none.
    /// - Returns: False, and no place was taken, if the place is not wanted any more.
    @discardableResult
    func enter(_ program: ServedProgram, while isWanted: () -> Bool = { true }) -> Bool {
        let waiter: Waiter? = state.withLock { state in
            if hasPlace(for: program, state) {
                take(program, &state)
                return nil
            }
            return line(up: program, &state)
        }
        return waiter.map { wait($0, of: program, while: isWanted) } ?? true
    }

    /// Gives a place back.
    func leave(_ program: ServedProgram) {
        state.withLock { state in
            giveBack(program, &state)
            callNext(&state)
        }
    }

    /// Gives a place back and takes one again, behind those who wait.
    ///
    /// - Returns: False, and the place was given back, if it is not wanted any more.
    @discardableResult
    func giveWay(_ program: ServedProgram, while isWanted: () -> Bool = { true }) -> Bool {
        guard isAwaited.load(ordering: .relaxed) else { return true }
        let waiter = state.withLock { state in
            giveBack(program, &state)
            let waiter = line(up: program, &state)
            callNext(&state)
            return waiter
        }
        return wait(waiter, of: program, while: isWanted)
    }

    /// Those who are gone must not stand in the line: their threads take memory.
    private func wait(_ waiter: Waiter, of program: ServedProgram, while isWanted: () -> Bool) -> Bool {
        while waiter.isNext.wait(timeout: .now() + Self.patience) == .timedOut {
            guard !isWanted() else { continue }
            if state.withLock({ withdraw(waiter, of: program, &$0) }) { return false }
            // Its place has just come.
            waiter.isNext.wait()
            return true
        }
        return true
    }

    /// How often those who wait are asked whether they want to.
    private static let patience = DispatchTimeInterval.milliseconds(20)

    /// - Returns: Whether the waiter was still in the line.
    private func withdraw(_ waiter: Waiter, of program: ServedProgram, _ state: inout State) -> Bool {
        guard let user = state.waiting.firstIndex(where: { $0.user == program.user }),
            let own = state.waiting[user].programs.firstIndex(where: { $0.program == program }),
            let place = state.waiting[user].programs[own].waiters.firstIndex(where: { $0 === waiter })
        else { return false }
        state.waiting[user].programs[own].waiters.remove(at: place)
        if state.waiting[user].programs[own].waiters.isEmpty { state.waiting[user].programs.remove(at: own) }
        if state.waiting[user].programs.isEmpty { state.waiting.remove(at: user) }
        return true
    }

    private func hasPlace(for program: ServedProgram, _ state: State) -> Bool {
        state.taken < places.all && hasPlace(for: program.user, state)
            && state.takenByProgram[program, default: 0] < places.ofProgram
    }

    private func hasPlace(for user: UInt32, _ state: State) -> Bool {
        state.takenByUser[user, default: 0] < places.ofUser
    }

    private func take(_ program: ServedProgram, _ state: inout State) {
        state.taken += 1
        state.takenByUser[program.user, default: 0] += 1
        state.takenByProgram[program, default: 0] += 1
    }

    private func giveBack(_ program: ServedProgram, _ state: inout State) {
        state.taken -= 1
        // Only those that have a place are kept, however many programs come and go.
        Self.count(down: program.user, in: &state.takenByUser)
        Self.count(down: program, in: &state.takenByProgram)
    }

    private static func count<Key>(down key: Key, in counts: inout [Key: Int]) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }

    private func line(up program: ServedProgram, _ state: inout State) -> Waiter {
        let waiter = Waiter()
        isAwaited.store(true, ordering: .relaxed)
        guard let user = state.waiting.firstIndex(where: { $0.user == program.user }) else {
            state.waiting.append(
                WaitingUser(user: program.user, programs: [WaitingProgram(program: program, waiters: [waiter])]))
            return waiter
        }
        if let own = state.waiting[user].programs.firstIndex(where: { $0.program == program }) {
            state.waiting[user].programs[own].waiters.append(waiter)
        } else {
            state.waiting[user].programs.append(WaitingProgram(program: program, waiters: [waiter]))
        }
        return waiter
    }

    /// Gives the free places to those who are next.
    private func callNext(_ state: inout State) {
        while state.taken < places.all, let waiter = popNext(&state) { waiter.isNext.signal() }
        if state.waiting.isEmpty { isAwaited.store(false, ordering: .relaxed) }
    }

    /// Takes a place for the next one who may have it; user and program then go behind the others.
    private func popNext(_ state: inout State) -> Waiter? {
        for userIndex in state.waiting.indices where hasPlace(for: state.waiting[userIndex].user, state) {
            let programs = state.waiting[userIndex].programs
            guard
                let index = programs.firstIndex(where: {
                    state.takenByProgram[$0.program, default: 0] < places.ofProgram
                })
            else { continue }
            var user = state.waiting.remove(at: userIndex)
            var line = user.programs.remove(at: index)
            let waiter = line.waiters.removeFirst()
            take(line.program, &state)
            if !line.waiters.isEmpty { user.programs.append(line) }
            if !user.programs.isEmpty { state.waiting.append(user) }
            return waiter
        }
        return nil
    }
}
