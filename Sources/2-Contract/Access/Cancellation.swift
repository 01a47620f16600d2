import Bytes
import CLibrary
import Synchronization

/// A question that can be taken back while a person is being asked.
///
/// Code that waits for an answer registers a handler or polls ``descriptor``. The descriptor becomes readable, and
/// stays readable, when the question is taken back.
package final class Cancellation: Sendable {
    private struct State {
        /// The other end of the connection; closing it is what makes ``descriptor`` readable.
        var writer: Int32
        var isCanceled = false
        var handlers: [Int: @Sendable () -> Void] = [:]
        var lastHandler = 0
    }

    private let state: Mutex<State>
    /// For `poll`; -1, which `poll` ignores, if the system had no descriptor left.
    package let descriptor: Int32

    package init() {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        descriptor = ends[0]
        state = Mutex(State(writer: ends[1]))
    }

    deinit {
        let writer = state.withLock { $0.writer }
        for end in [descriptor, writer] where end >= 0 { close(end) }
    }

    package var isCanceled: Bool { state.withLock { $0.isCanceled } }

    /// Takes the question back. This cannot be undone.
    package func cancel() {
        let handlers = state.withLock { state in
            if state.writer >= 0 { close(state.writer) }
            defer { state = State(writer: -1, isCanceled: true) }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler() }
    }

    /// Runs `body`; `handler` is called, on another thread, when the question is taken back before its end,
    /// and at once if that has happened already.
    package func withHandler<Result>(
        _ handler: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let number: Int? = state.withLock { state in
            guard !state.isCanceled else { return nil }
            state.lastHandler += 1
            state.handlers[state.lastHandler] = handler
            return state.lastHandler
        }
        guard let number else {
            handler()
            return try body()
        }
        defer { state.withLock { $0.handlers[number] = nil } }
        return try body()
    }
}
