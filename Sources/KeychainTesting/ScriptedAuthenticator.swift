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

    func evaluate(_ request: AuthenticationRequest) -> AuthenticationOutcome {
        state.withLock { state in
            state.prompts.append(request.prompt)
            switch state.script {
            case .succeeds: break
            case .succeedsOnce where !state.hasSucceededOnce: state.hasSucceededOnce = true
            case .userCancel: return .canceled
            case .notInteractive: return .notInteractive
            default: return .failed
            }
            return Self.canSatisfy(
                request.flags, biometry: state.biometry == .enrolled, passcode: state.isPasscodeSet)
                ? .succeeded : .failed
        }
    }

    /// Whether the device has what `flags` ask for. With `or` one of several is enough.
    private static func canSatisfy(_ flags: AccessControl.Flags, biometry: Bool, passcode: Bool) -> Bool {
        var available: [Bool] = []
        if flags.contains(.userPresence) { available.append(biometry || passcode) }
        if flags.contains(.biometryAny) || flags.contains(.biometryCurrentSet) { available.append(biometry) }
        if flags.contains(.devicePasscode) { available.append(passcode) }
        if flags.contains(.companion) { available.append(true) }
        if available.isEmpty { return true }
        return flags.contains(.or) ? available.contains(true) : !available.contains(false)
    }
}
