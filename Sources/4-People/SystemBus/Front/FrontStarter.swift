import Bytes
import CLibrary
import Frames
import SystemLibraries

/// The failure of a front process.
package struct FrontError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Starts front processes (``BusFront``).
package final class FrontStarter: Sendable {
    private let control: Int32
    /// What the machine does not let the fronts give up, in sentences.
    package let missing: [String]

    /// How long the starter may take to begin, and a front to reach its bus.
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
    package func front() throws(FrontError) -> Front {
        guard let (own, other) = Self.pair(SOCK_SEQPACKET) else { throw .last("start a front process") }
        defer { close(other) }
        guard PassedDescriptors.send([other], with: [0], over: control) else {
            close(own)
            throw FrontError("the process that starts front processes is gone: start this program again")
        }
        return Front(own)
    }

    /// Starts a front on a bus.
    ///
    /// - Returns: The socket on which the front reports.
    func link(to place: BusPlace) throws(FrontError) -> Int32 {
        guard let (own, other) = Self.pair(SOCK_STREAM) else { throw .last("start a front process") }
        defer { close(other) }
        guard PassedDescriptors.send([other], with: place.bytes, over: control) else {
            close(own)
            throw FrontError("the process that starts front processes is gone: start this program again")
        }
        return own
    }

    static func pair(_ type: __socket_type) -> (Int32, Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(truncatingIfNeeded: type.rawValue | SOCK_CLOEXEC.rawValue)
        return socketpair(AF_UNIX, type, 0, &ends) == 0 ? (ends[0], ends[1]) : nil
    }
}

extension FrontError {
    fileprivate static func last(_ what: String) -> FrontError {
        FrontError("cannot \(what): \(String(cString: strerror(errno)))")
    }
}

/// A front process for the conversations of one program. It ends when this goes, and its conversations are over.
package final class Front: Sendable {
    private let control: Int32

    fileprivate init(_ control: Int32) { self.control = control }

    deinit { close(control) }

    /// Hands a program's socket over, which stays open here, too.
    ///
    /// - Returns: The socket on which the front reports what the program says; the caller closes it.
    /// - Throws: ``FrontError`` if the front is gone.
    package func take(_ program: Int32) throws(FrontError) -> Int32 {
        guard let (own, other) = FrontStarter.pair(SOCK_STREAM) else { throw .last("hand a connection over") }
        defer { close(other) }
        guard PassedDescriptors.send([program, other], with: [0], over: control) else {
            close(own)
            throw FrontError("the front process is gone")
        }
        return own
    }
}

/// A service's connection to a bus, through a front process. For one thread.
package final class FrontedBus {
    package let socket: FrameSocket

    package init(
        _ address: String, names: [String], replacing: Bool, guardedPath: String, guardian: String,
        _ starter: FrontStarter
    ) throws(FrontError) {
        let place = BusPlace(
            address: address, names: names, isReplacing: replacing, guardedPath: guardedPath, guardian: guardian)
        socket = FrameSocket(try starter.link(to: place))
        let frame = FrameBuffer()
        do {
            try socket.receiveFrame(into: frame, limit: FrontReport.longest, first: .seconds(30), rest: .seconds(10))
            switch try FrontReport(frame) {
            case .ready: return
            case .failed(let reason): throw FrontError(reason)
            default: throw FrontError("the front process said something else than whether it is on the bus")
            }
        } catch let error as FrontError {
            throw error
        } catch {
            throw FrontError("the front process ended before it was on the bus")
        }
    }
}
