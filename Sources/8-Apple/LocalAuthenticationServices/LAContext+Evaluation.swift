import Access
import Foundation
import KeychainModel
import KeychainServices
import ProcessVault
import Synchronization
import VaultInterface

/// Where a function leaves an error behind.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

extension LAContext {
    /// Why `policy` cannot be evaluated now; nil if it can. Takes note of what there is.
    func unavailability(of policy: LAPolicy) -> LAError? {
        do throws(VaultError) {
            return unavailability(of: policy, in: try VaultSession.current())
        } catch {
            return LAError(error)
        }
    }

    /// Why `policy` cannot be evaluated now in this vault; nil if it can. Takes note of what there is.
    func unavailability(of policy: LAPolicy, in session: VaultSession) -> LAError? {
        if _keychainState.isInvalidated { return LAError(.invalidContext) }
        do throws(VaultError) {
            let available = try session.perform(ReadPresenceAvailability())
            let failure = policy.failure(given: available)
            state.withLock { state in
                state.biometryType = LABiometryType(available.biometryKind)
                if failure == nil, policy.asksForBiometry { state.domainState = available.domainState }
            }
            return failure.map { LAError($0) }
        } catch {
            return LAError(error)
        }
    }

    func evaluate(_ policy: LAPolicy, _ reason: String, _ reply: @escaping Reply) {
        evaluate(reply) { (context, session) throws(LAError) in
            if let failure = context.unavailability(of: policy, in: session) { throw failure }
            try context.authenticate(policy.flags, reason, in: session)
        }
    }

    func evaluate(
        _ control: AccessControl, _ operation: LAAccessControlOperation, _ reason: String, _ reply: @escaping Reply
    ) {
        evaluate(reply) { (context, session) throws(LAError) in
            let flags = control.flags ?? []
            if flags.contains(.applicationPassword), !context.isCredentialSet(.applicationPassword) {
                throw LAError(
                    .notInteractive, saying: "the application password is missing; set it with setCredential(_:type:)")
            }
            if control.protection == .whenPasscodeSetThisDeviceOnly {
                do throws(VaultError) {
                    guard try session.perform(ReadPresenceAvailability()).isPasscodeSet else { throw .passcodeNotSet }
                } catch {
                    throw LAError(error)
                }
            }
            // Storing asks nobody.
            guard operation != .createItem, operation != .createKey else { return }
            try context.authenticate(flags, reason, in: session)
        }
    }

    /// Asks a person for what `flags` demand, unless one has shown it to this context before.
    func authenticate(
        _ flags: AccessControl.Flags, _ reason: String, in session: VaultSession
    ) throws(LAError) {
        let options = AuthenticationOptions(
            interaction: interactionNotAllowed ? .fail : .allow, prompt: reason.isEmpty ? nil : reason,
            titles: PromptTitles(cancel: localizedCancelTitle, passcode: localizedFallbackTitle))
        do throws(VaultError) {
            try session.perform(Authenticate(flags, context: _keychainState.identifier, options: options))
        } catch {
            throw LAError(error)
        }
    }

    /// Runs `body` where it may wait for a person. The reply is called once: with its outcome, or by
    /// ``invalidate()``.
    func evaluate(
        _ reply: @escaping Reply, _ body: @escaping @Sendable (LAContext, VaultSession) throws(LAError) -> Void
    ) {
        let session: VaultSession
        do throws(VaultError) {
            session = try VaultSession.current()
        } catch {
            let failure = LAError(error)
            return Self.queue.async { reply(false, failure) }
        }
        let ticket = UUID()
        let isUsable = _keychainState.use(in: session)
        if isUsable { state.withLock { $0.pending[ticket] = reply } }
        // An invalidation in between has not seen the ticket.
        guard isUsable, !_keychainState.isInvalidated else {
            let unanswered = isUsable ? takeReply(ticket) : reply
            return Self.queue.async { unanswered?(false, LAError(.invalidContext)) }
        }
        Self.queue.async {
            var failure: LAError?
            do throws(LAError) {
                try body(self, session)
            } catch {
                failure = error
            }
            self.takeReply(ticket)?(failure == nil, failure)
        }
    }

    private func takeReply(_ ticket: UUID) -> Reply? {
        state.withLock { $0.pending.removeValue(forKey: ticket) }
    }

    /// Waits for the reply of `call` without keeping a thread.
    func reply(_ call: (@escaping Reply) -> Void) async throws -> Bool {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Bool, any Error>) in
            call { isSuccess, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isSuccess) }
            }
        }
    }
}

extension LAPolicy {
    /// The constraints that the policy stands for.
    var flags: AccessControl.Flags {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: .biometryAny
        case .deviceOwnerAuthentication: .userPresence
        case .deviceOwnerAuthenticationWithCompanion: .companion
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion: [.biometryAny, .or, .companion]
        }
    }

    var asksForBiometry: Bool { flags.contains(.biometryAny) }

    /// Why the policy cannot be evaluated, given what there is.
    func failure(given available: PresenceAvailability) -> AuthenticationFailure? {
        switch self {
        case .deviceOwnerAuthentication:
            guard available.isPasscodeSet else { return .passcodeNotSet }
            return available.biometryFailure == nil ? nil : available.passcodeFailure
        case .deviceOwnerAuthenticationWithCompanion:
            return .companionNotAvailable
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            if available.biometryKind == .none { return available.biometryFailure ?? .biometryNotAvailable }
            // A finger stands for the passcode, so there has to be one.
            return available.isPasscodeSet ? available.biometryFailure : .passcodeNotSet
        }
    }
}
