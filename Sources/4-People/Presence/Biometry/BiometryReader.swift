import Access
import FoundationEssentials

/// What recognises an enrolled finger or face.
package protocol BiometryReader: Sendable {
    /// What there is; asks nobody and answers within seconds.
    func availability() -> BiometryAvailability

    /// Waits for one attempt of a person.
    func recognize(until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> BiometryAnswer
}

package struct BiometryAvailability: Sendable, Equatable {
    package var kind: PresenceAvailability.BiometryKind
    /// Why it cannot be used now; nil when it can.
    package var failure: AuthenticationFailure?
    /// Changes with the enrolment; nil where nothing is enrolled.
    package var state: Data?

    package init(kind: PresenceAvailability.BiometryKind, failure: AuthenticationFailure?, state: Data?) {
        self.kind = kind
        self.failure = failure
        self.state = state
    }
}

/// How an attempt ended.
package enum BiometryAnswer: Sendable, Equatable {
    case recognized
    /// It was somebody or something else.
    case missed
    case canceled
    case timedOut
    case failed(AuthenticationFailure)
}
