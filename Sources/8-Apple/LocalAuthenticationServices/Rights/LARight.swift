import Foundation
import KeychainModel
import Synchronization
import VaultInterface

/// Requirements that a person has to meet before the program does something, and whether one has met them.
///
/// A right of this class is about the running program alone. ``LARightStore`` makes a persisted right of it, which
/// guards a key and a secret.
///
/// A right can be used by several threads.
// Safe to share between threads: what changes is in `authorization` and `number`, behind mutexes. A subclass that adds
// state of its own has to guard it and to say so (`@unchecked Sendable`).
open class LARight: NSObject, @unchecked Sendable {
    /// How far the authorization of a right is. Values as in Apple's LARight.h.
    public enum State: Int, Sendable, Hashable, CaseIterable {
        /// Nobody has asked for the right yet.
        case unknown = 0
        /// A person is asked.
        case authorizing = 1
        /// The right is granted.
        case authorized = 2
        /// The right was refused, or given back.
        case notAuthorized = 3
    }

    let requirement: LAAuthenticationRequirement
    let authorization: RightAuthorization
    private let number = Mutex(0)

    /// A right with the requirement ``LAAuthenticationRequirement/default``.
    public override init() {
        requirement = .default
        authorization = RightAuthorization()
        super.init()
    }

    /// A right with a requirement.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        authorization = RightAuthorization()
        super.init()
    }

    init(_ requirement: LAAuthenticationRequirement, _ authorization: RightAuthorization) {
        self.requirement = requirement
        self.authorization = authorization
        super.init()
    }

    /// How far the authorization is. It stays ``State/authorized`` until ``deauthorize()``. What the vault remembers
    /// of the person ends sooner, when the vault is locked or an hour has passed; then the key and the secret of a
    /// persisted right are refused until the right is authorized again.
    open var state: State { authorization.state }

    /// A number for the program's own use, 0 at first.
    open var tag: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }

    // MARK: Authorization

    /// Asks a person to meet the requirement, unless one has done so for this right before.
    ///
    /// - Parameters:
    ///   - localizedReason: What for, in the words of the program; the prompt shows it. Not blank.
    ///   - completion: Called once, on a queue of this module, with nil if the right is granted, else with an
    ///     ``LAError``.
    open func authorize(localizedReason: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        guard localizedReason.contains(where: { !$0.isWhitespace }) else {
            let error = LAError(.notInteractive, saying: "give a reason that the prompt can show to the person")
            return LAContext.queue.async { completion(error) }
        }
        let context = authorization.begin()
        context.evaluate { [authorization] isSuccess, error in
            authorization.end(context, isGranted: isSuccess)
            completion(error)
        } _: { context, session throws(LAError) in
            try self.check(with: context, in: session)
            try self.ask(localizedReason, with: context, in: session)
        }
    }

    /// Asks a person to meet the requirement, unless one has done so for this right before.
    ///
    /// - Parameter localizedReason: What for, in the words of the program; the prompt shows it. Not blank.
    /// - Throws: ``LAError``.
    open func authorize(localizedReason: String) async throws {
        try await outcome { self.authorize(localizedReason: localizedReason, completion: $0) }
    }

    /// Tells whether a person could be asked to meet the requirement. Asks nobody, and does not change ``state``.
    ///
    /// - Parameter completion: Called once, on a queue of this module, with nil if so, else with an ``LAError`` that
    ///   says why not.
    open func checkCanAuthorize(completion: @escaping @Sendable ((any Error)?) -> Void) {
        authorization.context.evaluate { _, error in
            completion(error)
        } _: { context, session throws(LAError) in
            try self.check(with: context, in: session)
        }
    }

    /// Tells whether a person could be asked to meet the requirement. Asks nobody, and does not change ``state``.
    ///
    /// - Throws: ``LAError`` that says why not.
    open func checkCanAuthorize() async throws {
        try await outcome { self.checkCanAuthorize(completion: $0) }
    }

    /// Gives the right back. A prompt that is shown for it is taken away, and its authorization fails with
    /// ``LAError/Code/appCancel``.
    ///
    /// - Parameter completion: Called once, on a queue of this module, when the vault has forgotten what the person
    ///   has shown.
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        // At once, and not on the queue: its threads may all be waiting for persons, and this ends their waiting.
        authorization.giveBack().invalidate()
        LAContext.queue.async { completion() }
    }

    /// Gives the right back. A prompt that is shown for it is taken away, and its authorization fails with
    /// ``LAError/Code/appCancel``.
    open func deauthorize() async {
        await withCheckedContinuation { continuation in
            self.deauthorize { continuation.resume() }
        }
    }

    // MARK: The vault

    /// Throws if a person cannot meet the requirement now.
    func check(with context: LAContext, in session: VaultSession) throws(LAError) {
        if let failure = context.unavailability(of: requirement.policy, in: session) { throw failure }
        guard requirement.flags.contains(.biometryCurrentSet) else { return }
        guard authorization.isSameEnrolment(context.evaluatedPolicyDomainState) else {
            throw LAError(
                .authenticationFailed, saying: "other fingers or faces are enrolled than when the right was first used")
        }
    }

    /// Asks a person, and has the vault remember the answer for the context.
    func ask(_ reason: String, with context: LAContext, in session: VaultSession) throws(LAError) {
        try context.authenticate(requirement.flags, reason, in: session)
    }
}

/// How far the authorization of a right is, and the context under which the vault remembers the person. The key and the
/// secret of a persisted right share it.
final class RightAuthorization: Sendable {
    private struct Progress {
        var state = LARight.State.unknown
        var context = LAContext()
        /// The enrolled fingers when they were first looked at.
        var enrolment: Data?
    }

    private let progress = Mutex(Progress())

    var state: LARight.State { progress.withLock { $0.state } }
    var context: LAContext { progress.withLock { $0.context } }

    /// - Returns: The context to ask with.
    func begin() -> LAContext {
        progress.withLock { progress in
            progress.state = .authorizing
            return progress.context
        }
    }

    /// The outcome for a context that was given back in the meantime changes nothing.
    func end(_ context: LAContext, isGranted: Bool) {
        progress.withLock { progress in
            guard progress.context === context else { return }
            progress.state = isGranted ? .authorized : .notAuthorized
            // The vault may remember a person for the context from an earlier time.
            if !isGranted { progress.context = LAContext() }
        }
    }

    /// - Returns: The context that is no longer used.
    func giveBack() -> LAContext {
        progress.withLock { progress in
            defer { progress.context = LAContext() }
            progress.state = .notAuthorized
            return progress.context
        }
    }

    /// Whether the enrolled fingers and faces are those of the first call.
    func isSameEnrolment(_ enrolment: Data?) -> Bool {
        progress.withLock { progress in
            if progress.enrolment == nil { progress.enrolment = enrolment }
            return progress.enrolment == enrolment
        }
    }
}
