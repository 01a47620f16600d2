import Access
import Bytes
import CLibrary
import VaultInterface

/// A connection of a program that speaks another protocol than the daemon's own.
package final class GuestConnection: ServedConnection {
    /// Open for as long as anybody has a reference to this.
    private let socket: Int32
    private let server: VaultServer
    private let serve: @Sendable (GuestVault, GuestConnection) -> Void
    let wait = ConnectionWait()

    init(
        _ socket: Int32, server: VaultServer, serve: @escaping @Sendable (GuestVault, GuestConnection) -> Void
    ) {
        (self.socket, self.server, self.serve) = (socket, server, serve)
    }

    deinit { close(socket) }

    func end() { shutdown(socket, Int32(truncatingIfNeeded: SHUT_RDWR)) }

    func run() {
        do {
            let peer = try Peer(of: socket)
            let vault = try GuestVault(peer, socket: socket, server: server)
            let description = try vault.grant().description
            server.registry.greeted(self, vault.program)
            server.rates.admitConnection(vault.program, on: socket)
            server.observer.connected(description, process: peer.identity.process, user: peer.identity.user)
            defer { server.observer.disconnected() }
            serve(vault, self)
        } catch {
            let user = Peer.user(of: socket)
            let refusal = error as? VaultError
            server.observer.rejected(reason: refusal?.description ?? "\(error)", user: user)
            // A connection that is refused costs as much as one that is served.
            server.rates.admitConnection(ServedProgram(user: user, name: "not served"), on: socket)
            if let refusal { server.record(refusal, of: "", user) }
        }
        end()
    }

    /// Returns a descriptor of the socket for the protocol's own code, which closes it.
    package func descriptor() -> Int32 { fcntl(socket, F_DUPFD_CLOEXEC, 3) }

    /// Says that the connection waits for its program, and so can make room for others.
    package func waitsForRequest() { wait.begin(.request) }

    /// Says that a call of the program is being answered.
    package func works() { wait.begin(.work) }

    /// Waits until a request on its way in may take so many bytes.
    ///
    /// - Returns: False if there was no room for it in time.
    package func admit(_ bytes: Int, _ room: inout RequestRoom?, of vault: GuestVault) -> Bool {
        wait.begin(.rest)
        guard bytes > RequestRoom.free else { return true }
        let present = room ?? RequestRoom(claim: server.budget.begin(vault.program), budget: server.budget)
        room = present
        return server.budget.reserve(bytes, for: present.claim, within: server.limits.room)
    }
}

/// The room that a request takes on its way in, until this goes.
package final class RequestRoom {
    fileprivate let claim: RequestBudget.Claim
    private let budget: RequestBudget
    /// What a request may take without a claim, in bytes.
    fileprivate static let free = 64 << 10

    fileprivate init(claim: RequestBudget.Claim, budget: RequestBudget) {
        (self.claim, self.budget) = (claim, budget)
    }

    deinit { budget.end(claim) }
}
