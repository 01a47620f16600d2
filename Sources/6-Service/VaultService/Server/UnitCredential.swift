import Access
import Bytes
import CLibrary
import Connections
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
// Safe to share between threads: the loop lets one thread at a time call `step(_:)`.
final class UnitCredentialConnection: LoopedConnection, @unchecked Sendable {
    private enum State {
        case new
        case asked(UnitCredential)
        /// The unit may have to wait for the vault to be unlocked.
        case served(UnitCredential, CallerGrant, GuestVault)
        /// Nothing is given, and the unit does not start, until the manager gives up.
        case refused
    }

    private let seat: ConnectionSeat
    private let server: VaultServer
    private var state = State.new
    private var isConnected = false
    private let bell = Bell()
    /// While the unit waits.
    private var waiting: UnlockWait.Place?

    init(_ seat: ConnectionSeat, server: VaultServer) { (self.seat, self.server) = (seat, server) }

    deinit {
        if isConnected { server.observer.disconnected() }
        close(seat.descriptor)
    }

    var alarm: Int32 { bell.descriptor }

    func step(_ cause: StepCause) -> ConnectionNeed {
        bell.silence()
        while true {
            switch state {
            case .new:
                let delay = begin()
                if delay > .zero { return .time(.now + delay) }
            case .asked(let asked):
                let delay = identify(asked)
                if delay > .zero { return .time(.now + delay) }
            case .served(let asked, let grant, let vault): return give(asked, grant, vault)
            case .refused:
                // The manager's own half of the connection is closed from the beginning.
                return isOver ? .end : .time(.now + .seconds(60))
            }
        }
    }

    private func begin() -> Duration {
        guard let asked = UnitCredential(askedOn: seat.descriptor) else {
            server.observer.rejected(
                reason: "the connection is not one of a service manager for a unit", user: seat.user)
            state = .refused
            // A connection that is refused costs as much as one that is served.
            return server.rates.admitConnection(ServedProgram(user: seat.user, name: "not served"))
        }
        state = .asked(asked)
        return server.rates.admitConnection(seat.program)
    }

    private func identify(_ asked: UnitCredential) -> Duration {
        do throws(VaultError) {
            let grant = try grant(for: asked, to: seat.user)
            let vault = GuestVault(grant, seat, server: server)
            server.loop.greeted(seat, vault.program)
            server.observer.connected(grant.description, process: grant.process?.number ?? 0, user: seat.user)
            isConnected = true
            state = .served(asked, grant, vault)
            return server.rates.admitConnection(vault.program)
        } catch {
            refuse(asked, error)
            return .zero
        }
    }

    private func refuse(_ asked: UnitCredential, _ error: VaultError) {
        server.observer.rejected(
            reason: "no credential '\(asked.name)' for \(asked.unit): \(error)", user: seat.user)
        state = .refused
    }

    private func give(_ asked: UnitCredential, _ grant: CallerGrant, _ vault: GuestVault) -> ConnectionNeed {
        do throws(VaultError) {
            let value = try Self.value(asked, of: grant, in: vault)
            server.loop.whileWaiting(seat, in: .work) { send(value) }
            return .end
        } catch .interactionNotAllowed(let reason) {
            guard !isOver else { return .end }
            if waiting == nil {
                server.observer.rejected(reason: "a unit waits: \(reason)", user: nil)
                waiting = server.unlocking.place { [bell] in bell.ring() }
                // Somebody may have unlocked it before this place was there.
                return .turn
            }
            return .alarm(until: nil)
        } catch {
            refuse(asked, error)
            return isOver ? .end : .time(.now + .seconds(60))
        }
    }

    /// The unit's rights. Root's manager speaks for units of the system, and the daemon's user's for its own.
    private func grant(for asked: UnitCredential, to user: UInt32) throws(VaultError) -> CallerGrant {
        let peer: Peer
        do throws(PeerError) {
            peer = try Peer(of: seat.descriptor)
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

    private func send(_ value: Data) {
        value.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = CLibrary.send(
                    seat.descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(truncatingIfNeeded: MSG_NOSIGNAL))
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    /// Whether the manager has given up. Its own half of the connection is closed from the beginning.
    private var isOver: Bool {
        var polled = pollfd(fd: seat.descriptor, events: 0, revents: 0)
        return poll(&polled, 1, 0) > 0 || server.stops
    }
}
