import Access
import Broker
import Bytes
import CLibrary
import CommandKit
import Dispatch
import Frames
import ProcessVault
import StatusCodes
import Synchronization
import SystemLibraries

/// The process that refreshes the logins of this one. It has a session of its own, and goes on to keep what a server
/// gave when this one is killed.
final class LoginKeeper: Sendable {
    private struct Pending {
        var done: DispatchSemaphore
        var answer: Result<(LoginToken, SecretBytes), Failure>?
    }

    private struct State {
        var pending: [Int: Pending] = [:]
        var last = 0
        var isGone = false
        var isEnded = false
    }

    private let descriptor: Int32
    private let process: pid_t
    private let program: String
    private let passcode: @Sendable () -> SecretBytes?
    private let state = Mutex(State())
    /// Held while a message is sent.
    private let sending = Mutex(())

    /// The descriptor of the keeper's end.
    static let link: Int32 = 3
    /// In seconds: those of a process that waits for another one, and of one request.
    private static let patience = 420

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - program: For the audit log.
    ///   - passcode: Called if the vault is locked there; nil if nobody gives it.
    init(for program: String, passcode: @escaping @Sendable () -> SecretBytes?) throws(Failure) {
        self.program = program
        self.passcode = passcode
        var ends: [Int32] = [-1, -1]
        let type = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system("no socket can be made", errno) }
        defer { CLibrary.close(ends[1]) }
        do throws(Failure) {
            process = try Self.start(ends[1])
        } catch {
            CLibrary.close(ends[0])
            throw error
        }
        descriptor = ends[0]
        guard DetachedThread.start("keeper", { [self] in follow() }) else {
            throw .system("no thread can be started", errno)
        }
    }

    private static func start(_ socket: Int32) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 16)
        defer { CLibrary.close(copy) }
        posix_spawn_file_actions_adddup2(&actions, copy, link)
        // What it has to say comes over the socket: it may outlive this process, and must not keep its pipes open.
        for number in Int32(0)...2 {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        closeDescriptors(from: link + 1, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        resetSignals(in: &attributes)
        dropRaisedIdentity(in: &attributes)
        leadSession(in: &attributes)
        let words = ["keychain", TokenKeeperCommand.name].map { (word: String) in strdup(word) }
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, words + [nil], environ)
        guard code == 0 else { throw .system("the process that refreshes logins cannot be started", code) }
        return process
    }

    /// Returns an access token.
    func token(_ login: LoginName, _ need: StoredLogin.Need) throws(Failure) -> (LoginToken, SecretBytes) {
        let done = DispatchSemaphore(value: 0)
        let number: Int? = state.withLock { state in
            guard !state.isGone else { return nil }
            state.last += 1
            state.pending[state.last] = Pending(done: done)
            return state.last
        }
        guard let number else { throw Self.gone }
        send(.ask(TokenQuestion(number: number, login: login, need: need, program: program)))
        _ = done.wait(timeout: .now() + .seconds(Self.patience))
        guard let answer = state.withLock({ $0.pending.removeValue(forKey: number) })?.answer else { throw Self.gone }
        return try answer.get()
    }

    private static let gone = Failure(
        status: errSecIO, exitCode: ExitStatus.other,
        "the process that refreshes logins ended or does not answer: try again")

    private func send(_ message: KeeperMessage) {
        let buffer = FrameBuffer()
        message.encode(to: buffer)
        // A keeper that is gone gives no answer either.
        sending.withLock { _ in
            try? FrameSocket(descriptor, ownsDescriptor: false).send(buffer, within: .seconds(30))
        }
    }

    private func follow() {
        let (socket, frame) = (FrameSocket(descriptor, ownsDescriptor: false), FrameBuffer())
        while (try? socket.receiveFrame(
            into: frame, limit: KeeperMessage.longest, first: nil, rest: .seconds(30))) != nil,
            let message = try? KeeperMessage(frame)
        {
            take(message)
        }
        state.withLock { state in
            state.isGone = true
            for question in state.pending.values { question.done.signal() }
        }
    }

    private func take(_ message: KeeperMessage) {
        switch message {
        case .token(let number, let token, let secret): answer(number, .success((token, secret)))
        case .failed(let number, let failure): answer(number, .failure(failure.failure))
        case .note(let sentence): CommandNote.show(sentence)
        case .locked:
            // A person may take long. Other answers come meanwhile.
            let isStarted = DetachedThread.start("passcode") { [self] in send(.passcode(passcode())) }
            if !isStarted { send(.passcode(nil)) }
        case .ask, .passcode: break
        }
    }

    private func answer(_ number: Int, _ answer: Result<(LoginToken, SecretBytes), Failure>) {
        state.withLock { state in
            state.pending[number]?.answer = answer
            state.pending[number]?.done.signal()
        }
    }

    /// Lets it go. It ends when it has kept what is under way.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        guard isFirst else { return }
        shutdown(descriptor, Int32(truncatingIfNeeded: SHUT_RDWR))
        var status: Int32 = 0
        // One that has work left is nobody's child any more when this process has ended.
        _ = waitpid(process, &status, WNOHANG)
    }
}

/// A prompt that remembers the passcode that a person gave, for the keeper of logins.
final class RememberingPrompt: PasscodePrompt {
    private let next: any PasscodePrompt
    private let typed = Mutex<SecretBytes?>(nil)

    init(_ next: any PasscodePrompt) { self.next = next }

    var isAvailable: Bool { next.isAvailable }

    /// The passcode, once.
    func take() -> SecretBytes? { typed.withLock { $0.take() } }

    private func noting(_ question: PasscodeQuestion, _ answer: PasscodeAnswer) -> PasscodeAnswer {
        if question.purpose == .unlock, case .passcode(let passcode) = answer { typed.withLock { $0 = passcode } }
        return answer
    }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        noting(question, next.ask(question, until: deadline))
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        noting(question, next.ask(question, until: deadline, cancellation: cancellation))
    }

    func show(_ message: String) { next.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        next.hold(message, until: deadline, cancellation: cancellation)
    }
}
