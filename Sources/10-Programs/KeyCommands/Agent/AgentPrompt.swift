import Access
import CommandKit
import Dispatch
import Presence

/// Asks as every command does, and cancels its questions when the agent ends, so that no terminal is left without its
/// echo.
final class AgentPrompt: PasscodePrompt {
    private let base = StandardPrompt()
    private let end = Cancellation()
    /// The questions that are being asked.
    private let asked = DispatchGroup()

    var isAvailable: Bool { !end.isCanceled && base.isAvailable }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        asking(cancellation) { base.ask(question, until: deadline, cancellation: $0) }
    }

    func show(_ message: String) { base.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        asking(cancellation) { base.hold(message, until: deadline, cancellation: $0) }
    }

    private func asking<Result>(_ cancellation: Cancellation, _ body: (Cancellation) -> Result) -> Result {
        asked.enter()
        defer { asked.leave() }
        let either = Cancellation()
        return cancellation.withHandler({ either.cancel() }) {
            end.withHandler({ either.cancel() }) { body(either) }
        }
    }

    /// Cancels the questions that are being asked, and waits until they are gone.
    func takeBack() {
        end.cancel()
        _ = asked.wait(timeout: .now() + 2)
    }
}
