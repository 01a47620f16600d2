import CLibrary
import Frames

/// A connection to a daemon that may be trusted with secrets, and its answer to the greeting.
package struct DaemonGreeting {
    package let socket: FrameSocket
    /// The answer: ``FrameKind/welcome`` or ``FrameKind/failure``. The body begins at byte 1.
    package let kind: FrameKind
    package let frame: FrameBuffer

    /// Connects to the daemon that listens at `path`, and greets it.
    package init(to path: String) throws(GreetingFailure) {
        let descriptor: Int32
        do {
            descriptor = try UnixSocket.connect(to: path)
        } catch {
            guard case .system(let code) = error else { throw .unusable(reason: "\(path): no connection") }
            if [ENOENT, ECONNREFUSED, ENOTDIR].contains(code) { throw .nobodyListens }
            if code == EACCES { throw .unusable(reason: VaultPlace.closedReason(path)) }
            throw .unusable(reason: "\(path): \(String(cString: strerror(code)))")
        }
        socket = FrameSocket(descriptor)
        // Another user who listens there would receive secrets.
        guard let user = UnixSocket.user(of: descriptor), Self.isTrusted(user, path) else {
            throw .unusable(
                reason: "\(path): another user listens there. A daemon has to run as you or as root, or serve "
                    + "\(VaultPlace.systemSocket) in a folder that root made")
        }
        do throws(SocketError) {
            (kind, frame) = try Self.greet(on: socket)
        } catch {
            throw GreetingFailure(error, path)
        }
    }

    /// Greets a daemon that this process started, and that has the other end of `socket`.
    package init(on socket: FrameSocket) throws(GreetingFailure) {
        self.socket = socket
        do throws(SocketError) {
            (kind, frame) = try Self.greet(on: socket)
        } catch {
            throw GreetingFailure(error, "the vault's helper")
        }
    }

    private static func greet(on socket: FrameSocket) throws(SocketError) -> (FrameKind, FrameBuffer) {
        let frame = FrameBuffer()
        frame.appendFrame(.hello) {
            frame.append(WireProtocol.magic)
            // The lowest and the highest version that is spoken.
            frame.append(WireProtocol.version)
            frame.append(WireProtocol.version)
        }
        try socket.send(frame, within: WireProtocol.patience)
        let kind = try socket.receive(
            into: frame, limit: WireProtocol.longestFrame, first: WireProtocol.patience, rest: WireProtocol.patience)
        guard kind == .welcome || kind == .failure else { throw .malformed(FrameError("no greeting")) }
        if kind == .welcome {
            do throws(FrameError) {
                var reader = FrameReader(frame, from: 1)
                guard try reader.integer(UInt16.self) == WireProtocol.version else {
                    throw FrameError("another version")
                }
            } catch {
                throw .malformed(error)
            }
        }
        return (kind, frame)
    }

    /// Returns whether a daemon of `user` may receive secrets: one of this process's own user, of root, or of the user
    /// to whom root gave the folder of the system's socket.
    private static func isTrusted(_ user: uid_t, _ path: String) -> Bool {
        if user == geteuid() || user == 0 { return true }
        guard path == VaultPlace.systemSocket else { return false }
        let folders = path.split(separator: "/").dropLast()
        return folders.indices.allSatisfy { last in
            let isLast = last == folders.indices.last
            return Self.isGuarded("/" + folders[...last].joined(separator: "/"), by: isLast ? [0, user] : [0])
        } && Self.isGuarded("/", by: [0])
    }

    /// Whether `path` is a folder that nobody but one of `owners` can change.
    private static func isGuarded(_ path: String, by owners: Set<uid_t>) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR && info.st_mode & 0o022 == 0
            && owners.contains(info.st_uid)
    }
}

/// The reason why a daemon did not greet.
package enum GreetingFailure: Error, Equatable {
    case nobodyListens
    /// The daemon ended the connection before it greeted, as one that is stopping does.
    case closed
    case unusable(reason: String)

    fileprivate init(_ error: SocketError, _ path: String) {
        switch error {
        case .closed: self = .closed
        case .timedOut: self = .unusable(reason: "\(path): the daemon does not answer; restart it")
        default: self = .unusable(reason: "\(path): what listens there is no daemon of this version (\(error))")
        }
    }
}
