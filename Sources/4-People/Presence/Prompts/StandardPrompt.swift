import Access

/// ``PromptChain/standard``, looked for when a question comes and not before: where a prompt can be shown may
/// change, and to find out takes longer than a request to a vault.
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
