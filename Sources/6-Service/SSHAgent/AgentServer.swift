import Bytes
import CLibrary
import FoundationEssentials
import Synchronization
import VaultService

/// An agent on a Unix socket, with a thread for each client.
package final class AgentServer: Sendable {
    private let keys: any AgentKeys
    private let listener: Int32
    private let clients = Mutex(0)

    /// Clients at one time; one more is turned away.
    private static let mostClients = 64
    /// OpenSSH's own limit (ssh-agent.c, AGENT_MAX_LEN).
    private static let longestMessage = 256 << 10
    /// How long a client may take over a message that it has begun.
    private static let patience: Int = 10

    /// An agent that listens at `path`, open to this user alone.
    ///
    /// - Throws: `SocketError`.
    package init(at path: String, _ keys: any AgentKeys) throws {
        self.keys = keys
        let mask = umask(0o177)
        defer { umask(mask) }
        listener = try UnixSocket.listen(at: path, mode: 0o600)
    }

    /// Serves until ``stop()``.
    package func run() {
        while true {
            let socket = accept(listener, nil, nil)
            if socket < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                // Without descriptors or memory a client waits for the next turn.
                guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) else { return }
                usleep(10_000)
                continue
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            // Another user, root apart, cannot have come through the folder; this is a second door.
            let user = UnixSocket.user(of: socket)
            guard user == geteuid() || user == 0, admit() else {
                close(socket)
                continue
            }
            let started = ConnectionThread.start { [self] in
                serve(socket)
                close(socket)
                clients.withLock { $0 -= 1 }
            }
            if !started {
                close(socket)
                clients.withLock { $0 -= 1 }
            }
        }
    }

    /// Ends ``run()``. Safe on any thread.
    package func stop() { shutdown(listener, Int32(truncatingIfNeeded: SHUT_RDWR)) }

    deinit { close(listener) }

    private func admit() -> Bool {
        clients.withLock { clients in
            guard clients < Self.mostClients else { return false }
            clients += 1
            return true
        }
    }

    private func serve(_ socket: Int32) {
        var connection = AgentConnection(keys)
        while let message = Self.receive(from: socket) {
            let answer = connection.answer(message)
            var framed = SSHWriter()
            framed.append(string: answer)
            guard Self.send(framed.message, to: socket) else { return }
        }
    }

    private static func receive(from socket: Int32) -> Data? {
        // Between messages a client may rest as long as it likes.
        setPatience(of: socket, seconds: 0)
        guard let first = read(1, from: socket) else { return nil }
        setPatience(of: socket, seconds: patience)
        guard let length = read(3, from: socket) else { return nil }
        let count = Int(bigEndianBytes: first + length)
        guard (1...longestMessage).contains(count) else { return nil }
        return read(count, from: socket)
    }

    private static func setPatience(of socket: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(clamping: MemoryLayout<timeval>.size))
    }

    private static func read(_ count: Int, from socket: Int32) -> Data? {
        var bytes = Data()
        var chunk = [UInt8](repeating: 0, count: min(count, 4096))
        while bytes.count < count {
            let received = chunk.withUnsafeMutableBytes { chunk in
                SystemCall.retryOnInterrupt {
                    recv(socket, chunk.baseAddress, min(chunk.count, count - bytes.count), 0)
                }
            }
            guard received > 0 else { return nil }
            bytes.append(contentsOf: chunk[..<received])
        }
        return bytes
    }

    private static func send(_ bytes: Data, to socket: Int32) -> Bool {
        var time = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(clamping: MemoryLayout<timeval>.size))
        return bytes.withUnsafeBytes { SystemCall.sendAll($0, to: socket) }
    }
}
