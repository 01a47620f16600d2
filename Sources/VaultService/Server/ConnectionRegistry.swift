import Foundation

/// The connections of a server, and which of them are at rest.
final class ConnectionRegistry: @unchecked Sendable {
    // Everything below is only touched with `condition` locked.
    private let condition = NSCondition()
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var restingSince: [ObjectIdentifier: ContinuousClock.Instant] = [:]

    var count: Int { locked { connections.count } }

    func add(_ connection: ServerConnection) {
        locked { connections[ObjectIdentifier(connection)] = connection }
    }

    func remove(_ connection: ServerConnection) {
        locked {
            connections[ObjectIdentifier(connection)] = nil
            restingSince[ObjectIdentifier(connection)] = nil
            condition.broadcast()
        }
    }

    func isAtRest(_ connection: ServerConnection) {
        locked { restingSince[ObjectIdentifier(connection)] = .now }
    }

    func isAtWork(_ connection: ServerConnection) {
        locked { restingSince[ObjectIdentifier(connection)] = nil }
    }

    /// Makes room for another connection. A client finds its closed one before it sends anything on it.
    func closeLongestAtRest() {
        locked {
            guard let oldest = restingSince.min(by: { $0.value < $1.value })?.key else { return }
            restingSince[oldest] = nil
            connections[oldest]?.end()
        }
    }

    /// Ends every connection, and waits until they are gone, at the most for `time` after which the rest
    /// is cut off.
    func stop(within time: Duration) {
        let deadline = Date(timeIntervalSinceNow: time / .seconds(1))
        locked {
            for resting in restingSince.keys { connections[resting]?.end() }
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
