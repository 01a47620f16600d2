import Foundation
import Glibc
import Testing

/// How long a test waits for what happens when all is well.
///
/// Nothing that works takes this long, even on a busy machine. A test whose subject is a deadline gives one of its own.
package enum Patience {
    /// In seconds. What a soak run waits for may be an hour's work.
    package static let seconds = TestScale.count(300, soak: 3_600)

    package static var duration: Duration { .seconds(seconds) }

    /// In milliseconds, as poll(2) takes it.
    package static let milliseconds = Int32(seconds) * 1000
}

extension ContinuousClock.Instant {
    /// The end of a test's patience.
    package static var patience: ContinuousClock.Instant { .now + Patience.duration }
}

/// What a test waited for in vain.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, in seconds: Int = Patience.seconds) { description = "never in \(seconds) s: \(what)" }

    /// Fails the test: an error that is thrown may be swallowed.
    package func record(_ sourceLocation: SourceLocation) -> Self {
        Issue.record(Comment(rawValue: description), sourceLocation: sourceLocation)
        return self
    }
}

/// Waits for something that tells nobody when it happens.
///
/// - Parameter what: What happens, such as "the daemon listens".
/// - Throws: ``NeverHappened``, with which the test has failed already; and what `condition` throws.
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

/// Waits for something that tells nobody when it happens, and holds no thread meanwhile.
///
/// - Throws: As ``eventually(_:within:sourceLocation:_:)``.
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

/// Pauses between questions: short at first, so that quick answers cost no time.
private struct Pauses {
    private let end: ContinuousClock.Instant
    /// In microseconds.
    private var pause: UInt32 = 500

    init(_ seconds: Int) { end = .now + .seconds(seconds) }

    /// - Returns: Nil when the deadline has passed.
    mutating func next() -> UInt32? {
        guard ContinuousClock.now < end else { return nil }
        defer { pause = min(pause * 2, 20_000) }
        return pause
    }
}
