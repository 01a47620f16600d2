import Dispatch
import Foundation
import Synchronization
import Testing

/// Runs `body`, which blocks. If it takes longer than `seconds`, the test fails when `body` returns.
///
/// A blocked thread cannot be ended. Therefore `end` ends what `body` waits for, and a line on standard error names the
/// test at once. If the test stays blocked, `Scripts/check/run-tests.py` ends the process.
///
/// - Parameters:
///   - what: What `body` waits for, such as "the script says something".
///   - end: Ends what `body` waits for: kills a process, or shuts a socket down. It runs on another thread.
package func withDeadline<Result>(
    _ what: @autoclosure () -> String, within seconds: Int = Patience.seconds,
    ending end: (@Sendable () -> Void)? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) rethrows -> Result {
    let alarm = DeadlineAlarm(NeverHappened(what(), in: seconds), sourceLocation, end)
    alarm.start(seconds)
    defer { if alarm.stop() { _ = alarm.never.record(sourceLocation) } }
    return try body()
}

/// Runs `body`, which suspends. If it takes longer than `seconds`, its task is cancelled and the test fails.
///
/// - Throws: ``NeverHappened``, or an earlier error of `body`.
package func withTaskDeadline<Result: Sendable>(
    _ what: @autoclosure () -> String, within seconds: Int = Patience.seconds,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let never = NeverHappened(what(), in: seconds)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: .seconds(seconds))
            // Recorded before the group waits for `body`, which may ignore its cancellation.
            _ = never.record(sourceLocation)
            return nil
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() ?? nil else { throw never }
        return result
    }
}

/// Reports a passed deadline from a thread that is not blocked, and ends what the test waits for.
private final class DeadlineAlarm: Sendable {
    private enum State { case waiting, passed, stopped }

    let never: NeverHappened
    private let sourceLocation: SourceLocation
    private let end: (@Sendable () -> Void)?
    private let state = Mutex(State.waiting)

    init(_ never: NeverHappened, _ sourceLocation: SourceLocation, _ end: (@Sendable () -> Void)?) {
        (self.never, self.sourceLocation, self.end) = (never, sourceLocation, end)
    }

    func start(_ seconds: Int) {
        // Weak, so that the alarm of a finished test does not stay for minutes.
        DispatchQueue.global(qos: .userInteractive).asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
            self?.ring()
        }
    }

    private func ring() {
        // Under the lock, so that `end` ends only what the test still waits for.
        state.withLock { state in
            guard state == .waiting else { return }
            state = .passed
            let message = "\(sourceLocation.fileID):\(sourceLocation.line): stuck: \(never)\n"
            FileHandle.standardError.write(Data(message.utf8))
            end?()
        }
    }

    /// - Returns: Whether the deadline has passed.
    func stop() -> Bool {
        state.withLock { state in
            defer { state = .stopped }
            return state == .passed
        }
    }
}
