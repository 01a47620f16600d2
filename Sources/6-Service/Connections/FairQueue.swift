import Access
import CLibrary
import Dispatch
import Synchronization

/// A number of places that programs share, and for which their threads wait in a ``FairLine``.
package final class FairQueue: Sendable {
    package typealias Places = FairLine<Waiter>.Places

    package final class Waiter: Sendable {
        fileprivate let isNext = DispatchSemaphore(value: 0)
    }

    private let line: UnfairMutex<FairLine<Waiter>>
    /// Whether somebody waits: for those who give way, who ask often.
    private let isAwaited = Atomic(false)

    package init(_ places: Places) {
        line = UnfairMutex(FairLine(places))
    }

    /// How many wait for a place.
    package var waiting: Int { line.withLock(\.count) }

    /// Takes a place; waits for it if there is none.
    ///
    /// - Parameters:
    ///   - isWanted: Asked now and then while there is none.
    ///   - waiting: Calls its argument, which waits.
    /// - Returns: False, and no place was taken, if the place is not wanted any more.
    @discardableResult
    package func enter(
        _ program: ServedProgram, while isWanted: () -> Bool = { true }, waiting: @escaping Waiting = { $0() }
    ) -> Bool {
        let waiter: Waiter? = line.withLock { line in
            if line.hasPlace(for: program) {
                line.take(program)
                return nil
            }
            return lineUp(program, &line)
        }
        return waiter.map { wait($0, of: program, while: isWanted, waiting) } ?? true
    }

    package typealias Waiting = (() -> Void) -> Void

    /// Gives a place back.
    package func leave(_ program: ServedProgram) {
        line.withLock { line in
            line.giveBack(program)
            callNext(&line)
        }
    }

    /// Gives a place back and takes one again, behind those who wait.
    ///
    /// - Returns: False, and the place was given back, if it is not wanted any more.
    @discardableResult
    package func giveWay(
        _ program: ServedProgram, while isWanted: () -> Bool = { true }, waiting: @escaping Waiting = { $0() }
    ) -> Bool {
        guard isAwaited.load(ordering: .relaxed) else { return true }
        let waiter = line.withLock { line in
            line.giveBack(program)
            let waiter = lineUp(program, &line)
            callNext(&line)
            return waiter
        }
        return wait(waiter, of: program, while: isWanted, waiting)
    }

    /// Those who are gone must not stand in the line: their threads take memory.
    private func wait(
        _ waiter: Waiter, of program: ServedProgram, while isWanted: () -> Bool, _ waiting: @escaping Waiting
    ) -> Bool {
        // Its place may have come already.
        if waiter.isNext.wait(timeout: .now()) == .success { return true }
        var hasCome = true
        waiting { hasCome = wait(waiter, of: program, while: isWanted) }
        return hasCome
    }

    private func wait(_ waiter: Waiter, of program: ServedProgram, while isWanted: () -> Bool) -> Bool {
        while waiter.isNext.wait(timeout: .now() + Self.patience) == .timedOut {
            guard !isWanted() else { continue }
            if line.withLock({ $0.remove(of: program) { $0 === waiter } }) { return false }
            // Its place has just come.
            waiter.isNext.wait()
            return true
        }
        return true
    }

    /// How often those who wait are asked whether they want to.
    private static let patience = DispatchTimeInterval.milliseconds(20)

    private func lineUp(_ program: ServedProgram, _ line: inout FairLine<Waiter>) -> Waiter {
        let waiter = Waiter()
        isAwaited.store(true, ordering: .relaxed)
        line.append(waiter, of: program)
        return waiter
    }

    /// Gives the free places to those who are next.
    private func callNext(_ line: inout FairLine<Waiter>) {
        while let waiter = line.popNext() { waiter.isNext.signal() }
        if line.isEmpty { isAwaited.store(false, ordering: .relaxed) }
    }
}
