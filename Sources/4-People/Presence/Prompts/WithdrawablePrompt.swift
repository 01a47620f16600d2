import Access
import Dispatch

/// Asks as another prompt does, and takes all its questions away when its program ends, so that no terminal is left
/// without its echo and no dialog stays.
package final class WithdrawablePrompt<Base: PasscodePrompt>: PasscodePrompt {
    private let base: Base
    private let end = Cancellation()
    /// The questions that are being asked.
    private let asked = DispatchGroup()

    package init(_ base: Base) { self.base = base }

    package var isAvailable: Bool { !end.isCanceled && base.isAvailable }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        asking(cancellation) { $0.ask(question, until: deadline, cancellation: $1) }
    }

    package func show(_ message: String) { base.show(message) }

    package func hold(
        _ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> Bool {
        asking(cancellation) { $0.hold(message, until: deadline, cancellation: $1) }
    }

    /// Runs `body`, which asks with the other prompt until the given cancellation.
    package func asking<Result>(
        _ cancellation: Cancellation = Cancellation(), _ body: (Base, Cancellation) -> Result
    ) -> Result {
        asked.enter()
        defer { asked.leave() }
        let either = Cancellation()
        return cancellation.withHandler({ either.cancel() }) {
            end.withHandler({ either.cancel() }) { body(base, either) }
        }
    }

    /// Takes the questions away that are being asked, and waits up to 2 seconds until they are gone.
    package func takeBack() {
        end.cancel()
        _ = asked.wait(timeout: .now() + 2)
    }
}
