import Access
import KeychainModel
import Presence
import VaultInterface

/// A vault that a daemon serves: every operation is a call over its socket.
///
/// Any number of threads may call it; each call has a connection to itself. A daemon that is restarted is
/// found again.
package final class RemoteVault: Vault {
    private let pool: ConnectionPool
    private let local = LocalChanges()
    /// Whom the daemon took this process for when the first connection was made, and what it might do.
    package let caller: CallerDescription
    private let prompt: @Sendable () -> (any PasscodePrompt)?

    /// Connects to the daemon that listens at `path`.
    ///
    /// - Parameter prompt: How to ask a person when the daemon wants it; nil for the standard prompt.
    package init(socket path: String, prompt: (any PasscodePrompt)? = nil) throws(VaultError) {
        pool = ConnectionPool(path)
        caller = try pool.caller()
        self.prompt = { prompt }
    }

    fileprivate init(
        _ pool: ConnectionPool, _ caller: CallerDescription,
        asking prompt: @escaping @Sendable () -> (any PasscodePrompt)?
    ) {
        (self.pool, self.caller, self.prompt) = (pool, caller, prompt)
    }

    package func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        let chosen = prompt()
        let asked = chosen ?? StandardPrompt()
        // The daemon does not need to know the titles that this process gives to the prompt's parts.
        let titles = operation.authentication?.titles ?? PromptTitles()
        let call = RemoteCall(
            operation: operation, claim: client,
            // Whether the standard prompt works shows when it is used: to find out costs more than a request.
            canAsk: chosen?.isAvailable ?? true,
            prompt: titles == PromptTitles() ? asked : TitledPrompt(asked, titles))
        let answer = try pool.perform(call)
        for part in answer.parts { try send(part) }
        let reply = try answer.reply.get()
        if Operation.traits.contains(.changesItems) { local.changed() }
        return reply
    }

    /// Returns the caller that the daemon sees in this process.
    package func describeCaller() throws(VaultError) -> CallerDescription {
        try perform(DescribeCaller(), as: caller.client)
    }

    package func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        RemoteChanges.stream(from: pool, as: caller.client, local)
    }

    package func lockEvents() -> AsyncStream<LockEvent> {
        RemoteLockEvents.stream(from: pool, as: caller.client)
    }

    package func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation {
        let subscription = RemoteLockEvents.observeLocking(of: pool, as: caller.client, tell)
        return LockObservation(isImmediate: false) { subscription.end() }
    }
}

/// An operation on its way to a daemon.
struct RemoteCall<Operation: VaultOperation> {
    var operation: Operation
    /// What the client says about itself.
    var claim: Client
    var canAsk: Bool
    var prompt: any PasscodePrompt
}

extension RemoteVault: VaultConnection {
    package static func connect(
        toSocket path: String, asking prompt: @escaping @Sendable () -> (any PasscodePrompt)?
    ) throws(VaultError) -> (any VaultConnection)? {
        let pool = ConnectionPool(path)
        guard let caller = try pool.callerIfListening() else { return nil }
        return RemoteVault(pool, caller, asking: prompt)
    }

    /// The client that the daemon takes this process for, with the groups that it grants.
    package var granted: Client { caller.client }

    package func close() { pool.closeAll() }
}
