import Bytes
import CLibrary
import Frames
import Synchronization
import SystemLibraries

/// The failure of a front process.
package struct FrontError: Error, Equatable, CustomStringConvertible {
    /// What happened, and what to do.
    package let description: String

    /// The front process has ended.
    package static let gone = FrontError("the front process is gone")

    /// An error with this description.
    package init(_ description: String) { self.description = description }
}

/// Starts front processes (``BusFront``).
package final class FrontStarter: Sendable {
    private let control: Int32
    /// What the machine does not let the fronts give up, in sentences.
    package let missing: [String]
    private let failure = Mutex<FrontError?>(nil)

    /// Why no front can be started: nil if the last one that was wanted could, and the starter is there.
    package var problem: FrontError? {
        var polled = pollfd(fd: control, events: 0, revents: 0)
        return poll(&polled, 1, 0) == 1 ? .starterGone : failure.withLock(\.self)
    }

    /// How long the starter may take to begin.
    private static let patience = Duration.seconds(10)

    /// Starts the starter. This process must have no secret yet, and must still be allowed to start a program.
    ///
    /// - Throws: ``FrontError``, such as without libsystemd.
    package init(for purpose: BusFront.Purpose) throws(FrontError) {
        guard let (own, other) = Self.pair(SOCK_SEQPACKET) else { throw .last("start a front process") }
        control = own
        let code = Self.spawn(purpose, control: other)
        close(other)
        guard code == 0 else {
            close(own)
            throw FrontError("no front process can be started: \(String(cString: strerror(code)))")
        }
        var polled = pollfd(fd: own, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
        let isThere = SystemCall.retryOnInterrupt {
            poll(&polled, 1, BusConnection.milliseconds(until: .now + Self.patience))
        }
        guard isThere == 1, let message = PassedDescriptors.receive(from: own) else {
            close(own)
            throw FrontError("the front process does not begin")
        }
        let lines = String(decoding: message.bytes, as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
        if let reason = lines.first, reason.hasPrefix("!") {
            close(own)
            throw FrontError(String(reason.dropFirst()))
        }
        missing = lines
    }

    deinit { close(control) }

    /// - Returns: 0, or an error number.
    private static func spawn(_ purpose: BusFront.Purpose, control: Int32) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, control, BusFront.control)
        closeDescriptors(from: BusFront.control + 1, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        resetSignals(in: &attributes)
        dropRaisedIdentity(in: &attributes)
        leadSession(in: &attributes)
        let words = [BusFront.name, purpose.rawValue].map { (word: String) in strdup(word) }
        defer { for word in words { free(word) } }
        var arguments = words + [nil]
        // It needs nothing of ours, and gets nothing that could be a secret. glibc overwrites all memory that is freed
        // there, because libsystemd leaves copies of a message that grows (mallopt(3), M_PERTURB). Small pieces that
        // are kept for the next use would be left out.
        let tunables = strdup("GLIBC_TUNABLES=glibc.malloc.perturb=85:glibc.malloc.tcache_count=0")
        defer { free(tunables) }
        var environment = [tunables, nil]
        var process: pid_t = 0
        return posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &arguments, &environment)
    }

    /// Starts a front for programs that take a socket for their bus.
    package func front() throws(FrontError) -> Front { Front(try start(SOCK_SEQPACKET, [0])) }

    /// Starts a front on a bus.
    ///
    /// - Parameters:
    ///   - address: In D-Bus's notation.
    ///   - names: The names to take there.
    ///   - replacing: Whether to take them from owners that allow it.
    ///   - guardedPath: The object that only the owner of `guardian` may ask for more than its properties.
    /// - Returns: The socket on which the front reports, and what the machine does not let the front give up.
    /// - Throws: ``FrontError``, such as if another program keeps a name.
    package func link(
        to address: String, names: [String], replacing: Bool, guardedPath: String, guardian: String
    ) throws(FrontError) -> (socket: FrameSocket, missing: [String]) {
        let place = BusPlace(
            address: address, names: names, isReplacing: replacing, guardedPath: guardedPath, guardian: guardian)
        let socket = FrameSocket(try start(SOCK_STREAM, place.bytes))
        let frame = FrameBuffer()
        let report: FrontReport
        do {
            try socket.receiveFrame(into: frame, limit: FrontReport.longest, first: .seconds(30), rest: .seconds(10))
            report = try FrontReport(frame)
        } catch {
            throw FrontError("the front process ended before it was on the bus")
        }
        switch report {
        case .ready(let missing): return (socket, missing)
        case .failed(let reason): throw FrontError(reason)
        default: throw FrontError("the front process said something else than whether it is on the bus")
        }
    }

    /// - Returns: This end of the new front's socket.
    private func start(_ type: __socket_type, _ message: [UInt8]) throws(FrontError) -> Int32 {
        guard let (own, other) = Self.pair(type) else { throw .last("start a front process") }
        defer { close(other) }
        let isSent = PassedDescriptors.send([other], with: message, over: control)
        let error: FrontError? =
            switch isSent ? 0 : errno {
            case 0: nil
            case EPIPE, ECONNRESET: .starterGone
            case EAGAIN: FrontError("the process that starts front processes does not answer: start this program again")
            case let code: FrontError("cannot start a front process: \(String(cString: strerror(code)))")
            }
        failure.withLock { $0 = error }
        guard let error else { return own }
        close(own)
        throw error
    }

    static func pair(_ type: __socket_type) -> (Int32, Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(truncatingIfNeeded: type.rawValue | SOCK_CLOEXEC.rawValue)
        return socketpair(AF_UNIX, type, 0, &ends) == 0 ? (ends[0], ends[1]) : nil
    }
}

extension FrontError {
    fileprivate static let starterGone = FrontError(
        "the process that starts front processes is gone: start this program again")

    fileprivate static func last(_ what: String) -> FrontError {
        FrontError("cannot \(what): \(String(cString: strerror(errno)))")
    }
}

/// A front process for the conversations of one program. It ends when this goes, and its conversations are over.
package final class Front: Sendable {
    private let control: Int32

    fileprivate init(_ control: Int32) { self.control = control }

    deinit { close(control) }

    /// Ends the front, and all its conversations.
    package func end() { shutdown(control, Int32(truncatingIfNeeded: SHUT_WR)) }

    /// Hands a program's socket over, which stays open here, too.
    ///
    /// - Returns: The socket on which the front reports what the program says; the caller closes it.
    /// - Throws: ``FrontError`` if the front is gone.
    package func take(_ program: Int32) throws(FrontError) -> Int32 {
        guard let (own, other) = FrontStarter.pair(SOCK_STREAM) else { throw .last("hand a connection over") }
        defer { close(other) }
        // What the kernel holds for a front whose program does not read, in bytes.
        var size: Int32 = 64 << 10
        for end in [own, other] {
            setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(clamping: MemoryLayout<Int32>.size))
        }
        guard PassedDescriptors.send([program, other], with: [0], over: control) else {
            defer { close(own) }
            // A front that is busy has a full queue.
            guard errno == EPIPE || errno == ECONNRESET else { throw .last("hand a connection over") }
            throw .gone
        }
        return own
    }
}
