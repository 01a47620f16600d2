import Access
import ArgumentParser
import Broker
import Bytes
import CLibrary
import CommandKit
import Dispatch
import FoundationEssentials
import Frames
import StatusCodes
import Synchronization
import SystemLibraries
import VaultInterface

/// Refreshes logins for the process at the other end of descriptor 3, and outlives it for as long as it takes to keep
/// what a server gave.
struct TokenKeeperCommand: DocumentedCommand {
    static let name = "token-keeper"
    static let summary = "Refresh logins for another command, which starts this one."
    static let details = "This is a part of `keychain token`, `keychain run` and `keychain mcp`."
    static let examples: [Example] = []
    static let configuration: CommandConfiguration = documented(name, shouldDisplay: false)

    func run() throws {
        var kind: Int32 = 0
        var size = socklen_t(truncatingIfNeeded: MemoryLayout<Int32>.size)
        guard getsockopt(LoginKeeper.link, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 else {
            throw Failure.usage("`keychain token` starts this command: use that one")
        }
        // What ends the other command must not end this one between an answer and the vault. It ends with the socket.
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_IGN) }
        // The kernel has to keep the exit status of the broker.
        signal(SIGCHLD, SIG_DFL)
        let link = KeeperLink(LoginKeeper.link)
        link.serve()
        // Until what is under way is kept.
        link.work.wait()
    }
}

/// The keeper's end of the socket.
final class KeeperLink: PasscodePrompt {
    private let descriptor: Int32
    private let sending = Mutex(())
    private let opened = Mutex<VaultSession?>(nil)
    private let passcodes = Mutex<SecretBytes?>(nil)
    private let answered = DispatchSemaphore(value: 0)
    /// The questions that are under way.
    let work = DispatchGroup()

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Answers questions until the other process is gone.
    func serve() {
        let (socket, frame) = (FrameSocket(descriptor, ownsDescriptor: false), FrameBuffer())
        while (try? socket.receiveFrame(
            into: frame, limit: KeeperMessage.longest, first: nil, rest: .seconds(30))) != nil,
            let message = try? KeeperMessage(frame)
        {
            frame.recycle()
            switch message {
            case .ask(let question): begin(question)
            case .passcode(let passcode):
                passcodes.withLock { $0 = passcode }
                answered.signal()
            default: return
            }
        }
        // Who waits for a passcode waits no more.
        answered.signal()
    }

    private func begin(_ question: TokenQuestion) {
        work.enter()
        let isStarted = DetachedThread.start("token") { [self] in
            send(answer(question))
            work.leave()
        }
        if !isStarted {
            send(.failed(question.number, KeeperFailure(.system("no thread can be started", errno))))
            work.leave()
        }
    }

    private func answer(_ question: TokenQuestion) -> KeeperMessage {
        do {
            let session = try session()
            let refresher = LoginRefresher(
                store: LoginStore(session: session, name: question.login), program: question.program,
                note: { [self] in send(.note($0)) })
            let access = try refresher.token(for: question.need)
            return .token(question.number, LoginToken(access), access.token.bytes)
        } catch {
            return .failed(question.number, KeeperFailure(Failure(error)))
        }
    }

    private func session() throws -> VaultSession {
        try opened.withLock { opened in
            if let opened { return opened }
            let session = try VaultSession.ofOwnerInPresentVault(nil, prompt: self)
            session.hideMemory()
            opened = session
            return session
        }
    }

    private func send(_ message: KeeperMessage) {
        let buffer = FrameBuffer()
        message.encode(to: buffer)
        // There may be nobody any more.
        sending.withLock { _ in
            try? FrameSocket(descriptor, ownsDescriptor: false).send(buffer, within: .seconds(30))
        }
    }

    // MARK: The passcode

    var isAvailable: Bool { true }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        guard question.purpose == .unlock else {
            return .unavailable(remedy: "a login that a person has to be asked for cannot be refreshed")
        }
        send(.locked)
        let seconds = ContinuousClock.now.duration(to: deadline).components.seconds
        _ = answered.wait(timeout: .now() + .seconds(Int(clamping: max(0, seconds))))
        guard let passcode = passcodes.withLock({ $0.take() }) else {
            return .unavailable(remedy: "give the passcode with --passcode-fd, or unlock the vault")
        }
        return .passcode(passcode)
    }
}
