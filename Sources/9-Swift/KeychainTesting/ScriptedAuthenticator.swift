import Access
import Foundation
import KeychainModel
import Synchronization

/// Answers for the person in front of the device.
final class ScriptedAuthenticator: Authenticator {
    private struct State {
        var script = TestAuthentication.succeeds
        var biometry = TestBiometry.enrolled
        var isPasscodeSet = true
        var prompts: [String?] = []
        var hasSucceededOnce = false
        /// Counts the changes of the enrolment.
        var enrolment: UInt8 = 1

        /// Nil when nobody is enrolled.
        var enrolledState: Data? {
            switch biometry {
            case .enrolled, .lockout: Data([enrolment])
            case .notEnrolled, .unavailable: nil
            }
        }
    }

    private let state = Mutex(State())

    var script: TestAuthentication {
        get { state.withLock { $0.script } }
        set {
            state.withLock {
                $0.script = newValue
                $0.hasSucceededOnce = false
            }
        }
    }

    var biometry: TestBiometry {
        get { state.withLock { $0.biometry } }
        set { state.withLock { $0.biometry = newValue } }
    }

    /// Enrols another finger.
    func changeBiometry() {
        state.withLock { $0.enrolment &+= 1 }
    }

    var isPasscodeSet: Bool {
        get { state.withLock { $0.isPasscodeSet } }
        set { state.withLock { $0.isPasscodeSet = newValue } }
    }

    var prompts: [String?] { state.withLock { $0.prompts } }

    func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
        state.withLock { state in
            state.prompts.append(request.prompt)
            switch state.script {
            case .succeeds: break
            case .succeedsOnce where !state.hasSucceededOnce: state.hasSucceededOnce = true
            case .succeedsOnce: return .failed(.authenticationFailed)
            default: return .failed(AuthenticationFailure(rawValue: state.script.rawValue) ?? .authenticationFailed)
            }
            var available: PresenceProofs = .companion
            if state.biometry == .enrolled { available.insert(.biometry) }
            if state.isPasscodeSet { available.insert(.passcode) }
            if request.flags.isSatisfied(by: available) {
                return .succeeded(Self.proofs(for: request.flags, among: available))
            }
            let lacksBiometry = !request.flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet])
            return .failed((lacksBiometry ? state.biometry.failure : nil) ?? .passcodeNotSet)
        }
    }

    /// A person shows what is asked for and no more, a finger rather than the passcode.
    private static func proofs(
        for flags: AccessControl.Flags, among available: PresenceProofs
    ) -> PresenceProofs {
        var shown: PresenceProofs = []
        for alternatives in flags.presenceAlternatives {
            let ways: [PresenceProofs] = [.biometry, .passcode, .companion]
            guard let way = ways.first(where: { alternatives.contains($0) && available.contains($0) }) else { continue }
            shown.insert(way)
            if flags.contains(.or) { break }
        }
        return shown
    }

    func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
        state.withLock { state in
            PresenceAvailability(
                biometryKind: state.biometry == .unavailable ? .none : .fingerprint,
                biometryFailure: state.biometry.failure, biometryState: state.enrolledState,
                isPasscodeSet: state.isPasscodeSet, passcodeFailure: nil)
        }
    }
}

extension TestBiometry {
    fileprivate var failure: AuthenticationFailure? {
        switch self {
        case .enrolled: nil
        case .notEnrolled: .biometryNotEnrolled
        case .lockout: .biometryLockout
        case .unavailable: .biometryNotAvailable
        }
    }
}
