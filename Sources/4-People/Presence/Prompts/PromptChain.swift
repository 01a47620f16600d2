import Access

/// Asks with the first of several prompts that is available at the time of the question.
package struct PromptChain: PasscodePrompt {
    private let prompts: [any PasscodePrompt]

    package init(_ prompts: [any PasscodePrompt]) { self.prompts = prompts }

    /// The prompts of a program that configures none: the pinentry that the environment names, then the terminal, then
    /// pinentry.
    package static var standard: PromptChain {
        let chosen: [any PasscodePrompt] = PinentryPrompt.chosen.map { [$0] } ?? []
        return PromptChain(chosen + [TerminalPrompt(), PinentryPrompt()])
    }

    private var first: (any PasscodePrompt)? { prompts.first { $0.isAvailable } }

    package var isAvailable: Bool { first != nil }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        var remedy = "there is no terminal or display to ask for the passcode on"
        for prompt in prompts where prompt.isAvailable {
            // If a prompt does not work, the next one asks.
            let answer = prompt.ask(question, until: deadline, cancellation: cancellation)
            guard case .unavailable(let reason) = answer else { return answer }
            remedy = reason
        }
        return .unavailable(remedy: remedy)
    }

    package func show(_ message: String) { first?.show(message) }

    package func hold(
        _ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> Bool {
        first?.hold(message, until: deadline, cancellation: cancellation) ?? false
    }
}
