import KeychainModel

/// What a person is asked for.
package struct AuthenticationRequest: Sendable {
    package var flags: AccessControl.Flags
    /// What the prompt says.
    package var prompt: String?
    package var client: Client

    package init(flags: AccessControl.Flags, prompt: String?, client: Client) {
        self.flags = flags
        self.prompt = prompt
        self.client = client
    }
}

/// How asking a person ended.
package enum AuthenticationOutcome: Sendable, Equatable {
    case succeeded
    case failed
    case canceled
    /// There is no way to ask.
    case notInteractive
}

/// A way to ask a person. A vault without one refuses items that need a person.
package protocol Authenticator: Sendable {
    func evaluate(_ request: AuthenticationRequest) -> AuthenticationOutcome
}
