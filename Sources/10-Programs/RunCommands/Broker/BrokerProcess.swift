import Broker
import Bytes
import CLibrary
import CommandKit
import Dispatch
import Frames
import StatusCodes
import Synchronization
import SystemLibraries

/// The process that carries a program's requests. It has the network; this one has the vault.
final class BrokerProcess: Sendable {
    private let process: pid_t
    private let descriptor: Int32
    /// Over which the broker gets the socket of an isolated program; -1 without.
    private let second: Int32
    /// Whether this process ends it.
    private let isEnded = Mutex(false)
    /// Held while a message is sent: several threads do.
    private let sending = Mutex(())
    /// Signalled when all its messages are taken.
    private let isRead = DispatchSemaphore(value: 0)
    private let isFollowed = Mutex(false)

    /// Starts it. This process must have no secret yet.
    ///
    /// - Parameter isIsolated: Whether its program is isolated, and ``take(listeners:)`` follows.
    init(isIsolated: Bool) throws(Failure) {
        let path = try Self.program()
        let ends = try Self.pair()
        defer { close(ends[1]) }
        let others = isIsolated ? try Self.pair() : [-1, -1]
        defer { if isIsolated { close(others[1]) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Both may have one of these numbers now.
        let copies = [ends[1], others[1]].filter { $0 >= 0 }.map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
        defer { for copy in copies { close(copy) } }
        for (index, copy) in copies.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, 3 + Int32(clamping: index))
        }
        closeDescriptors(from: 3 + Int32(clamping: copies.count), in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        resetSignals(in: &attributes)
        dropRaisedIdentity(in: &attributes)
        // What ends the program at a terminal does not end the broker before it.
        leadSession(in: &attributes)
        let words = [path, "--link"].map { (word: String) in strdup(word) }
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, path, &actions, &attributes, words + [nil], environ)
        guard code == 0 else {
            for end in [ends[0], others[0]] where end >= 0 { close(end) }
            throw .system("\(path.escapedForTerminal) cannot be started", code)
        }
        self.process = process
        descriptor = ends[0]
        second = others[0]
    }

    private static func pair() throws(Failure) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        let type = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system("no socket can be made", errno) }
        return ends
    }

    /// The program beside this one.
    static func program() throws(Failure) -> String {
        var room = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &room, room.count)
        let own = String(decoding: room.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path =
            own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/keychain-broker"
        guard access(path, X_OK) == 0 else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(path.escapedForTerminal) is not there: install the package swift-keychain-network, or build it with "
                    + "`make network`")
        }
        return path
    }

    /// Says what to do, and waits until it listens.
    func begin(_ start: BrokerStart) throws(Failure) -> BrokerPlace {
        send(.start(start))
        let (socket, frame) = (FrameSocket(descriptor, ownsDescriptor: false), FrameBuffer())
        do {
            try socket.receiveFrame(
                into: frame, limit: BrokerMessage.longest, first: .seconds(30), rest: .seconds(30))
            switch try BrokerMessage(frame) {
            case .ready(let place): return place
            case .failed(let reason):
                throw Failure(status: errSecIO, "keychain-broker cannot begin: \(reason)".escapedForTerminal)
            default: throw FrameError("another message")
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(status: errSecIO, exitCode: ExitStatus.other, "keychain-broker did not begin (\(error))")
        }
    }

    /// Gives it the sockets at which its program finds it.
    ///
    /// - Returns: False, with `errno` set, if it is gone.
    func take(listeners: [Int32]) -> Bool { PassedDescriptors.send(listeners, with: [1], over: second) }

    /// Calls `take` with each message from now on, on a thread of its own, until the broker is gone, and then `end`.
    func follow(
        _ take: @escaping @Sendable (BrokerMessage) -> Void, end: @escaping @Sendable () -> Void = {}
    ) throws(Failure) {
        let isStarted = DetachedThread.start("broker") { [self] in
            let (socket, frame) = (FrameSocket(descriptor, ownsDescriptor: false), FrameBuffer())
            while (try? socket.receiveFrame(
                into: frame, limit: BrokerMessage.longest, first: nil, rest: .seconds(30))) != nil,
                let message = try? BrokerMessage(frame)
            {
                take(message)
            }
            end()
            isRead.signal()
            guard !isEnded.withLock(\.self) else { return }
            CommandNote.show("keychain-broker ended: the program's requests fail from now on")
        }
        guard isStarted else { throw .system("no thread can be started", errno) }
        isFollowed.withLock { $0 = true }
    }

    func send(_ message: BrokerMessage) {
        let buffer = FrameBuffer()
        message.encode(to: buffer)
        // A broker that is gone answers no request either.
        sending.withLock { _ in
            try? FrameSocket(descriptor, ownsDescriptor: false).send(buffer, within: .seconds(30))
        }
    }

    /// Ends it, and with it all connections. Returns when what it told is taken.
    func end() {
        let isOver = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return isEnded
        }
        guard !isOver else { return }
        kill(process, SIGKILL)
        var status: Int32 = 0
        _ = SystemCall.retryOnInterrupt { waitpid(process, &status, 0) }
        // Its end of the socket is closed now, and what is in it can still be read. A vault that does not answer does
        // not hold up the end for long.
        if isFollowed.withLock(\.self) { _ = isRead.wait(timeout: .now() + .seconds(10)) }
        shutdown(descriptor, Int32(truncatingIfNeeded: SHUT_RDWR))
    }
}
