import Access
import FoundationEssentials

/// A reader that recognises an enrolled finger or face.
package protocol BiometryReader: Sendable {
    /// Returns the state of the reader within seconds. Asks no person.
    func availability() -> BiometryAvailability

    /// Waits for one attempt of a person.
    func recognize(until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> BiometryAnswer
}

package struct BiometryAvailability: Sendable, Equatable {
    package var kind: PresenceAvailability.BiometryKind
    /// The reason why it cannot be used now; nil if it can.
    package var failure: AuthenticationFailure?
    /// Changes with the enrolment; nil if nothing is enrolled.
    package var state: Data?

    package init(kind: PresenceAvailability.BiometryKind, failure: AuthenticationFailure?, state: Data?) {
        self.kind = kind
        self.failure = failure
        self.state = state
    }
}

/// The end of an attempt.
package enum BiometryAnswer: Sendable, Equatable {
    case recognized
    /// The finger or face was not recognised.
    case missed
    case canceled
    case timedOut
    case failed(AuthenticationFailure)
}
