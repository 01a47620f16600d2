import Access

/// Asks for the passcode at the terminal, without echo.
package struct TerminalPrompt: PasscodePrompt {
    package init() {}

    package var isAvailable: Bool {
        guard let terminal = Terminal() else { return false }
        return terminal.isForeground
    }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        guard let terminal = Terminal() else {
            return .unavailable(remedy: "there is no terminal to ask on: run the program at one")
        }
        var complaint = question.complaint
        while true {
            let lead = PromptText.safe([complaint, question.reason].compactMap { $0 }.joined(separator: "\n"))
            let prompts =
                question.purpose == .new
                ? [lead + "\nNew passcode: ", "New passcode again: "]
                : [lead + "\n" + PromptText.label(question.titles, else: "Passcode:") + " "]
            do throws(TerminalError) {
                let typed = try terminal.ask(prompts, echoing: false, until: deadline, cancellation: cancellation)
                if let first = typed.first, let last = typed.last, first == last {
                    return .passcode(first)
                }
                complaint = PromptText.differ
            } catch {
                switch error {
                case .canceled: return .canceled
                case .timedOut: return .timedOut
                case .tooLong(let limit): complaint = "A passcode typed at a terminal has at most \(limit) bytes."
                case .unusable(let reason): return .unavailable(remedy: "the terminal does not work (\(reason))")
                }
            }
        }
    }

    package func show(_ message: String) {
        guard let terminal = Terminal(), terminal.isForeground else { return }
        // If this fails, there is no other place to tell the person.
        try? terminal.show(PromptText.safe(message))
    }
}
