/// What the loop's lock guards.
extension ConnectionLoop {
    struct Listener {
        let descriptor: Int32
        let awaitsByte: Bool
        let make: @Sendable (ConnectionSeat) -> (any LoopedConnection)?
    }

    struct State {
        var seats = ConnectionSeats()
        var line: FairLine<ConnectionSeat>
        var listeners: [UInt64: Listener] = [:]
        var workers = 0
        /// How many threads wait for a connection that is ready, and were not told of one.
        var idle = 0
        /// How many threads wait a moment for the next request of a connection.
        var awaiting = 0
        /// The connections whose threads wait for the other end, those that have waited longest in front.
        var waiting: [ConnectionSeat] = []
        var deadlines: [UInt64: ContinuousClock.Instant] = [:]
        /// No later than the first of ``deadlines``.
        var nextDeadline: ContinuousClock.Instant?
        var isStopping = false
        /// Whether connections are no longer waited for.
        var isOver = false
    }
}
