import Bytes
import CLibrary
import Dispatch
import Enclave
import Synchronization

/// This process's connection to a TPM: one conversation at a time, which all threads share.
///
/// Objects that an operation loads are flushed at its end. The storage key and the session stay for operations that
/// follow soon. After a restart of the TPM, it connects again.
package final class TPMConnection: Sendable {
    package let address: String
    private let queue: DispatchQueue
    private let state = Mutex(State())

    private struct State {
        var context: TPMContext?
        var turn: Turn?
        var began = ContinuousClock.now
        var lastUse = ContinuousClock.now
        var endIsPlanned = false
        /// Whether a conversation that has ended used a guarded object.
        var owesShutdown = false
    }
    private let deadline: Int
    /// The socket of the conversation, for a thread that stops waiting.
    private let socket = Mutex<ConversationSocket?>(nil)

    /// Whether programs must take turns.
    private var isExclusive: Bool { TPMAddress(text: address).hasNoResourceManager }

    /// The time that a conversation stays open after its last operation.
    private var patience: Duration { isExclusive ? .milliseconds(30) : .seconds(5) }

    /// The time after which a conversation ends so that other programs get their turn.
    private static let longestTurn: Duration = .milliseconds(250)

    /// - Parameter deadline: The longest time for an operation in seconds, including the wait for others. Real TPMs
    ///   take one second for the slowest operation.
    package init(_ address: String, deadline: Int = 30) {
        self.address = address
        self.deadline = deadline
        queue = DispatchQueue(label: "TPM")
    }

    private static let connections = Mutex<[String: TPMConnection]>([:])

    /// Returns the process's shared connection to the TPM at `address`.
    package static func shared(_ address: String) -> TPMConnection {
        connections.withLock { connections in
            if let present = connections[address] { return present }
            let connection = TPMConnection(address)
            connections[address] = connection
            return connection
        }
    }

    /// Runs `body` in the conversation. Runs it again in a new one if the TPM was restarted meanwhile.
    ///
    /// - Throws: Any error of `body`; ``EnclaveError/unreachable(reason:)`` if the TPM does not answer in time.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (TPMContext) throws -> Result
    ) throws(EnclaveError) -> Result {
        let tss: TSS
        do {
            tss = try TSS.loaded.get()
        } catch {
            throw .unavailable(reason: "\(error)")
        }
        let answer = Answer<Result>()
        queue.async { answer.give(withoutPipeSignal { self.run(body, tss) }) }
        guard let result = answer.wait(deadline) else {
            // Operations that wait behind a TPM that hangs must not wait for the same time again.
            socket.withLock { $0 }?.end()
            throw .unreachable(
                reason:
                    "the TPM at \(address) did not answer within \(deadline) seconds; another program may be holding it"
            )
        }
        return try result.get()
    }

    /// Ends the conversation. If the count of wrong passcodes needs it, first tells the TPM that it may lose power.
    package func close() {
        guard case .success(let tss) = TSS.loaded else { return }
        let answer = Answer<Void>()
        queue.async {
            withoutPipeSignal {
                self.state.withLock { state in
                    if state.owesShutdown || state.context?.usedGuardedObject == true {
                        // Ignores errors, because the caller can do nothing about them.
                        _ = try? self.connect(&state, tss).shutDown()
                    }
                    self.drop(&state, isLost: false)
                    state.owesShutdown = false
                }
            }
            answer.give(.success(()))
        }
        _ = answer.wait(deadline)
    }

    /// Ends the conversation, and with it the stack's memory. Waits at most two seconds, because locking must not wait
    /// for a TPM that hangs.
    package func endConversation() {
        guard case .success = TSS.loaded else { return }
        let answer = Answer<Void>()
        queue.async {
            withoutPipeSignal { self.state.withLock { self.drop(&$0, isLost: false) } }
            answer.give(.success(()))
        }
        _ = answer.wait(min(deadline, 2))
    }

    private func run<Result: Sendable>(
        _ body: (TPMContext) throws -> Result, _ tss: TSS
    ) -> Swift.Result<Result, EnclaveError> {
        state.withLock { state in
            defer { finish(&state) }
            var triesLeft = 3
            while true {
                let wasConnected = state.context != nil
                do {
                    let context = try connect(&state, tss)
                    return .success(try body(context))
                } catch let error as TSSError {
                    triesLeft -= 1
                    guard triesLeft > 0, recover(from: error, &state, wasConnected: wasConnected) else {
                        return .failure(self.error(for: error, tss))
                    }
                } catch let error as EnclaveError {
                    return .failure(error)
                } catch {
                    return .failure(.refused(reason: "\(error)"))
                }
            }
        }
    }

    @discardableResult
    private func connect(_ state: inout State, _ tss: TSS) throws(TSSError) -> TPMContext {
        if let context = state.context { return context }
        var turn: Turn?
        if let folder = TPMAddress(text: address).folderForTurns {
            turn = Turn(lockingFolder: folder)
            guard turn != nil else { throw .noTransport }
        }
        let context = try TPMContext(tss, at: address)
        socket.withLock { $0 = context.socket }
        state.context = context
        state.turn = turn
        state.began = .now
        return context
    }

    /// Returns whether another try is useful, after preparing it.
    private func recover(from error: TSSError, _ state: inout State, wasConnected: Bool) -> Bool {
        switch error.kind {
        case .connectionLost:
            drop(&state, isLost: true)
            return wasConnected
        case .foreignBlob, .noSuchHandle:
            // The parent key may have changed.
            guard wasConnected else { return false }
            drop(&state, isLost: false)
            return true
        case .notStarted: return (try? state.context?.start()) != nil
        case .full where isExclusive:
            drop(&state, isLost: false)
            guard let tss = try? TSS.loaded.get(), let context = try? connect(&state, tss) else { return false }
            return (try? context.sweep()) != nil
        case .falseAnswer:
            // The two sides of the session no longer match.
            drop(&state, isLost: false)
            return false
        default: return false
        }
    }

    private func drop(_ state: inout State, isLost: Bool) {
        if state.context?.usedGuardedObject == true { state.owesShutdown = true }
        state.context?.end(isLost: isLost)
        socket.withLock { $0 = nil }
        state.context = nil
        state.turn = nil
    }

    private func error(for error: TSSError, _ tss: TSS) -> EnclaveError {
        switch error.kind {
        case .wrongAuthorization: .wrongAuthorization
        // The caller that used a guarded object knows the time.
        case .lockedOut: .lockedOut(retryAfter: 0)
        case .foreignBlob: .damagedBlob(reason: "another TPM made it, or it was changed")
        case .invalidPoint: .invalidPublicKey
        case .policyFailed: .otherCounterValue
        case .memoryUnavailable: .memoryUnavailable
        case .connectionLost: unreachable(error, tss)
        case .falseAnswer:
            .refused(reason: "the answer was changed on its way, or did not come from the TPM (\(error.reason(tss)))")
        case .notStarted, .full, .noSuchHandle, .other:
            error.command == "Connect" ? unreachable(error, tss) : .refused(reason: error.words(tss))
        }
    }

    private func unreachable(_ error: TSSError, _ tss: TSS) -> EnclaveError {
        let hint =
            address.hasPrefix("device:")
            ? "see that the machine has a TPM and that this user may open it (group tss)"
            : "see that KEYCHAIN_TPM names a TPM that runs"
                + (address.hasPrefix("swtpm:path=") ? ", with its control socket beside it, at PATH.ctrl" : "")
        return .unreachable(reason: "no TPM answers at \(address) (\(error.reason(tss))); \(hint)")
    }

    // MARK: The end of a conversation

    private func finish(_ state: inout State) {
        state.lastUse = .now
        guard state.context != nil else { return }
        if isExclusive, .now - state.began > Self.longestTurn { return drop(&state, isLost: false) }
        planEnd(&state, in: patience)
    }

    private func planEnd(_ state: inout State, in time: Duration) {
        guard !state.endIsPlanned else { return }
        state.endIsPlanned = true
        let nanoseconds = time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) {
            withoutPipeSignal {
                self.state.withLock { state in
                    state.endIsPlanned = false
                    guard state.context != nil else { return }
                    let rest = self.patience - (.now - state.lastUse)
                    if rest > .zero { self.planEnd(&state, in: rest) } else { self.drop(&state, isLost: false) }
                }
            }
        }
    }
}

