import Access
import Bytes
import KeychainModel
import SystemLibraries

/// One run through the steps of a plan with a person.
struct Asking {
    private let authenticator: PersonAuthenticator
    private let request: AuthenticationRequest
    private let checker: any PasscodeVerifier
    private let deadline: ContinuousClock.Instant
    private let cancellation: Cancellation

    init(
        _ authenticator: PersonAuthenticator, _ request: AuthenticationRequest, _ checker: any PasscodeVerifier,
        deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) {
        self.authenticator = authenticator
        self.request = request
        self.checker = checker
        self.deadline = deadline
        self.cancellation = cancellation
    }

    mutating func run(_ plan: PresencePlan) -> AuthenticationOutcome {
        var proofs: PresenceProofs = []
        for step in plan.steps where step.isDisjoint(with: proofs) {
            let answer =
                switch step {
                case .passcode: askPasscode(cancellation, orFinger: false)
                case .biometry: askFingerAlone()
                default: askEither()
                }
            switch answer {
            case .success(let proof): proofs.formUnion(proof)
            case .failure(let failure): return .failed(cancellation.isCanceled ? .appCancel : failure)
            }
        }
        return .succeeded(proofs)
    }

    private typealias Answer = Result<PresenceProofs, AuthenticationFailure>

    /// The text of the question. It begins with the client's identifier, which the program does not choose.
    private var reason: String {
        guard let prompt = request.prompt, !prompt.isEmpty else {
            return "\(request.client.identifier) wants to use your keychain."
        }
        return "\(request.client.identifier): \(prompt)"
    }

    /// Asks for the passcode until it is right, the person gives up, or the attempts are used up.
    private func askPasscode(_ cancellation: Cancellation, orFinger: Bool) -> Answer {
        let prompt = authenticator.prompt
        var question = PasscodeQuestion(
            purpose: .presence, reason: orFinger ? reason + "\nOr touch the fingerprint reader." : reason,
            titles: request.titles)
        for attempt in 1...PersonAuthenticator.passcodeAttempts {
            switch prompt.ask(question, until: deadline, cancellation: cancellation) {
            case .canceled: return .failure(.userCancel)
            case .timedOut: return .failure(.systemCancel)
            // A prompt that has only one answer, which was wrong.
            case .unavailable: return .failure(attempt == 1 ? .notInteractive : .authenticationFailed)
            case .passcode(let passcode):
                switch checker.verify(passcode) {
                case .correct:
                    authenticator.passcodeWasGiven()
                    return .success(.passcode)
                case .wrong(let wait) where wait <= .zero:
                    question.complaint = "The passcode is wrong."
                case .wrong(let wait):
                    prompt.show("The passcode is wrong. The next can be given in \(wait.words).")
                    return .failure(.authenticationFailed)
                case .delayed(let wait):
                    prompt.show("Too many wrong passcodes were given. The next can be given in \(wait.words).")
                    return .failure(.authenticationFailed)
                case .erased:
                    prompt.show("Too many wrong passcodes were given: the keychain was erased.")
                    return .failure(.authenticationFailed)
                case .notSet: return .failure(.passcodeNotSet)
                case .failed(let reason):
                    prompt.show("The passcode could not be checked: \(reason).")
                    return .failure(.systemCancel)
                }
            }
        }
        return .failure(.authenticationFailed)
    }

    /// Waits until a finger is recognised, the question is cancelled, or too many fingers were not recognised.
    ///
    /// - Parameter missed: Called for each finger that was not recognised.
    private func awaitFinger(_ cancellation: Cancellation, missed: () -> Void = {}) -> Answer {
        guard let reader = authenticator.biometry else { return .failure(.biometryNotAvailable) }
        while authenticator.allowance.lockout == nil {
            switch reader.recognize(until: deadline, cancellation: cancellation) {
            case .recognized:
                // Another process may have counted misses in the meantime.
                guard authenticator.allowance.lockout == nil else { return .failure(.biometryLockout) }
                authenticator.allowance.wasRecognized()
                return .success(.biometry)
            case .missed:
                authenticator.allowance.wasMissed()
                missed()
            case .canceled: return .failure(.userCancel)
            case .timedOut: return .failure(.systemCancel)
            case .failed(let failure): return .failure(failure)
            }
        }
        return .failure(.biometryLockout)
    }

    /// Asks for a finger only. The person can cancel.
    private func askFingerAlone() -> Answer {
        let (showing, touching) = (Cancellation(), Cancellation())
        let finger = Handoff<Answer>()
        return cancellation.withHandler({
            showing.cancel()
            touching.cancel()
        }) {
            let hasStarted = DetachedThread.start("fingerprint") { [self] in
                let answer = awaitFinger(touching) {
                    authenticator.prompt.show("The finger was not recognised. Try again.")
                }
                finger.put(answer)
                showing.cancel()
            }
            guard hasStarted else { return .failure(.systemCancel) }
            let message = reason + "\nTouch the fingerprint reader."
            if authenticator.prompt.hold(message, until: deadline, cancellation: showing) { touching.cancel() }
            return finger.wait(until: limit) ?? .failure(.systemCancel)
        }
    }

    /// The reader stops within the timeout of a few calls to its service.
    private var limit: ContinuousClock.Instant { max(deadline, .now) + .seconds(20) }

    /// Asks for both at the same time. The first right answer cancels the other question.
    private func askEither() -> Answer {
        let (typing, touching) = (Cancellation(), Cancellation())
        let finger = Handoff<Answer>()
        return cancellation.withHandler({
            typing.cancel()
            touching.cancel()
        }) {
            let hasStarted = DetachedThread.start("fingerprint") { [self] in
                let answer = awaitFinger(touching)
                // Only a recognised finger closes the prompt. Otherwise the passcode can still be given.
                if case .success = answer { typing.cancel() }
                finger.put(answer)
            }
            if !hasStarted { finger.put(.failure(.systemCancel)) }
            let typed = askPasscode(typing, orFinger: true)
            // Without a working prompt, the finger can still be used.
            if typed != .failure(.notInteractive) { touching.cancel() }
            let touched = finger.wait(until: limit)
            switch (typed, touched) {
            case (.success(let first), .success(let second)): return .success(first.union(second))
            case (_, .success(let proof)): return .success(proof)
            case (.failure(.notInteractive), .some(let answer)): return answer
            default: return typed
            }
        }
    }
}

extension Duration {
    /// The duration in words for a person, rounded up.
    fileprivate var words: String {
        let seconds = Int(clamping: (self / .seconds(1)).rounded(.up))
        return switch seconds {
        case 1: "1 second"
        case ..<120: "\(seconds) seconds"
        case ..<7_200: "\((seconds + 59) / 60) minutes"
        default: "\((seconds + 3_599) / 3_600) hours"
        }
    }
}
