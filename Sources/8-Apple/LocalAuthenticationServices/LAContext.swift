import Access
import Bytes
import Crypto
import Foundation
import KeychainServices
import ProcessVault
import Synchronization
import VaultInterface

/// Asks a person to authenticate, and lets keychain items be used on the strength of it.
///
/// A context that was evaluated can be given to the `SecItem` functions as ``kSecUseAuthenticationContext``: items that
/// ask for what the person has shown are then used without another prompt, until the context is invalidated or
/// let go, the vault is locked, or an hour has passed. What was shown is kept by the vault; the program cannot
/// claim it.
///
/// A context can be used by several threads.
// Safe to share between threads: what changes is in `state`, behind a mutex, and `_keychainState` guards itself. A
// subclass that adds state of its own has to guard it and to say so (`@unchecked Sendable`).
open class LAContext: NSObject, _SecAuthenticationContext, @unchecked Sendable {
    struct State {
        var localizedReason = ""
        var localizedFallbackTitle: String?
        var localizedCancelTitle: String?
        var maxBiometryFailures: NSNumber?
        var interactionNotAllowed = false
        var reuseDuration: TimeInterval = 0
        var biometryType = LABiometryType.none
        var domainState: Data?
        var pending: [UUID: Reply] = [:]
    }

    typealias Reply = @Sendable (Bool, (any Error)?) -> Void

    let state = Mutex(State())

    /// Under what the vault keeps what the context was granted.
    public let _keychainState = _SecAuthenticationState()

    /// A context that nobody has authenticated yet.
    public override init() {
        super.init()
    }

    // MARK: What the prompt says

    /// What a prompt says when a keychain item asks for one; empty for the keychain's own words.
    open var localizedReason: String {
        get { state.withLock { $0.localizedReason } }
        set { state.withLock { $0.localizedReason = newValue } }
    }

    /// What the passcode is called where it is asked for, as the other way than a finger: at most 40 characters are
    /// shown. Nil or empty for the prompt's own word; the passcode is asked for all the same.
    open var localizedFallbackTitle: String? {
        get { state.withLock { $0.localizedFallbackTitle } }
        set { state.withLock { $0.localizedFallbackTitle = newValue } }
    }

    /// What the button for cancelling says in a dialog of pinentry: at most 40 characters are shown. Nil or empty for
    /// the dialog's own word. A terminal has no such button.
    open var localizedCancelTitle: String? {
        get { state.withLock { $0.localizedCancelTitle } }
        set { state.withLock { $0.localizedCancelTitle = newValue } }
    }

    // MARK: How a person may be asked

