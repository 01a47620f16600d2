/// The connections of a server, and which of them are at rest.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: ServerConnection] = [:]
        var resting: [ObjectIdentifier: Waiting] = [:]
        /// Those that were ended to make room, until their threads are gone.
        var ending: Set<ObjectIdentifier> = []
    }

    private let state = Monitor(State())

    /// The reason why a connection waits, in the order in which connections make room.
    enum Rest: Int {
        case greeting
        case request
        /// The answer of a person.
        case answer
    }

    private struct Waiting {
        let rest: Rest
        let since: ContinuousClock.Instant
    }

    var count: Int { state.withLock { $0.connections.count } }

    /// Adds a connection that has said nothing yet.
    func add(_ connection: ServerConnection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            state.resting[ObjectIdentifier(connection)] = Waiting(rest: .greeting, since: .now)
        }
    }

    func remove(_ connection: ServerConnection) {
        state.change { state in
            state.connections[ObjectIdentifier(connection)] = nil
            state.resting[ObjectIdentifier(connection)] = nil
            state.ending.remove(ObjectIdentifier(connection))
        }
    }

    func isAtRest(_ connection: ServerConnection, until rest: Rest) {
        state.withLock { $0.resting[ObjectIdentifier(connection)] = Waiting(rest: rest, since: .now) }
    }

    func isAtWork(_ connection: ServerConnection) {
        state.withLock { $0.resting[ObjectIdentifier(connection)] = nil }
    }

    /// Makes room for another connection if there are `limit`: one that never said hello goes first, one with a
    /// question for a person last. A client finds its closed one before it sends anything on it.
    func closeLongestAtRest(ifThereAre limit: Int = 0) {
        state.withLock { state in
            guard state.connections.count - state.ending.count >= limit else { return }
            let next = state.resting.min { first, second in
                (first.value.rest.rawValue, first.value.since) < (second.value.rest.rawValue, second.value.since)
            }
            guard let oldest = next?.key else { return }
            state.resting[oldest] = nil
            state.ending.insert(oldest)
            state.connections[oldest]?.end()
        }
    }

    /// Ends every connection, and waits until they are gone, at the most for `time` after which the rest
    /// is cut off.
    func stop(within time: Duration) {
        let deadline = ContinuousClock.now + time
        state.withLock { state in
            for (name, waiting) in state.resting where waiting.rest != .answer { state.connections[name]?.end() }
        }
        if state.wait(until: deadline, for: { $0.connections.isEmpty }) { return }
        state.withLock { state in
            for connection in state.connections.values { connection.end() }
        }
    }
}
