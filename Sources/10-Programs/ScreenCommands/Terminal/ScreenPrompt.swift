import Access
import Bytes
import CommandKit
import Presence
import StatusCodes

/// Asks a person on the terminal as it is without the screen, which comes back after the operation.
final class ScreenPrompt: PasscodePrompt {
    private let screen: TerminalScreen

    init(_ screen: TerminalScreen) { self.screen = screen }

    var isAvailable: Bool { StandardPrompt().isAvailable }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        screen.leave()
        return ScreenSignals.asking(cancellation.descriptor) {
            StandardPrompt().ask(question, until: deadline, cancellation: cancellation)
        }
    }

    func show(_ message: String) {
        screen.leave()
        StandardPrompt().show(message)
    }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        screen.leave()
        return ScreenSignals.asking(cancellation.descriptor) {
            StandardPrompt().hold(message, until: deadline, cancellation: cancellation)
        }
    }

    /// Asks for the password that an item has of its own.
    func askForItemPassword() throws -> SecretBytes {
        screen.leave()
        let cancellation = Cancellation()
        guard let terminal = Terminal() else { throw Failure.itemPasswordMissing }
        let answer: Result<[SecretBytes], TerminalError> = ScreenSignals.asking(cancellation.descriptor) {
            do throws(TerminalError) {
                return .success(
                    try terminal.ask(
                        ["The item's own password: "], echoing: false, until: .now + .seconds(120),
                        cancellation: cancellation))
            } catch {
                return .failure(error)
            }
        }
        guard case .success(let secrets) = answer, let secret = secrets.first else {
            throw Failure(status: errSecUserCanceled, "canceled at the prompt")
        }
        return secret
    }
}