/// The result of an operation on another thread.
private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Result<Value, EnclaveError>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func give(_ result: Result<Value, EnclaveError>) {
        value.withLock { $0 = result }
        isThere.signal()
    }

    /// Returns nil if the operation takes too long.
    func wait(_ seconds: Int) -> Result<Value, EnclaveError>? {
        guard isThere.wait(timeout: .now() + .seconds(seconds)) == .success else { return nil }
        return value.withLock { $0 }
    }
}

/// A program's turn at a TPM without a resource manager. Until it ends, no other program of this package uses that TPM.
/// Between two commands, the TPM itself would let other programs see and flush the loaded objects.
final class Turn {
    private let folder: Int32

    /// Waits for the turn; nil if the folder cannot be locked.
    ///
    /// - Parameter path: A folder that all programs with this TPM can read. Nothing is written to it.
    init?(lockingFolder path: String) {
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        guard SystemCall.retryOnInterrupt({ flock(folder, LOCK_EX) }) == 0 else {
            close(folder)
            return nil
        }
    }

    deinit {
        close(folder)
    }
}

/// Runs `body` with SIGPIPE blocked for this thread.
///
/// The stack uses `write` for a TPM behind a socket. If the other end is closed, SIGPIPE would end the program. The
/// error of `write` is enough.
package func withoutPipeSignal<Result>(_ body: () -> Result) -> Result {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
        // The signal belongs to this thread. Unless it was ignored, it is pending here and is consumed.
        var pending = sigset_t()
        sigpending(&pending)
        if sigismember(&pending, SIGPIPE) == 1, sigismember(&before, SIGPIPE) == 0 {
            var now = timespec()
            sigtimedwait(&pipe, nil, &now)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return body()
}
