import Access
import KeychainModel

/// A prompt in the words that the program has for its parts.
struct TitledPrompt: PasscodePrompt {
    private let prompt: any PasscodePrompt
    private let titles: PromptTitles

    init(_ prompt: any PasscodePrompt, _ titles: PromptTitles) {
        self.prompt = prompt
        self.titles = titles
    }

    var isAvailable: Bool { prompt.isAvailable }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        prompt.ask(titled(question), until: deadline)
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        prompt.ask(titled(question), until: deadline, cancellation: cancellation)
    }

    func show(_ message: String) { prompt.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        prompt.hold(message, until: deadline, cancellation: cancellation)
    }

    private func titled(_ question: PasscodeQuestion) -> PasscodeQuestion {
        var question = question
        question.titles = titles
        return question
    }
}
