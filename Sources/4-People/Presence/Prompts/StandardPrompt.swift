import Access

/// The prompt of ``PromptChain/standard``, looked up at the time of each question. The available prompts may change,
/// and looking them up takes longer than a request to a vault.
package struct StandardPrompt: PasscodePrompt {
    package init() {}

    package var isAvailable: Bool { PromptChain.standard.isAvailable }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        PromptChain.standard.ask(question, until: deadline)
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        PromptChain.standard.ask(question, until: deadline, cancellation: cancellation)
    }

    package func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        PromptChain.standard.hold(message, until: deadline, cancellation: cancellation)
    }

    package func show(_ message: String) { PromptChain.standard.show(message) }
}
