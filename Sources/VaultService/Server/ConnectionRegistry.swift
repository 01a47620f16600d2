import Foundation

/// The connections of a server, and which of them are at rest.
final class ConnectionRegistry: @unchecked Sendable {
    // Everything below is only touched with `condition` locked.
    private let condition = NSCondition()
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var resting: [ObjectIdentifier: Rest] = [:]

    private struct Rest {
        let isGreeted: Bool
        let since: ContinuousClock.Instant
    }

    /// Those that were ended to make room, until their threads are gone.
    private var ending: Set<ObjectIdentifier> = []

    var count: Int { locked { connections.count } }

    /// Adds a connection that has said nothing yet.
    func add(_ connection: ServerConnection) {
        locked {
            connections[ObjectIdentifier(connection)] = connection
            resting[ObjectIdentifier(connection)] = Rest(isGreeted: false, since: .now)
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

    /// For the connection's own thread.
    func isAtRest(_ connection: ServerConnection) {
        let rest = Rest(isGreeted: connection.isGreeted, since: .now)
        locked { resting[ObjectIdentifier(connection)] = rest }
    }

    func isAtWork(_ connection: ServerConnection) {
        locked { resting[ObjectIdentifier(connection)] = nil }
    }

    /// Makes room for another connection if there are `limit`, at the cost of one that never said hello if there
    /// is any. A client finds its closed one before it sends anything on it.
    func closeLongestAtRest(ifThereAre limit: Int = 0) {
        locked {
            guard connections.count - ending.count >= limit else { return }
            let silent = resting.filter { !$0.value.isGreeted }
            let candidates = silent.isEmpty ? resting : silent
            guard let oldest = candidates.min(by: { $0.value.since < $1.value.since })?.key else { return }
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
            for name in resting.keys { connections[name]?.end() }
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
