import CommandKit
import Synchronization
import SystemLibraries

/// Reads the vault on a thread of its own, so that keys are heard while a long list is read.
final class ScreenReader: Sendable {
    typealias Outcome = Result<ScreenContents, Failure>

    private struct State {
        var isReading = false
        /// Whether to read again after what is being read.
        var isAsked = false
        var hasRead = false
        var outcomes: [Outcome] = []
    }

    private let vault: ScreenVault
    private let signals: ScreenSignals
    private let state = Mutex(State())

    init(_ vault: ScreenVault, _ signals: ScreenSignals) { (self.vault, self.signals) = (vault, signals) }

    /// Begins to read, or has it done again after what is being read.
    func start() {
        let isNew = state.withLock { state in
            defer { state.isReading = true }
            state.isAsked = state.isReading
            return !state.isReading
        }
        guard isNew else { return }
        if !DetachedThread.start("screen list", { self.read() }) { read() }
    }

    /// Returns what was read since the last call.
    func take() -> [Outcome] {
        state.withLock { state in
            defer { state.outcomes = [] }
            return state.outcomes
        }
    }

    private func read() {
        while true {
            do {
                let contents = try vault.contents { first in
                    // Later, the list of before is better than the beginning of the new one.
                    if state.withLock({ !$0.hasRead }) { add(.success(first)) }
                }
                add(.success(contents))
            } catch {
                let failure = Failure(reporting: error) ?? .usage("the vault cannot be read: start this again")
                add(.failure(failure))
            }
            let isOver = state.withLock { state in
                defer { state.isAsked = false }
                state.hasRead = true
                state.isReading = state.isAsked
                return !state.isAsked
            }
            if isOver { return }
        }
    }

    private func add(_ outcome: Outcome) {
        state.withLock { $0.outcomes.append(outcome) }
        signals.wake()
    }
}
