import CLibrary
import PlainBytes

/// Sockets with a name in the file system.
package enum UnixSocket {
    /// Returns a listening socket at `path`, open to `mode`, in the place of one that nobody listens on.
    ///
    /// - Throws: ``SocketError``; `EADDRINUSE` when somebody listens there, `ENOTSOCK` when something else than a
    ///   socket is there, which stays.
    package static func listen(at path: String, mode: mode_t) throws(SocketError) -> Int32 {
        let listener = try make()
        do throws(SocketError) {
            if try !bind(listener, to: path) {
                guard isSocket(path) else { throw .system(errno: ENOTSOCK) }
                guard !isAnswered(path) else { throw .system(errno: EADDRINUSE) }
                // Left by a daemon that was killed.
                unlink(path)
                guard try bind(listener, to: path) else { throw .system(errno: EADDRINUSE) }
            }
            guard chmod(path, mode) == 0, CLibrary.listen(listener, backlog) == 0 else { throw .system(errno: errno) }
        } catch {
            close(listener)
            throw error
        }
        return listener
    }

    /// Connections that wait to be accepted; the kernel's own limit applies too. Of a flood, all that wait are in front
    /// of an honest program.
    private static let backlog: Int32 = 1024

    /// Returns a socket that is connected to the listener at `path`.
    package static func connect(to path: String) throws(SocketError) -> Int32 {
        let socket = try make()
        do throws(SocketError) {
            let status = try withAddress(of: path) { address, size in CLibrary.connect(socket, address, size) }
            guard status == 0 else { throw .system(errno: errno) }
        } catch {
            close(socket)
            throw error
        }
        return socket
    }

    /// Returns the user of the process at the other end.
    package static func user(of socket: Int32) -> uid_t? { peer(of: socket)?.user }

    /// Returns the process at the other end, as it was when the connection was made, and its user.
    package static func peer(of socket: Int32) -> (process: pid_t, user: uid_t)? {
        // `struct ucred` of socket(7): process, user, group.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(clamping: MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return (credentials.0, credentials.1)
    }

    /// Returns whether `path` is a socket itself, and not a link to one.
    private static func isSocket(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFSOCK
    }

    private static func isAnswered(_ path: String) -> Bool {
        guard let socket = try? connect(to: path) else { return false }
        close(socket)
        return true
    }

    private static func make() throws(SocketError) -> Int32 {
        let socket = CLibrary.socket(
            AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw .system(errno: errno) }
        return socket
    }

    /// - Returns: False when something is there already.
    private static func bind(_ socket: Int32, to path: String) throws(SocketError) -> Bool {
        let status = try withAddress(of: path) { address, size in CLibrary.bind(socket, address, size) }
        if status == 0 { return true }
        guard errno == EADDRINUSE else { throw .system(errno: errno) }
        return false
    }

    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SocketError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(truncatingIfNeeded: AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room, !path.utf8.contains(0) else { throw .system(errno: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(clamping: MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
