import Access
import CLibrary
import Connections
import Synchronization
import VaultInterface

/// The vault as one program sees it that speaks another protocol than the daemon's own.
///
/// Each operation has the program's rights, waits for its turn, and is counted and recorded, as a request of the
/// daemon's own protocol is. Nobody is asked for anything: such a protocol has no way to.
package final class GuestVault: Vault {
    private enum Caller: Sendable {
        /// What a program may do follows from the entitlements.
        case peer(Peer)
        /// A program whose rights somebody else has decided on.
        case decided(CallerGrant)
    }

    private struct State {
        var grant: CallerGrant
        var generation = -1
        /// Whether the program has used up its share.
        var isSpent = false
        /// How long the answer to the present call has to wait, because of what was refused.
        var delay = Duration.zero
    }

    private let caller: Caller
    private let socket: Int32
    private let server: VaultServer
    private let seat: ConnectionSeat?
    private let state: Mutex<State>

    /// - Parameter seat: The program's connection, which somebody keeps open for as long as this is used.
    init(_ peer: Peer, _ seat: ConnectionSeat, server: VaultServer) throws(VaultError) {
        (caller, socket, self.seat, self.server) = (.peer(peer), seat.descriptor, seat, server)
        state = Mutex(State(grant: CallerGrant(identifier: "")))
        _ = try grant()
    }

    /// A program that a bus passes on. The bus has a connection with the service, and not the program itself.
    ///
    /// - Parameter socket: The bus's, which somebody keeps open for as long as this is used.
    package convenience init(
        identifier: String, process: Int32?, groups: [String], rights: CallerRights, socket: Int32,
        server: VaultServer
    ) {
        var grant = CallerGrant(identifier: identifier)
        for group in groups { grant.add(group, isListable: rights.contains(.list)) }
        grant.rights = rights
        grant.program = ServedProgram(user: server.owner, name: identifier)
        grant.process = ClientProcess(user: server.owner, number: process)
        self.init(grant, socket: socket, nil, server: server)
    }

    convenience init(_ grant: CallerGrant, _ seat: ConnectionSeat, server: VaultServer) {
        self.init(grant, socket: seat.descriptor, seat, server: server)
    }

    private init(_ grant: CallerGrant, socket: Int32, _ seat: ConnectionSeat?, server: VaultServer) {
        (caller, self.socket, self.seat, self.server) = (.decided(grant), socket, seat, server)
        state = Mutex(State(grant: grant))
    }

    /// What the program may do now.
    ///
    /// - Throws: ``VaultError/accessDenied(_:)``, also if another program uses the connection now.
    package func grant() throws(VaultError) -> CallerGrant {
        guard case .peer(let peer) = caller else { return state.withLock { $0.grant } }
        guard peer.isUnchanged() else {
            throw .accessDenied(
                .unknownCaller(reason: "the program that made the connection is not the one that uses it"))
        }
        let (entitlements, generation) = server.entitlements.current()
        return try state.withLock { state throws(VaultError) in
            guard generation != state.generation else { return state.grant }
            do throws(AccessDenied) {
                state.grant = try entitlements.grant(
                    to: peer.identity, owner: server.owner, tool: server.ownerTool)
            } catch {
                throw .accessDenied(error)
            }
            state.generation = generation
            return state.grant
        }
    }

    /// The program from whose share the operations are taken.
    package var program: ServedProgram { state.withLock { $0.grant.program } ?? ServerConnection.ownersTool }

    private var user: uid_t {
        if case .peer(let peer) = caller { peer.identity.user } else { program.user }
    }

    /// Performs an operation with the groups of `client`, as far as the program holds them. Everything else about
    /// `client` is the program's own.
    package func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        let start = ContinuousClock.now
        var refusal: VaultError?
        let turn = CallTurn(program, at: server.places, descriptor: socket, waiting: waiting)
        defer {
            turn.end()
            server.observer.answered(
                Operation.name, for: client.identifier, of: user, in: ContinuousClock.now - start, refusal: refusal)
        }
        do throws(VaultError) {
            let grant = try grant()
            try operation.check()
            try turn.begin(Operation.traits, isSpent: state.withLock { $0.isSpent }, withRoomFor: 0)
            let client = grant.client(claiming: client.accessGroups)
            let result = CurrentCall.$served.withValue(turn) {
                Result { () throws(VaultError) in try server.vault.perform(operation, as: client, send: send) }
            }
            return try result.get()
        } catch {
            refusal = error
            server.record(error, of: client.identifier, user)
            if error.isRefusal, case .peer = caller {
                let delay = server.rates.refused(program)
                state.withLock { $0.delay = max($0.delay, delay) }
            }
            throw error
        }
    }

    /// Counts a call of the program, whatever it asks for.
    ///
    /// - Returns: How long it has to be put off, if the program has used up its share.
    package func admitCall() -> Duration {
        let delay = server.rates.admit(program)
        state.withLock { ($0.isSpent, $0.delay) = (delay > .zero, .zero) }
        return delay
    }

    /// Answers a call that was counted, and counts the work for it.
    ///
    /// - Returns: How long the answer has to wait.
    package func call(_ body: () -> Void) -> Duration {
        let (start, workBefore) = (ContinuousClock.now, CallTurn.threadTime())
        body()
        server.rates.charge(program, within: ContinuousClock.now - start, forWork: CallTurn.threadTime() - workBefore)
        return state.withLock(\.delay)
    }

    /// Runs `body` while this program has one of the few places for long calls and long answers.
    package func withPlace(_ body: () -> Void) {
        let program = program
        let hasPlace = server.places.guests.enter(program, while: isClientThere, waiting: waiting)
        defer { if hasPlace { server.places.guests.leave(program) } }
        body()
    }

    private func waiting(_ body: () -> Void) {
        guard let seat else { return body() }
        server.loop.whileWaiting(seat, in: .work, body)
    }

    private func isClientThere() -> Bool {
        var polled = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&polled, 1, 0) == 0
    }

    package func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        server.vault.changes(to: audience)
    }

    package func lockEvents() -> AsyncStream<LockEvent> { server.vault.lockEvents() }

    package func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation {
        server.vault.observeLocking(tell)
    }
}
