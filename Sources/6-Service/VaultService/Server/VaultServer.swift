import Access
import Bytes
import CLibrary
import Connections
import Frames
import Synchronization
import SystemLibraries
import VaultInterface

/// A server of a vault for other processes, over Unix sockets.
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
    let loop: ConnectionLoop
    package let unlocking: UnlockWait
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - ownerTool: The path of the command line tool that acts for the vault's owner.
    ///   - audit: Where refusals are recorded that the vault does not get to see.
    /// - Throws: ``SocketError`` without a further descriptor.
    package init(
        vault: any Vault, entitlements: EntitlementsSource, ownerTool: String? = nil, limits: ServerLimits = .init(),
        observer: any ServerObserver = NoObserver(), audit: any AuditSink = NoAudit()
    ) throws(SocketError) {
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
        unlocking = UnlockWait(of: vault)
        places = WorkPlaces(processors: Processors.count)
        var loopLimits = ConnectionLoop.Limits()
        loopLimits.connections = limits.connections
        loopLimits.silence = limits.greeting
        loopLimits.refused = { observer.rejected(reason: $0, user: $1) }
        loop = try ConnectionLoop(loopLimits)
    }

    /// Serves `listener`, and those of the other functions, until ``stop()``, which another thread calls.
    ///
    /// - Parameter turn: Called at least once in each tenth of a second in which connections can be accepted.
    package func serve(_ listener: Int32, everyTurn turn: () -> Void = {}) {
        loop.listen(listener) { [weak self] seat in self.map { ServerConnection(seat, server: $0) } }
        loop.run(everyTurn: turn)
    }

    /// Gives credentials to service managers that connect on behalf of a unit, while ``serve(_:everyTurn:)`` runs.
    package func serveCredentials(_ listener: Int32) {
        loop.listen(listener, awaitsByte: false) { [weak self] seat in
            self.map { UnitCredentialConnection(seat, server: $0) }
        }
    }

    /// Serves programs that speak another protocol, while ``serve(_:everyTurn:)`` runs.
    ///
    /// - Parameter guest: Makes what answers a program; nil if that is not possible.
    package func serve(_ listener: Int32, eachGuest guest: @escaping GuestConnection.Make) {
        loop.listen(listener) { [weak self] seat in self.map { GuestConnection(seat, server: $0, guest) } }
    }

    /// Ends every connection: those that wait for their client at once, the others when they have answered.
    package func stop() {
        isStopping.store(true, ordering: .relaxed)
        loop.stop(within: limits.farewell)
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
