import CLibrary
import VaultInterface

/// Connections to one daemon, each for one call at a time.
final class ConnectionPool: Sendable {
    private struct State {
        var resting: [ClientConnection] = []
        /// The process the connections belong to: a child must not talk on its parent's.
        var process = getpid()
        var hasConnected = false
    }

    let path: String
    private let state = UnfairMutex(State())
    /// Connections at rest that are kept.
    private static let mostResting = 8
    /// How long a daemon that was there may take to come back.
    private static let restartTime = Duration.seconds(5)

    init(_ path: String) { self.path = path }

    /// Performs `call` on a connection of its own; again on a new one if the answer was lost and the operation may be
    /// performed twice.
    func perform<Operation: VaultOperation>(
        _ call: RemoteCall<Operation>
    ) throws(VaultError) -> ClientConnection.Answer<Operation> {
        for attempt in 0... {
            let connection = try take(for: Operation.traits)
            do throws(ClientConnection.Failure) {
                let answer = try connection.perform(call)
                put(connection)
                return answer
            } catch {
                switch error {
                case .refused(let error):
                    if connection.isUsable { put(connection) }
                    throw error
                case .unusable(let reason):
                    throw .inputOutput(reason: reason)
                case .lost(let wasSent):
                    // Most often all connections ended at once, with the daemon.
                    closeAll()
                    guard !wasSent || Operation.traits.contains(.repeatable) else {
                        throw .inputOutput(
                            reason: "the vault's daemon went away before it answered; look whether the change was made")
                    }
                    guard attempt < Self.mostRepetitions else {
                        throw .inputOutput(
                            reason: "the vault's daemon goes away again and again before it answers; look at its log")
                    }
                }
            }
        }
        throw .busy
    }

    private static let mostRepetitions = 3

    /// Returns a new connection, which does not go back to the pool.
    func connect() throws(VaultError) -> ClientConnection {
        let mayReturn = state.withLock { $0.hasConnected }
        let deadline = ContinuousClock.now + Self.restartTime
        var pause: useconds_t = 2_000
        while true {
            do throws(ConnectError) {
                let connection = try ClientConnection(to: path)
                state.withLock { $0.hasConnected = true }
                return connection
            } catch {
                switch error {
                case .refused(let error): throw error
                case .unusable(let reason): throw .unusableVault(reason: reason)
                case .nobodyListens, .closed:
                    guard mayReturn || error == .closed, ContinuousClock.now < deadline else {
                        throw .unusableVault(
                            reason: "no daemon answers at \(path); start keychaind, or set KEYCHAIN_MODE=embedded")
                    }
                }
            }
            usleep(pause)
            pause = min(pause * 2, 100_000)
        }
    }

    /// Returns the caller that the daemon sees in this process. Keeps the connection for the first call.
    func caller() throws(VaultError) -> CallerDescription {
        let connection = try connect()
        put(connection)
        return connection.caller
    }

    /// Does the same; returns nil if no daemon listens.
    func callerIfListening() throws(VaultError) -> CallerDescription? {
        do throws(ConnectError) {
            let connection = try ClientConnection(to: path)
            state.withLock { $0.hasConnected = true }
            put(connection)
            return connection.caller
        } catch {
            switch error {
            case .nobodyListens: return nil
            case .closed: return try caller()
            case .refused(let error): throw error
            case .unusable(let reason): throw .unusableVault(reason: reason)
            }
        }
    }

    func closeAll() {
        state.withLock { $0.resting = [] }
    }

    private func take(for traits: OperationTraits) throws(VaultError) -> ClientConnection {
        while let connection = rested() {
            // A daemon that was restarted has closed it. An operation that may be repeated finds that out itself.
            if traits.contains(.repeatable) || connection.isUsable { return connection }
        }
        return try connect()
    }

    private func rested() -> ClientConnection? {
        let process = getpid()
        return state.withLock { state in
            if state.process != process {
                state.process = process
                state.resting = []
            }
            return state.resting.popLast()
        }
    }

    private func put(_ connection: ClientConnection) {
        state.withLock { state in
            if state.resting.count < Self.mostResting { state.resting.append(connection) }
        }
    }
}
