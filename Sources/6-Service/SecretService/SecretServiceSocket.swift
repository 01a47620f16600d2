import Access
import CLibrary
import Synchronization
import SystemBus
import VaultInterface
import VaultService

/// A socket that programs of this user take for their session bus, with the Secret Service on it and nothing else.
///
/// Each program has a connection and a thread of its own.
package final class SecretServiceSocket: Sendable {
    /// For `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    private let listener: Int32
    private let session: VaultSession
    private let hub = SecretHub()
    /// The connections of each process.
    private let clients = Mutex<[pid_t: Int]>([:])

    /// Connections at one time; one more is turned away. A process has fewer, so that it leaves some to others.
    private static let mostClients = 256
    private static let mostOfAProcess = 16

    /// Listens at `path`, open to this user alone.
    ///
    /// - Throws: `SocketError`.
    package init(at path: String, _ session: VaultSession) throws {
        address = "unix:path=\(path)"
        // All programs share one group.
        var session = session
        session.client.accessGroups = [SecretGuests.sharedGroup]
        (session.client.preferredGroup, session.client.listableGroups) = (nil, nil)
        self.session = session
        let mask = umask(0o177)
        defer { umask(mask) }
        listener = try UnixSocket.listen(at: path, mode: 0o600)
    }

    deinit { close(listener) }

    /// Serves for as long as the process runs.
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
            guard let peer = UnixSocket.peer(of: socket), peer.user == geteuid(), admit(peer.process) else {
                close(socket)
                continue
            }
            let started = ConnectionThread.start { [self] in
                // The peer closes the socket.
                if let bus = try? BusPeer(socket) {
                    let access = SecretAccess(session: { [session] () throws(VaultError) in session }, name: "")
                    SecretConnection(peer: bus, client: SecretClient(access, hub, Mailbox()), hub: hub).run()
                }
                leave(peer.process)
            }
            if !started {
                close(socket)
                leave(peer.process)
            }
        }
    }

    private func admit(_ process: pid_t) -> Bool {
        clients.withLock { clients in
            let count = clients[process, default: 0]
            guard count < Self.mostOfAProcess, clients.values.reduce(0, +) < Self.mostClients else { return false }
            clients[process] = count + 1
            return true
        }
    }

    private func leave(_ process: pid_t) {
        clients.withLock { clients in
            let count = clients[process, default: 1] - 1
            clients[process] = count > 0 ? count : nil
        }
    }
}
