import Access
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
            var proofs: PresenceProofs = .companion
            if state.biometry == .enrolled { proofs.insert(.biometry) }
            if state.isPasscodeSet { proofs.insert(.passcode) }
            return request.flags.isSatisfied(by: proofs) ? .succeeded(proofs) : .failed(.authenticationFailed)
        }
    }

    func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
        state.withLock { state in
            PresenceAvailability(
                biometryKind: state.biometry == .unavailable ? .none : .fingerprint,
                biometryFailure: state.biometry.failure, biometryState: nil,
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
