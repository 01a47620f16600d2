import Bytes
import Foundation
import KeychainModel
import KeychainServices
import VaultInterface

extension Keychain {
    /// A person's authentication, and a password of the program, that several operations share.
    ///
    /// ```swift
    /// let context = Keychain.AuthenticationContext()
    /// try await context.authenticate(for: .userPresence, reason: "Show your accounts")
    /// keychain.authenticationContext = context
    /// let balance = try await keychain.get(String.self, for: "balance")  // asks nobody again
    /// ```
    ///
    /// What a person has shown is kept by the vault for an hour at most, until the vault is locked, and no longer than
    /// this object lives.
    public final class AuthenticationContext: Sendable, Hashable {
        let state = _SecAuthenticationState()

        /// A context that was shown nothing yet.
        public init() {}

        /// Sets the password of items with ``AccessControl/applicationPassword``, which are stored and read with it.
        ///
        /// - Parameter password: Any bytes, such as the UTF-8 of what a person typed; nil for none. The context keeps
        ///   a copy that is wiped with it.
        /// - Throws: ``KeychainError/Code/outOfMemory``.
        public func setApplicationPassword(_ password: Data?) throws {
            state.applicationPassword = try KeychainError.translating {
                try password.map { try $0.withUnsafeBytes { try SecretBytes(copying: $0) } }
            }
        }

        /// Asks a person for what `control` wants, unless one has shown it to this context before. Waits for
        /// the person.
        ///
        /// - Parameters:
        ///   - control: What items ask for that are to be used.
        ///   - reason: What for; the prompt shows it.
        /// - Throws: ``KeychainError/Code/userCanceled``, ``KeychainError/Code/authenticationFailed``, or
        ///   ``KeychainError/Code/interactionNotAllowed`` where there is no way to ask.
        public func authenticate(for control: AccessControl, reason: String) throws {
            try authenticate(for: control, reason, in: .currentForKeychain())
        }

        /// Asks a person for what `control` wants, unless one has shown it to this context before. The task
        /// waits, its thread does not.
        ///
        /// - Throws: ``KeychainError``.
        public func authenticate(for control: AccessControl, reason: String) async throws {
            try await Keychain(service: "").inBackground { bound in
                try self.authenticate(for: control, reason, in: bound.session)
            }
        }

        private func authenticate(
            for control: AccessControl, _ reason: String, in session: VaultSession
        ) throws {
            let flags = try control.flags()
            state.use(in: session)
            try KeychainError.translating {
                _ = try session.perform(
                    Authenticate(flags, context: state.identifier, options: AuthenticationOptions(prompt: reason)))
            }
        }

        /// Ends the context for good: a prompt that is shown for it goes away, and operations that name it fail.
        public func invalidate() { state.invalidate() }

        /// Whether the two are the same context.
        public static func == (left: AuthenticationContext, right: AuthenticationContext) -> Bool {
            left === right
        }

        /// Hashes the context's identity.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
