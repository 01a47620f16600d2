import Access
import Foundation
import KeychainModel
import Synchronization

/// A person in front of the machine who does what a test says.
package final class PersonUnderTest: Authenticator {
    private struct State {
        var answer: AuthenticationOutcome?
        var enrolment: Data? = Data("one finger".utf8)
        var requests: [AuthenticationRequest] = []
        var canceled: Set<UUID> = []
        var isSlow = false
    }

    private let state = Mutex(State())
    /// Signalled when the person is asked.
    package let asked = DispatchSemaphore(value: 0)
    private let canceling = DispatchSemaphore(value: 0)

    package init() {}

    /// The questions so far.
    package var requests: [AuthenticationRequest] { state.withLock { $0.requests } }

    /// Sets the outcome of every prompt; nil for success with exactly the requested proofs.
    package func willAnswer(_ answer: AuthenticationOutcome?) {
        state.withLock { $0.answer = answer }
    }

    /// Makes prompts wait until they are cancelled.
    package func willNotAnswer() {
        state.withLock { $0.isSlow = true }
    }

    /// The enrolled fingers; nil if nobody is enrolled.
    package var enrolment: Data? {
        get { state.withLock { $0.enrolment } }
        set { state.withLock { $0.enrolment = newValue } }
    }

    package func evaluate(
        _ request: AuthenticationRequest, verifier: any PasscodeVerifier
    ) -> AuthenticationOutcome {
        let (answer, isSlow) = state.withLock { state in
            state.requests.append(request)
            return (state.answer, state.isSlow)
        }
        asked.signal()
        if isSlow {
            canceling.wait()
            return .failed(.appCancel)
        }
        if let answer { return answer }
        var proofs: PresenceProofs = []
        for alternative in request.flags.presenceAlternatives {
            proofs.insert(alternative.contains(.passcode) ? .passcode : alternative)
        }
        return .succeeded(proofs)
    }

    package func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
        let enrolment = enrolment
        return PresenceAvailability(
            biometryKind: .fingerprint, biometryFailure: enrolment == nil ? .biometryNotEnrolled : nil,
            biometryState: enrolment, isPasscodeSet: true, passcodeFailure: nil)
    }

    package func cancel(_ context: ClientContext) {
        let isNew = state.withLock { $0.canceled.insert(context.context).inserted }
        if isNew { canceling.signal() }
    }
}
