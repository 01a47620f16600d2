import Access
import KeychainModel
import Synchronization

/// Asks a person for the passcode, for a finger, or for both and takes the first answer.
///
/// No question lasts longer than its deadline. Without a way to ask, the answer comes at once.
package final class PersonAuthenticator: Authenticator {
    /// The number of tries for the passcode within one question.
    static let passcodeAttempts = 3

    let prompt: any PasscodePrompt
    let biometry: (any BiometryReader)?
    let allowance: BiometryAllowance
    private let timeout: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let questions = Mutex<[ClientContext: [Cancellation]]>([:])

    /// - Parameters:
    ///   - prompt: Asks for the passcode.
    ///   - biometry: Nil on a machine without a reader.
    ///   - allowance: Decides whether a fingerprint alone is enough.
    ///   - timeout: The time that a person has to answer.
    package init(
        prompt: any PasscodePrompt, biometry: (any BiometryReader)? = nil,
        allowance: BiometryAllowance = BiometryAllowance(),
        timeout: Duration = .seconds(120), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.prompt = prompt
        self.biometry = biometry
        self.allowance = allowance
        self.timeout = timeout
        self.now = now
    }

    /// Returns the authenticator of a program that configures none: the terminal or pinentry, and fprintd's reader.
    ///
    /// - Parameter folder: A separate folder where programs that share a vault remember whether fingerprints count; nil
    ///   to remember it in this process.
    package static func standard(rememberingIn folder: String? = nil) -> PersonAuthenticator {
        PersonAuthenticator(
            prompt: PromptChain.standard, biometry: FingerprintReader(),
            allowance: folder.map { BiometryAllowance(folder: $0) } ?? BiometryAllowance())
    }

    package func evaluate(
        _ request: AuthenticationRequest, verifier: any PasscodeVerifier
    ) -> AuthenticationOutcome {
        let cancellation = Cancellation()
        let context = request.context.map { ClientContext($0, of: request.client) }
        register(cancellation, for: context)
        defer { forget(cancellation, for: context) }
        switch PresencePlan.make(for: request.flags, with: means(verifier, flags: request.flags)) {
        case .failure(let failure): return .failed(failure)
        case .success(let plan):
            var asking = Asking(
                self, request, verifier, deadline: now() + timeout, cancellation: cancellation)
            return asking.run(plan)
        }
    }

    package func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
        let reader = biometry?.availability()
        return PresenceAvailability(
            biometryKind: reader?.kind ?? .none, biometryFailure: biometryFailure(reader, verifier),
            biometryState: reader?.state, isPasscodeSet: verifier.isPasscodeSet,
            passcodeFailure: passcodeFailure(verifier))
    }

    package func cancel(_ context: ClientContext) {
        for question in questions.withLock({ $0[context] ?? [] }) { question.cancel() }
    }

    package func passcodeWasGiven() { allowance.passcodeWasGiven() }

    private func means(_ verifier: any PasscodeVerifier, flags: AccessControl.Flags) -> PresenceMeans {
        // Looks for the reader only if a finger would help, because finding it starts a service.
        let asksBiometry = flags.presenceAlternatives.contains { $0.contains(.biometry) }
        let reader = asksBiometry ? biometry?.availability() : nil
        return PresenceMeans(
            passcodeFailure: passcodeFailure(verifier), biometryFailure: biometryFailure(reader, verifier))
    }

    private func passcodeFailure(_ verifier: any PasscodeVerifier) -> AuthenticationFailure? {
        guard verifier.isPasscodeSet else { return .passcodeNotSet }
        return verifier.takesAnswers && prompt.isAvailable ? nil : .notInteractive
    }

    private func biometryFailure(
        _ reader: BiometryAvailability?, _ verifier: any PasscodeVerifier
    ) -> AuthenticationFailure? {
        guard let reader, reader.kind != .none else { return reader?.failure ?? .biometryNotAvailable }
        // Without a passcode, a fingerprint has nothing to replace.
        guard verifier.isPasscodeSet else { return .passcodeNotSet }
        if let failure = reader.failure { return failure }
        return allowance.lockout == nil ? nil : .biometryLockout
    }

    private func register(_ cancellation: Cancellation, for context: ClientContext?) {
        guard let context else { return }
        questions.withLock { $0[context, default: []].append(cancellation) }
    }

    private func forget(_ cancellation: Cancellation, for context: ClientContext?) {
        guard let context else { return }
        questions.withLock { questions in
            questions[context]?.removeAll { $0 === cancellation }
            if questions[context]?.isEmpty == true { questions[context] = nil }
        }
    }
}
