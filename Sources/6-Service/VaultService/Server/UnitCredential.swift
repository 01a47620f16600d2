import Access
import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import VaultInterface

/// A credential that a service manager asks for on behalf of a unit (`LoadCredential=` with a socket, systemd.exec(5)).
///
/// The manager binds its end of the connection to an abstract address that says what it wants, and reads until the end
/// of the connection. It takes a connection that ends at once for an empty credential. So this one stays open, and the
/// unit does not start, while there is nothing to give: until the vault is unlocked, or the manager gives up.
struct UnitCredential: Sendable, Equatable {
    let unit: String
    let name: String

    /// Of the units that have `LoadCredential=`.
    private static let suffixes = [".service", ".socket", ".mount", ".swap"]

    /// The service of the items; their account is the credential's name.
    static let service = "systemd"

    /// - Parameter address: The bytes of `sun_path` in use.
    init?(address: [UInt8]) {
        guard address.first == 0, let text = String(validating: address.dropFirst(), as: UTF8.self) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // systemd writes a random number in hexadecimal, without zeros in front.
        guard parts.count == 4, (1...16).contains(parts[0].utf8.count), parts[1] == "unit",
            SystemdUnit.isUnit(parts[2], with: Self.suffixes),
            (1...255).contains(parts[3].utf8.count), !parts[3].unicodeScalars.contains(where: \.controlsTerminal)
        else { return nil }
        (unit, name) = (parts[2], parts[3])
    }

    /// Returns what the other end of `socket` asks for.
    init?(askedOn socket: Int32) {
        var address = sockaddr_un()
        let whole = MemoryLayout<sockaddr_un>.size
        var size = socklen_t(clamping: whole)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &size) }
        }
        let head = MemoryLayout<sa_family_t>.size
        guard result == 0, Int(size) > head, Int(size) <= whole else { return nil }
        self.init(address: withUnsafeBytes(of: &address.sun_path) { [UInt8]($0.prefix(Int(size) - head)) })
    }
}

/// A service manager's connection.
final class UnitCredentialConnection: ServedConnection {
    private let socket: Int32
    private let server: VaultServer
    let wait = ConnectionWait()

    init(_ socket: Int32, server: VaultServer) { (self.socket, self.server) = (socket, server) }

    deinit { close(socket) }

    func end() { shutdown(socket, Int32(truncatingIfNeeded: SHUT_RDWR)) }

    func run() {
        let user = Peer.user(of: socket)
        guard let asked = UnitCredential(askedOn: socket) else {
            server.observer.rejected(reason: "the connection is not one of a service manager for a unit", user: user)
            // A connection that is refused costs as much as one that is served.
            server.rates.admitConnection(ServedProgram(user: user, name: "not served"), on: socket)
            return waitForTheEnd()
        }
        do throws(VaultError) {
            let grant = try grant(for: asked, to: user)
            let vault = GuestVault(grant, socket: socket, server: server)
            server.registry.greeted(self, vault.program)
            server.rates.admitConnection(vault.program, on: socket)
            server.observer.connected(grant.description, process: grant.process?.number ?? 0, user: user)
            wait.begin(.work)
            defer { server.observer.disconnected() }
            let value = try whenUnlocked { () throws(VaultError) in try Self.value(asked, of: grant, in: vault) }
            send(value)
            end()
        } catch {
            server.observer.rejected(reason: "no credential '\(asked.name)' for \(asked.unit): \(error)", user: user)
            waitForTheEnd()
        }
    }

    /// The unit's rights. Root's manager speaks for units of the system, and the daemon's user's for its own.
    private func grant(for asked: UnitCredential, to user: UInt32) throws(VaultError) -> CallerGrant {
        let peer: Peer
        do throws(PeerError) {
            peer = try Peer(of: socket)
        } catch {
            throw .accessDenied(.unknownCaller(reason: error.reason))
        }
        guard user == 0 || user == server.owner else {
            throw .accessDenied(.unknownCaller(reason: "user \(user) manages no units of this vault's owner"))
        }
        let unit = user == 0 ? SystemdUnit.system(asked.unit) : .user(asked.unit)
        let identity = PeerIdentity(process: peer.identity.process, user: user, unit: unit)
        do throws(AccessDenied) {
            return try server.entitlements.current().entitlements.grant(to: identity, owner: server.owner, tool: nil)
        } catch {
            throw .accessDenied(error)
        }
    }

    private static func value(
        _ asked: UnitCredential, of grant: CallerGrant, in vault: GuestVault
    ) throws(VaultError) -> Data {
        let query = ItemQuery(
            itemClass: .genericPassword,
            attributes: [.service: .string(UnitCredential.service), .account: .string(asked.name)],
            synchronizable: .any, limit: 1)
        let session = VaultSession(vault: vault, client: grant.client(claiming: grant.groups))
        guard let value = try session.perform(CopyItems(query, includingValues: true)).first?.value else {
            throw .itemNotFound
        }
        return value
    }

    private func whenUnlocked(_ body: () throws(VaultError) -> Data) throws(VaultError) -> Data {
        var hasTold = false
        var pause = Duration.milliseconds(50)
        while true {
            do throws(VaultError) {
                return try body()
            } catch .interactionNotAllowed(let reason) {
                if !hasTold { server.observer.rejected(reason: "a unit waits: \(reason)", user: nil) }
                hasTold = true
                guard !isOver(within: pause) else { throw .clientIsGone }
                // Each look is one in the audit log.
                pause = min(pause * 2, .seconds(1))
            }
        }
    }

    private func send(_ value: Data) {
        value.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = CLibrary.send(
                    socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(truncatingIfNeeded: MSG_NOSIGNAL))
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    private func waitForTheEnd() { while !isOver(within: .seconds(1)) {} }

    /// Whether the manager has given up. Its own half of the connection is closed from the beginning.
    private func isOver(within time: Duration) -> Bool {
        var polled = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&polled, 1, Int32(clamping: time / .milliseconds(1))) > 0 || server.stops
    }
}
