import Access
import Foundation
import Presence
import Synchronization

/// Asks as every command does, but takes its questions back when the agent ends, so that no terminal is left without
/// its echo.
final class AgentPrompt: PasscodePrompt {
    private let base = StandardPrompt()
    private let end = Cancellation()
    private let count = AskingCount()

    var isAvailable: Bool { !end.isCanceled && base.isAvailable }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> Access.PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> Access.PasscodeAnswer {
        asking(cancellation) { base.ask(question, until: deadline, cancellation: $0) }
    }

    func show(_ message: String) { base.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        asking(cancellation) { base.hold(message, until: deadline, cancellation: $0) }
    }

    private func asking<Result>(_ cancellation: Cancellation, _ body: (Cancellation) -> Result) -> Result {
        count.enter()
        defer { count.leave() }
        let either = Cancellation()
        return cancellation.withHandler({ either.cancel() }) {
            end.withHandler({ either.cancel() }) { body(either) }
        }
    }

    /// Takes back what is asked, and waits for it to be gone.
    func takeBack() {
        end.cancel()
        count.waitForNone(until: Date(timeIntervalSinceNow: 2))
    }
}

/// How many questions are being asked.
private final class AskingCount: Sendable {
    private let count = Mutex(0)
    private let condition = NSCondition()

    func enter() { count.withLock { $0 += 1 } }

    func leave() {
        condition.lock()
        count.withLock { $0 -= 1 }
        condition.broadcast()
        condition.unlock()
    }

    func waitForNone(until deadline: Date) {
        condition.lock()
        while count.withLock({ $0 }) > 0, condition.wait(until: deadline) {}
        condition.unlock()
    }
}
