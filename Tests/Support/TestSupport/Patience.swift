import Foundation
import Glibc
import Testing

/// The time that a test waits for something that happens if everything works.
///
/// Nothing that works takes this long, even on a busy machine. A test of a deadline uses its own time.
package enum Patience {
    /// In seconds. A soak run may wait for an hour of work.
    package static let seconds = TestScale.isSoak ? 3_600 : 300

    package static var duration: Duration { .seconds(seconds) }

    /// In milliseconds, for poll(2).
    package static let milliseconds = Int32(seconds) * 1000
}

extension ContinuousClock.Instant {
    /// The end of a test's waiting.
    package static var patience: ContinuousClock.Instant { .now + Patience.duration }
}

/// The error for an event that a test waited for and that did not happen.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, in seconds: Int = Patience.seconds) { description = "never in \(seconds) s: \(what)" }

    /// Fails the test, because a thrown error may be swallowed.
    package func record(_ sourceLocation: SourceLocation) -> Self {
        Issue.record(Comment(rawValue: description), sourceLocation: sourceLocation)
        return self
    }
}

/// Polls until `condition` is true, for events without a notification.
///
/// - Parameter what: The event, such as "the daemon listens".
/// - Throws: ``NeverHappened``, after failing the test; or the error of `condition`.
package func eventually(
    _ what: @autoclosure () -> String, within seconds: Int = Patience.seconds,
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) throws {
    var pauses = Pauses(seconds)
    while try !condition() {
        guard let pause = pauses.next() else { throw NeverHappened(what(), in: seconds).record(sourceLocation) }
        usleep(pause)
    }
}

/// Polls until `condition` is true, without blocking a thread.
///
/// - Throws: The errors of ``eventually(_:within:sourceLocation:_:)``.
package func suspendUntil(
    _ what: @autoclosure () -> String, within seconds: Int = Patience.seconds,
    sourceLocation: SourceLocation = #_sourceLocation, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    var pauses = Pauses(seconds)
    while try await !condition() {
        guard let pause = pauses.next() else { throw NeverHappened(what(), in: seconds).record(sourceLocation) }
        try await Task.sleep(for: .microseconds(pause))
    }
}

/// The pauses of polling: short at first, so that quick answers cost no time.
private struct Pauses {
    private let end: ContinuousClock.Instant
    /// In microseconds.
    private var pause: UInt32 = 500

    init(_ seconds: Int) { end = .now + .seconds(seconds) }

    /// - Returns: Nil if the deadline has passed.
    mutating func next() -> UInt32? {
        guard ContinuousClock.now < end else { return nil }
        defer { pause = min(pause * 2, 20_000) }
        return pause
    }
}
