import SystemBus

/// Ends a session.
struct CloseSession: SecretMethod {
    static let declaration = MethodDeclaration(.session, "Close")

    init(_ arguments: inout SecretArguments) {}

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        guard client.sessions.remove(path) else { throw SecretServiceError.noObject(path.text) }
        return []
    }
}

/// Starts a prompt, which waits until somebody unlocks the vault.
struct StartPrompt: SecretMethod {
    static let declaration = MethodDeclaration(.prompt, "Prompt", ["window-id": "s"])

    /// The service shows no window, so it needs none of the program.
    init(_ arguments: inout SecretArguments) throws { _ = try arguments.text() }

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        let (hub, name) = (client.hub, client.access.name)
        // Some programs ask for each secret again.
        let patience = hub.hasGivenUp(name) ? .zero : hub.patience
        guard client.prompts.start(path.text, until: .now + patience) else {
            throw SecretServiceError.noObject(path.text)
        }
        if hub.isLocked, patience > .zero { hub.waits(name) }
        try client.listen()
        return []
    }
}

/// Ends a prompt.
struct DismissPrompt: SecretMethod {
    static let declaration = MethodDeclaration(.prompt, "Dismiss")

    init(_ arguments: inout SecretArguments) {}

    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument] {
        guard client.prompts.dismiss(path.text, now: .now) else { throw SecretServiceError.noObject(path.text) }
        try client.listen()
        return []
    }
}