    /// Whether to fail with ``LAError/Code/notInteractive`` instead of asking a person.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.interactionNotAllowed } }
        set { state.withLock { $0.interactionNotAllowed = newValue } }
    }

    /// For how many seconds an unlocking of the device with a finger stands for a prompt, at most
    /// ``LATouchIDAuthenticationMaximumAllowableReuseDuration``. Kept without effect: a vault is not unlocked with a
    /// finger.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// Kept without effect, as on Apple's systems of today.
    open var maxBiometryFailures: NSNumber? {
        get { state.withLock { $0.maxBiometryFailures } }
        set { state.withLock { $0.maxBiometryFailures = newValue } }
    }

    // MARK: What there is

    /// The kind of sensor. It is known after ``canEvaluatePolicy(_:error:)``, also if that returned false.
    open var biometryType: LABiometryType { state.withLock { $0.biometryType } }

    /// Changes when a finger or face is enrolled or removed. Nil until a policy with biometry was found to be possible
    /// or was satisfied.
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

    /// The enrolled fingers and faces as they are now.
    open var domainState: LADomainState {
        let available = try? VaultSession.current().perform(ReadPresenceAvailability())
        return LADomainState(
            biometry: LADomainStateBiometry(
                biometryType: available.map { LABiometryType($0.biometryKind) } ?? .none,
                stateHash: available?.domainState))
    }

    // MARK: Credentials

    /// Gives the context a secret, or takes it away.
    ///
    /// - Parameters:
    ///   - credential: The secret; nil for none. The context keeps a copy that is wiped with it.
    ///   - type: What the secret is for.
    /// - Returns: False if the context was invalidated, or there is no use for secrets of this kind.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword, !_keychainState.isInvalidated else { return false }
        guard let credential else {
            _keychainState.applicationPassword = nil
            return true
        }
        guard let secret = try? credential.withUnsafeBytes({ try SecretBytes(copying: $0) }) else { return false }
        _keychainState.applicationPassword = secret
        return true
    }

    /// Whether the context has a secret of this kind.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && _keychainState.applicationPassword != nil
    }

    // MARK: Evaluation

    /// Whether a person could be asked to satisfy `policy`. Asks nobody.
    ///
    /// - Parameters:
    ///   - policy: What the person would be asked for.
    ///   - error: On return why not; see ``LAError``.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let failure = unavailability(of: policy)
        error?.pointee = failure?._nsError
        return failure == nil
    }

    /// Asks a person to satisfy `policy`, unless one has done so for this context before.
    ///
    /// - Parameters:
    ///   - policy: What the person is asked for.
    ///   - localizedReason: What for, in the words of the program; the prompt shows it.
    ///   - reply: Called once, on a queue of this module, with whether the person has done so, and an ``LAError`` if
    ///     not.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(policy, localizedReason, reply)
    }

    /// Asks a person to satisfy `policy`, unless one has done so for this context before.
    ///
    /// - Parameters:
    ///   - policy: What the person is asked for.
    ///   - localizedReason: What for, in the words of the program; the prompt shows it.
    /// - Returns: True.
    /// - Throws: ``LAError``.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await reply { self.evaluatePolicy(policy, localizedReason: localizedReason, reply: $0) }
    }

    /// Asks a person for what an access control demands of an operation, unless one has shown it to this
    /// context before.
    ///
    /// - Parameters:
    ///   - accessControl: What an item or key is protected by.
    ///   - operation: What is to be done with it.
    ///   - localizedReason: What for, in the words of the program; the prompt shows it.
    ///   - reply: Called once, on a queue of this module, with whether the operation may go on, and an ``LAError`` if
    ///     not.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(accessControl.control, operation, localizedReason, reply)
    }

    /// Asks a person for what an access control demands of an operation, unless one has shown it to this
    /// context before.
    ///
    /// - Parameters:
    ///   - accessControl: What an item or key is protected by.
    ///   - operation: What is to be done with it.
    ///   - localizedReason: What for, in the words of the program; the prompt shows it.
    /// - Returns: True.
    /// - Throws: ``LAError``.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await reply {
            self.evaluateAccessControl(
                accessControl, operation: operation, localizedReason: localizedReason, reply: $0)
        }
    }

    // MARK: The end

    /// Ends the context for good: evaluations that are in progress fail with ``LAError/Code/appCancel``, later ones
    /// with ``LAError/Code/invalidContext``, and keychain items no longer open to it.
    open func invalidate() {
        let pending = state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
        // Before the replies: what a program evaluates when it hears of the end has to fail.
        _keychainState.invalidate()
        let error = LAError(.appCancel)
        for reply in pending.values { Self.queue.async { reply(false, error) } }
    }

    /// Where replies are delivered and persons are waited for.
    static let queue = DispatchQueue(label: "com.apple.LocalAuthentication.LAContext", attributes: .concurrent)
}

extension PresenceAvailability {
    /// What programs see of the enrolment: a digest, because the state itself is mixed into items' keys.
    var domainState: Data? {
        biometryState.map { Data(SHA256.hash(data: Data("swift-keychain/domain-state".utf8) + $0)) }
    }
}

extension LABiometryType {
    init(_ kind: PresenceAvailability.BiometryKind) {
        self =
            switch kind {
            case .none: .none
            case .fingerprint: .touchID
            case .face: .faceID
            }
    }
}
