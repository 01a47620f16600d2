import Foundation

/// The connections of a server, and which of them are at rest.
// Safe to share between threads: whatever changes is touched inside `locked(_:)` alone, which holds `condition`'s lock.
final class ConnectionRegistry: @unchecked Sendable {
    private let condition = NSCondition()
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var resting: [ObjectIdentifier: Waiting] = [:]

    /// What a connection waits for, in the order in which connections make room.
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

    /// Those that were ended to make room, until their threads are gone.
    private var ending: Set<ObjectIdentifier> = []

    var count: Int { locked { connections.count } }

    /// Adds a connection that has said nothing yet.
    func add(_ connection: ServerConnection) {
        locked {
            connections[ObjectIdentifier(connection)] = connection
            resting[ObjectIdentifier(connection)] = Waiting(rest: .greeting, since: .now)
        }
    }

    func remove(_ connection: ServerConnection) {
        locked {
            connections[ObjectIdentifier(connection)] = nil
            resting[ObjectIdentifier(connection)] = nil
            ending.remove(ObjectIdentifier(connection))
            condition.broadcast()
        }
    }

    func isAtRest(_ connection: ServerConnection, until rest: Rest) {
        locked { resting[ObjectIdentifier(connection)] = Waiting(rest: rest, since: .now) }
    }

    func isAtWork(_ connection: ServerConnection) {
        locked { resting[ObjectIdentifier(connection)] = nil }
    }

    /// Makes room for another connection if there are `limit`: one that never said hello goes first, one with a
    /// question for a person last. A client finds its closed one before it sends anything on it.
    func closeLongestAtRest(ifThereAre limit: Int = 0) {
        locked {
            guard connections.count - ending.count >= limit else { return }
            let next = resting.min { first, second in
                (first.value.rest.rawValue, first.value.since) < (second.value.rest.rawValue, second.value.since)
            }
            guard let oldest = next?.key else { return }
            resting[oldest] = nil
            ending.insert(oldest)
            connections[oldest]?.end()
        }
    }

    /// Ends every connection, and waits until they are gone, at the most for `time` after which the rest
    /// is cut off.
    func stop(within time: Duration) {
        let deadline = Date(timeIntervalSinceNow: time / .seconds(1))
        locked {
            for (name, waiting) in resting where waiting.rest != .answer { connections[name]?.end() }
            while !connections.isEmpty, condition.wait(until: deadline) {}
            for connection in connections.values { connection.end() }
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }
}
