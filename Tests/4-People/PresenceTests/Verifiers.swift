import Access
import Bytes
import Glibc
import KeychainModel
import Presence
import Synchronization
import TestSupport

/// A vault's answers to passcodes: `1234` is right.
final class KnownPasscode: PasscodeVerifier {
    private let verdicts: Mutex<[PasscodeVerdict]>
    let isPasscodeSet: Bool
    private let count = Atomic(0)

    /// - Parameter verdicts: On wrong ones in turn; wrong without a wait after that.
    init(_ verdicts: [PasscodeVerdict] = [], isPasscodeSet: Bool = true) {
        self.verdicts = Mutex(verdicts)
        self.isPasscodeSet = isPasscodeSet
    }

    var attempts: Int { count.load(ordering: .relaxed) }

    func verify(_ passcode: SecretBytes) -> PasscodeVerdict {
        count.add(1, ordering: .relaxed)
        if passcode.withUnsafeBytes({ $0.elementsEqual("1234".utf8) }) { return .correct }
        return verdicts.withLock { $0.isEmpty ? .wrong(wait: .zero) : $0.removeFirst() }
    }
}

/// A prompt whose answers are known before.
final class ScriptedPrompt: PasscodePrompt {
    private struct State {
        var answers: [PasscodeAnswer]
        var questions: [PasscodeQuestion] = []
        var shown: [String] = []
    }

    private let state: Mutex<State>
    let isAvailable: Bool
    /// Told when a question is asked.
    private let asked: @Sendable () -> Void

    /// - Parameter answers: In turn; a person who does not answer after that.
    init(
        _ answers: [PasscodeAnswer] = [], isAvailable: Bool = true, asked: @escaping @Sendable () -> Void = {}
    ) {
        state = Mutex(State(answers: answers))
        self.isAvailable = isAvailable
        self.asked = asked
    }

    convenience init(typing first: String, _ others: String...) throws {
        self.init(try ([first] + others).map { .passcode(try SecretBytes($0)) })
    }

    var questions: [PasscodeQuestion] { state.withLock { $0.questions } }
    var shown: [String] { state.withLock { $0.shown } }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        let answer = state.withLock { state -> PasscodeAnswer? in
            state.questions.append(question)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        asked()
        if let answer { return answer }
        return waitInVain(until: deadline, cancellation) ? .canceled : .timedOut
    }

    func show(_ message: String) {
        state.withLock { $0.shown.append(message) }
    }
}

/// A reader whose answers are known before.
final class ScriptedReader: BiometryReader {
    private let answers: Mutex<[BiometryAnswer]>
    private let answered = Collected<BiometryAnswer>()
    private let available: BiometryAvailability

    /// - Parameter answers: In turn; a reader that nobody touches after that.
    init(_ answers: [BiometryAnswer] = [], failure: AuthenticationFailure? = nil) {
        self.answers = Mutex(answers)
        available = BiometryAvailability(kind: .fingerprint, failure: failure, state: nil)
    }

    /// The answers so far.
    var given: [BiometryAnswer] { answered.all }

    func availability() -> BiometryAvailability { available }

    func recognize(until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> BiometryAnswer {
        let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        let answer = next ?? (waitInVain(until: deadline, cancellation) ? .canceled : .timedOut)
        answered.append(answer)
        return answer
    }
}

/// - Returns: Whether it was taken back.
private func waitInVain(until deadline: ContinuousClock.Instant, _ cancellation: Cancellation) -> Bool {
    var entry = pollfd(fd: cancellation.descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
    return poll(&entry, 1, Int32(clamping: max(0, left))) > 0
}
