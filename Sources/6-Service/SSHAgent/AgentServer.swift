import Bytes
import CLibrary
import Connections
import FoundationEssentials
import Frames

/// An agent on a Unix socket.
package final class AgentServer: Sendable {
    private let listener: Int32
    private let loop: ConnectionLoop
    private let keys: any AgentKeys

    /// An agent that listens at `path`, open to this user alone.
    ///
    /// - Throws: `SocketError`.
    package init(at path: String, _ keys: any AgentKeys) throws {
        self.keys = keys
        var limits = ConnectionLoop.Limits()
        limits.connections = 64
        // Another user, root apart, cannot have come through the folder; this is a second door.
        limits.admits = { $0 == geteuid() || $0 == 0 }
        loop = try ConnectionLoop(limits)
        let mask = umask(0o177)
        defer { umask(mask) }
        listener = try UnixSocket.listen(at: path, mode: 0o600)
    }

    /// Serves until ``stop()``.
    package func run() {
        loop.listen(listener) { [keys] in AgentClient($0, keys) }
        loop.run()
    }

    /// Ends ``run()``. Safe on any thread.
    package func stop() { loop.stop(within: .zero) }

    deinit { close(listener) }
}

/// A client's connection.
// Safe to share between threads: the loop lets one thread at a time call `step(_:)`.
private final class AgentClient: LoopedConnection, @unchecked Sendable {
    private let descriptor: Int32
    private var connection: AgentConnection
    /// What has come of a message.
    private var message = Data()
    /// When the rest of the message has to be there.
    private var endOfRest: ContinuousClock.Instant?

    /// OpenSSH's own limit (ssh-agent.c, AGENT_MAX_LEN).
    private static let longestMessage = 256 << 10
    /// How long a client may take over a message that it has begun, or over an answer.
    private static let patience = 10

    init(_ seat: ConnectionSeat, _ keys: any AgentKeys) {
        descriptor = seat.descriptor
        connection = AgentConnection(keys)
    }

    deinit { close(descriptor) }

    func step(_ cause: StepCause) -> ConnectionNeed {
        guard cause == .input else { return .end }
        while true {
            let missing = missing
            guard (1...Self.longestMessage + 4).contains(missing + message.count) else { return .end }
            guard missing > 0 else { return answer() ? .turn : .end }
            switch receive(missing) {
            case .some(true): continue
            case .none: return .end
            case .some(false):
                // Between messages a client may rest as long as it likes.
                guard !message.isEmpty else { return .request(until: nil, staysAwake: false) }
                let end = endOfRest ?? .now + .seconds(Self.patience)
                endOfRest = end
                return .rest(until: end)
            }
        }
    }

    /// How many bytes of the message, or of its length, have not come.
    private var missing: Int {
        guard message.count >= 4 else { return 4 - message.count }
        return 4 + Int(bigEndianBytes: message.prefix(4)) - message.count
    }

    /// - Returns: Whether something came; nil at the end of the connection.
    private func receive(_ count: Int) -> Bool? {
        var chunk = [UInt8](repeating: 0, count: min(count, 4096))
        let received = chunk.withUnsafeMutableBytes { chunk in
            SystemCall.retryOnInterrupt {
                recv(descriptor, chunk.baseAddress, chunk.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
            }
        }
        guard received > 0 else { return received < 0 && errno == EAGAIN ? false : nil }
        message.append(contentsOf: chunk[..<received])
        return true
    }

    /// - Returns: False if the client does not read the answer.
    private func answer() -> Bool {
        let answer = connection.answer(message.dropFirst(4))
        message.removeAll()
        endOfRest = nil
        var framed = SSHWriter()
        framed.append(string: answer)
        var time = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(clamping: MemoryLayout<timeval>.size))
        return framed.message.withUnsafeBytes { SystemCall.sendAll($0, to: descriptor) }
    }
}
