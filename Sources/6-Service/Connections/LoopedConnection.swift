/// A connection that a ``ConnectionLoop`` serves, in steps.
///
/// Its descriptor stays open for as long as it exists.
package protocol LoopedConnection: AnyObject, Sendable {
    /// Another descriptor that begins a step when it can be read; -1 for none.
    var alarm: Int32 { get }

    /// Goes on as far as it can without waiting for the other end. One thread at a time calls this.
    func step(_ cause: StepCause) -> ConnectionNeed
}

extension LoopedConnection {
    package var alarm: Int32 { -1 }
}

/// Why a step begins.
package enum StepCause: Sendable {
    /// There is something to read or room to send, or the other end is gone.
    case input
    /// The time that the last step named has come.
    case time
}

/// What the next step of a connection waits for.
package enum ConnectionNeed: Sendable {
    /// For something to read. The connection is at rest.
    ///
    /// - Parameters:
    ///   - until: When the next step begins in any case; nil for never.
    ///   - staysAwake: Whether the thread may keep a processor busy for a moment, in case the next request is about to
    ///     come.
    case request(until: ContinuousClock.Instant?, staysAwake: Bool)
    /// For the rest of something of which the beginning is there.
    case rest(until: ContinuousClock.Instant)
    /// For something to read, or for room to send something.
    ///
    /// - Parameter isAtRest: Whether nothing is lost if the connection ends now.
    case exchange(until: ContinuousClock.Instant?, isAtRest: Bool = false)
    /// For room to send something, whatever the other end sends until then.
    case output(until: ContinuousClock.Instant?)
    /// For a time, whatever the other end sends until then; not if it is gone.
    case time(ContinuousClock.Instant)
    /// For its alarm, whatever the other end sends until then; not if it is gone. The connection is at rest.
    case alarm(until: ContinuousClock.Instant?)
    /// For the other threads' turn, and then it goes on.
    case turn
    /// Nothing: the connection ends.
    case end
}

/// What a connection does, in the order in which connections make room for others.
package enum ConnectionPhase: Int, Comparable {
    case greeting
    /// The rest of a request is missing.
    case rest
    case request
    /// It waits for the answer of a person.
    case answer
    /// It works, or has been put off.
    case work

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
