import Access

/// The connections of a server, and whose they are.
final class ConnectionRegistry: Sendable {
    private struct Entry {
        let connection: any ServedConnection
        let user: UInt32
        /// Nil until the connection has been greeted.
        var program: ServedProgram?
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// How many connections were ended to make room, until their threads are gone.
        var ending = 0
    }

    private let state = Monitor(State())

    /// How many connections may be over the limit while ended ones go.
    private static let mostOnTheirWayOut = 64

    /// Adds a connection that has said nothing yet.
    func add(_ connection: any ServedConnection, ofUser user: UInt32) {
        state.withLock { state in
            state.entries[ObjectIdentifier(connection)] = Entry(connection: connection, user: user, program: nil)
        }
    }

    func remove(_ connection: any ServedConnection) {
        state.change { state in
            if state.entries.removeValue(forKey: ObjectIdentifier(connection)) == nil { state.ending -= 1 }
        }
    }

    func greeted(_ connection: any ServedConnection, _ program: ServedProgram) {
        state.withLock { $0.entries[ObjectIdentifier(connection)]?.program = program }
    }

    /// Makes room for one more connection within `limit`: ends one of the user with the most connections.
    ///
    /// - Parameter time: How long to wait for ended connections to go.
    /// - Returns: Whether there is room.
    func makeRoom(within limit: Int, waiting time: Duration) -> Bool {
        state.withLock { state in
            if state.entries.count >= limit { endOne(&state) }
        }
        return state.wait(until: .now + time) { $0.entries.count + $0.ending < limit + Self.mostOnTheirWayOut }
    }

    /// Ends one connection, as ``makeRoom(within:waiting:)`` does, and waits for the end of its thread, at the most for
    /// `time`.
    func endOne(waiting time: Duration) {
        let ending = state.withLock { state in
            endOne(&state)
            return state.ending
        }
        if ending > 0 { _ = state.wait(until: .now + time) { $0.ending < ending } }
    }

    /// Ends one connection. It belongs to the user with the most connections, and to the program with the most among
    /// that user's programs. A connection that never said hello goes first, then one with half a request, and one at
    /// work last. A client notices that its connection has ended before it sends anything on it.
    private func endOne(_ state: inout State) {
        let user = Self.most(state.entries.values, by: \.user)
        let ofUser = state.entries.values.filter { $0.user == user }
        let program = Self.most(ofUser, by: \.program)
        let ofProgram = ofUser.filter { $0.program == program }
        guard let next = ofProgram.min(by: { $0.connection.wait.order < $1.connection.wait.order }) else { return }
        state.entries[ObjectIdentifier(next.connection)] = nil
        state.ending += 1
        next.connection.end()
    }

    private static func most<Key: Hashable>(_ entries: some Sequence<Entry>, by key: (Entry) -> Key) -> Key? {
        var counts: [Key: Int] = [:]
        for entry in entries { counts[key(entry), default: 0] += 1 }
        return counts.max { $0.value < $1.value }?.key
    }

    /// Ends every connection but those with a question for a person, and waits until all are gone, at the most for
    /// `time`. Then it cuts off the rest.
    func stop(within time: Duration) {
        let deadline = ContinuousClock.now + time
        state.withLock { state in
            for entry in state.entries.values where !entry.connection.wait.isForAnswerOrWork {
                entry.connection.end()
            }
        }
        if state.wait(until: deadline, for: { $0.entries.isEmpty && $0.ending == 0 }) { return }
        state.withLock { state in
            for entry in state.entries.values { entry.connection.end() }
        }
    }
}
