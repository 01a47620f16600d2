import CLibrary
import Frames
import SQLCipherWire
import Synchronization

/// A running helper.
///
/// For one thread at a time, except ``interruption``.
final class HelperConnection {
    let welcome: HelperWelcome
    let interruption: Interruption
    private let input: FrameInput
    private let descriptor: Int32
    private let buffer = FrameBuffer(capacity: 1 << 17)
    private var process: pid_t
    /// The reason why the helper has ended; nil if it was closed.
    private var ending: SQLCipherError?
    /// The number of answers that are still to come.
    private(set) var pending = 0

    init(_ program: String) throws(SQLCipherError) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw .helperMissing(reason: "no descriptor is left for a helper: \(String(cString: strerror(errno)))")
        }
        do throws(SQLCipherError) {
            // Closed before any waiting: the end of the helper shows only when no process holds its end any more.
            defer { close(ends[1]) }
            process = try HelperProgram.start(program, ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        descriptor = ends[0]
        input = FrameInput(descriptor)
        interruption = Interruption(descriptor)
        buffer.appendFrame(.hello) { [buffer] in HelperHello().encode(to: buffer) }
        do throws(SQLCipherError) {
            try interruption.send(buffer)
            var found: HelperWelcome?
            try Self.receive(input) { kind, reader throws(FrameError) in
                guard kind == .welcome else { throw FrameError("another frame than the greeting") }
                found = try HelperWelcome(from: &reader)
            }
            guard let found else { throw .notUnderstood(FrameError("no greeting")) }
            welcome = found
        } catch {
            interruption.end()
            close(descriptor)
            let status = Self.reap(process)
            throw error == .helperEnded(status: 0) ? .helperEnded(status: status) : error
        }
    }

    deinit { end() }

    /// Sends a request. Its answer is received later.
    func send(_ kind: HelperFrameKind, _ body: (FrameBuffer) -> Void) throws(SQLCipherError) {
        guard process > 0 else { throw ending ?? .misused(reason: "the database is closed") }
        buffer.recycle()
        buffer.appendFrame(kind) { body(buffer) }
        guard buffer.count <= FrameLimits.frame else {
            buffer.recycle()
            throw .refused(RequestFailure(.tooLarge, "a request is larger than \(FrameLimits.value) bytes"))
        }
        interruption.begin()
        pending += 1
        do throws(SQLCipherError) { try interruption.send(buffer) } catch { throw gone(error) }
        buffer.recycle()
    }

    /// Receives one frame of an answer.
    ///
    /// - Parameter body: Called with any frame that is not a failure.
    /// - Returns: The kind of the frame.
    /// - Throws: ``SQLCipherError/refused(_:)`` for a failure, which ends the answer.
    @discardableResult
    func receive(
        _ body: (HelperFrameKind, inout FrameReader) throws(FrameError) -> Void
    ) throws(SQLCipherError) -> HelperFrameKind {
        guard process > 0 else { throw ending ?? .misused(reason: "the database is closed") }
        do throws(SQLCipherError) {
            let kind = try Self.receive(input, body)
            if kind == .done || kind == .opened { pending -= 1 }
            return kind
        } catch {
            guard case .refused = error else { throw gone(error) }
            pending -= 1
            throw error
        }
    }

    /// Opens a database. A helper does this once.
    func open(_ request: OpenRequest) throws(SQLCipherError) -> Opened {
        try send(.open) { request.encode(to: $0) }
        var opened: Opened?
        try receive { kind, reader throws(FrameError) in
            guard kind == .opened else { throw FrameError("an unexpected frame") }
            opened = try Opened(from: &reader)
        }
        guard let opened else { throw .notUnderstood(FrameError("an unexpected frame")) }
        return opened
    }

    @discardableResult
    private static func receive(
        _ input: FrameInput, _ body: (HelperFrameKind, inout FrameReader) throws(FrameError) -> Void
    ) throws(SQLCipherError) -> HelperFrameKind {
        var failure: RequestFailure?
        let outcome: FrameInput.Outcome
        do throws(FrameError) {
            outcome = try input.next { kind, reader throws(FrameError) in
                if kind == .failure {
                    failure = try RequestFailure(from: &reader)
                } else {
                    try body(kind, &reader)
                }
            }
        } catch {
            throw .notUnderstood(error)
        }
        if let failure { throw .refused(failure) }
        guard case .frame(let kind) = outcome else { throw .helperEnded(status: 0) }
        return kind
    }

    /// Ends the connection after an error and returns the error for all later calls.
    private func gone(_ error: SQLCipherError) -> SQLCipherError {
        // After an error in the protocol, nothing more can be expected from the helper.
        if case .notUnderstood = error { kill(process, SIGKILL) }
        let status = end()
        let ending = error == .helperEnded(status: 0) ? .helperEnded(status: status) : error
        self.ending = ending
        return ending
    }

    /// Ends the helper, which rolls back uncommitted changes.
    ///
    /// - Returns: Its exit status, or 128 plus the number of the signal.
    @discardableResult
    func end() -> Int32 {
        guard process > 0 else { return 0 }
        interruption.end()
        close(descriptor)
        defer { process = 0 }
        return Self.reap(process)
    }

    /// The process of the helper, for tests.
    var processIdentifier: pid_t { process }

    private static func reap(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        // It fails if another part of this program waits for every child.
        guard SystemCall.retryOnInterrupt({ waitpid(process, &status, 0) }) >= 0 else { return 0 }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}

/// The means to cancel the current requests of a helper, from any thread.
package final class Interruption: Sendable {
    private struct State {
        var descriptor: Int32
        /// The number of the last request that was sent.
        var request: UInt32 = 0
    }

    private let state: Mutex<State>

    fileprivate init(_ descriptor: Int32) { state = Mutex(State(descriptor: descriptor)) }

    /// Makes the current requests end with ``RequestFailure/Code/cancelled``. Without a request it does nothing.
    package func interrupt() {
        state.withLock { state in
            guard state.descriptor >= 0, state.request > 0 else { return }
            let frame = FrameBuffer()
            frame.appendFrame(.cancel) { frame.append(state.request) }
            // A helper that has ended needs no message.
            try? Self.send(frame, to: state.descriptor)
        }
    }

    fileprivate func begin() { state.withLock { $0.request += 1 } }

    fileprivate func end() { state.withLock { $0.descriptor = -1 } }

    fileprivate func send(_ buffer: FrameBuffer) throws(SQLCipherError) {
        let result = state.withLock { state -> Result<Void, SQLCipherError> in
            do throws(SQLCipherError) {
                try Self.send(buffer, to: state.descriptor)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private static func send(_ buffer: FrameBuffer, to descriptor: Int32) throws(SQLCipherError) {
        if SystemCall.sendAll(buffer.bytes, to: descriptor) { return }
        switch errno {
        case EPIPE, ECONNRESET, EBADF: throw .helperEnded(status: 0)
        case let code: throw .notUnderstood(FrameError(String(cString: strerror(code))))
        }
    }
}
