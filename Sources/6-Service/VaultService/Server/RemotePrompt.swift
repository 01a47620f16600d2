import Access

/// The prompt of a vault that is served. It asks the person in front of the client.
///
/// Which client is meant follows from the call that is being served on the present thread.
package struct RemotePrompt: PasscodePrompt {
    package init() {}

    /// The connection whose request is being served.
    @TaskLocal static var connection: (any QuestionChannel)?

    package var isAvailable: Bool { Self.connection?.canAsk ?? false }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        guard let connection = Self.connection, connection.canAsk else {
            return .unavailable(remedy: "the program has no way to ask; run `keychain unlock` on a terminal")
        }
        return connection.ask(question, until: deadline, cancellation: cancellation)
    }

    package func show(_ message: String) {
        if let connection = Self.connection, connection.canAsk { connection.show(message) }
    }
}

/// A way to ask a client a question in the middle of its request.
protocol QuestionChannel: Sendable {
    var canAsk: Bool { get }
    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer
    func show(_ message: String)
}
