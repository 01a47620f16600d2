import Access
import Bytes
import CLibrary
import FoundationEssentials
import Synchronization
import SystemLibraries
import VaultInterface

/// A server of a vault for other processes, over a Unix socket, with a thread for each connection.
package final class VaultServer: Sendable {
    let vault: any Vault
    let entitlements: EntitlementsSource
    let limits: ServerLimits
    let observer: any ServerObserver
    let audit: any AuditSink
    package let owner: uid_t
    let ownerTool: PeerIdentity.Executable?
    let rates: RateLimiter
    let budget: RequestBudget
    let places: WorkPlaces
    let registry = ConnectionRegistry()
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - ownerTool: The path of the command line tool that acts for the vault's owner.
    ///   - audit: Where refusals are recorded that the vault does not get to see.
    package init(
        vault: any Vault, entitlements: EntitlementsSource, ownerTool: String? = nil, limits: ServerLimits = .init(),
        observer: any ServerObserver = NoObserver(), audit: any AuditSink = NoAudit()
    ) {
        self.vault = vault
        self.entitlements = entitlements
        self.limits = limits
        self.observer = observer
        self.audit = audit
        owner = geteuid()
        self.ownerTool = ownerTool.flatMap { path in
            FileNumbers(at: path).map { .init(path: path, device: $0.device, inode: $0.inode) }
        }
        rates = RateLimiter(perSecond: limits.requestsPerSecond)
        budget = RequestBudget(bytes: limits.requestBytes)
        places = WorkPlaces(processors: Processors.count)
    }

    /// Accepts connections on `listener` until ``stop()``, which another thread calls.
    ///
    /// - Parameter turn: Called at least once in each tenth of a second in which connections can be accepted.
    package func serve(_ listener: Int32, everyTurn turn: () -> Void = {}) {
        accept(on: listener, { ServerConnection(FrameSocket($0), server: self) }) {
            turn()
            return true
        }
    }

    /// Gives credentials to service managers that connect on behalf of a unit.
    ///
    /// - Parameter isWanted: Asked in each tenth of a second whether to go on.
    package func serveCredentials(_ listener: Int32, while isWanted: () -> Bool) {
        accept(on: listener, { UnitCredentialConnection($0, server: self) }, isWanted)
    }

    /// The same for programs that speak another protocol.
    ///
    /// - Parameters:
    ///   - isWanted: Asked in each tenth of a second whether to go on.
    ///   - guest: Serves a program until it is gone.
    package func serve(
        _ listener: Int32, while isWanted: () -> Bool,
        eachGuest guest: @escaping @Sendable (GuestVault, GuestConnection) -> Void
    ) {
        accept(on: listener, { GuestConnection($0, server: self, serve: guest) }, isWanted)
    }

    private func accept(
        on listener: Int32, _ connection: (Int32) -> any ServedConnection, _ turn: () -> Bool
    ) {
        while turn(), !stops {
            var polled = pollfd(fd: listener, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
            guard poll(&polled, 1, Self.stopInterval) > 0 else { continue }
            let socket = CLibrary.accept(listener, nil, nil)
            if socket >= 0 {
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                admit(socket, connection)
            } else if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) {
                registry.endOne(waiting: Self.wayOut)
                // Its descriptor is closed a moment after its thread is gone.
                usleep(1_000)
            }
        }
    }

    /// How long a stop may go unnoticed by the accepting thread, in milliseconds.
    private static let stopInterval: Int32 = 100

    private func admit(_ socket: Int32, _ make: (Int32) -> any ServedConnection) {
        let user = Peer.user(of: socket)
        guard registry.makeRoom(within: limits.connections, waiting: Self.wayOut) else {
            observer.rejected(reason: "too many connections", user: user)
            close(socket)
            return
        }
        let connection = make(socket)
        registry.add(connection, ofUser: user)
        guard !start(connection) else { return }
        observer.rejected(reason: "no thread for a connection", user: nil)
        registry.remove(connection)
    }

    /// Starts a connection's thread. Where there is no memory for one more, other connections end for it.
    private func start(_ connection: any ServedConnection) -> Bool {
        for attempt in 0..<4 {
            if attempt > 0 { registry.endOne(waiting: Self.wayOut) }
            let isStarted = ConnectionThread.start { [self] in
                connection.run()
                registry.remove(connection)
            }
            if isStarted { return true }
        }
        return false
    }

    /// How long a new connection waits for the thread of one that was ended for it.
    private static let wayOut = Duration.seconds(1)

    /// Ends every connection: those that wait for their client at once, the others when they have answered.
    package func stop() {
        isStopping.store(true, ordering: .relaxed)
        registry.stop(within: limits.farewell)
    }

    /// Records a refusal that the vault's own gate did not make.
    func record(_ error: VaultError, of client: String, _ user: UInt32?) {
        guard case .accessDenied(let denied) = error, case .unknownCaller = denied, audit.isRecording else { return }
        let name = client.isEmpty ? "process of user \(user ?? 0)" : client
        let program = ServedProgram(user: user ?? .max, name: client)
        audit.record(AuditEvent(.refused, client: name, program: program, failure: AuditFailure(denied)))
    }

    var stops: Bool { isStopping.load(ordering: .relaxed) }
}
