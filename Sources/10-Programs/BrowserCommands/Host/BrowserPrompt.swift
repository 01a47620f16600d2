import Access
import Dispatch
import Presence

/// Asks in a dialog of pinentry: who uses a browser is at its display, not at the terminal that it may have been
/// started from. Questions go away when the browser does.
final class BrowserPrompt: PasscodePrompt {
    /// How long a person has to answer.
    private static let time = Duration.seconds(120)

    private let base = PinentryPrompt()
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

    /// Returns whether a person agrees; nil if nobody answered, or if there is no display to ask on.
    ///
    /// - Parameter button: What the button says that agrees.
    func isAgreed(_ question: String, button: String) -> Bool? {
        guard isAvailable else { return nil }
        return asking(Cancellation()) {
            base.confirm(question, button: button, until: .now + Self.time, cancellation: $0)
        }
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
