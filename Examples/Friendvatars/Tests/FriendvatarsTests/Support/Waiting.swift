import Foundation
import Testing

/// How long a test waits before it fails: longer than a machine with four times the load needs. A test that passes does
/// not wait that long.
let patience = Duration.seconds(180)

/// What a test waited for in vain. The test has recorded an issue already.
struct NothingHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits until `condition` holds, which is asked again and again.
///
/// - Parameter what: What did not happen when the deadline has passed.
func waitUntil(
    _ what: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + patience
    var pause = Duration.milliseconds(1)
    while try !condition() {
        guard ContinuousClock.now < end else {
            let nothing = NothingHappened(description: "no answer after \(patience): \(what())")
            Issue.record(Comment(rawValue: nothing.description), sourceLocation: sourceLocation)
            throw nothing
        }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}
