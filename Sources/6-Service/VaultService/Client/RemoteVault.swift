import Access
import FoundationEssentials
import KeychainModel
import Presence
import VaultInterface

/// A vault that a daemon serves: every operation is a call over its socket.
///
/// Any number of threads may call it; each call has a connection to itself. A daemon that is restarted is
/// found again.
package final class RemoteVault: Vault {
    private let pool: ConnectionPool
    let local = LocalChanges()
    private let described: CallerDescription
    private let prompt: (any PasscodePrompt)?

    /// Connects to the daemon that listens at `path`.
    ///
    /// - Parameter prompt: How to ask a person when the daemon wants it; nil for the way that the process has
    ///   (``ProcessPrompt``).
    package init(socket path: String, prompt: (any PasscodePrompt)? = nil) throws(VaultError) {
        pool = ConnectionPool(path)
        described = try pool.caller()
        self.prompt = prompt
    }

    fileprivate init(_ pool: ConnectionPool, _ caller: CallerDescription) {
        self.pool = pool
        described = caller
        prompt = nil
    }

    /// Whom the daemon takes this process for.
    package func describeCaller() throws(VaultError) -> CallerDescription {
        guard case .caller(let caller) = try call(.describeCaller, as: described.client).reply else {
            throw Self.nonsense
        }
        return caller
    }

    package func add(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        try changing(.add(item), as: client, item)
    }

    package func addIdentity(certificate: NewItem, key: NewItem, as client: Client) throws(VaultError) {
        try done(.addIdentity(certificate: certificate, key: key), as: client)
        local.changed()
    }

    package func copy(
        _ query: ItemQuery, includingValues: Bool, as client: Client
    ) throws(VaultError) -> [StoredItem] {
        let request = WireRequest.copy(
            query, includingValues: includingValues,
            SearchReports(damage: query.reportDamage != nil, withheld: query.reportWithheld != nil))
        let listeners = ClientConnection.Listeners(damage: query.reportDamage, withheld: query.reportWithheld)
        let answer = try call(request, as: client, listeners)
        guard case .count(answer.items.count) = answer.reply else { throw Self.nonsense }
        return answer.items
    }

    package func update(
        _ query: ItemQuery, with changes: ItemChanges, as client: Client
    ) throws(VaultError) -> Int {
        defer { local.changed() }
        return try count(.update(query, changes), as: client)
    }

    package func delete(_ query: ItemQuery, as client: Client) throws(VaultError) -> Int {
        defer { local.changed() }
        return try count(.delete(query), as: client)
    }

    package func put(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        try changing(.put(item), as: client, item)
    }

    package func exchange(
        _ item: NewItem, expecting expected: Data?, as client: Client
    ) throws(VaultError) -> Bool {
        guard case .flag(let flag) = try call(.exchange(item, expected: expected), as: client).reply else {
            throw Self.nonsense
        }
        if flag { local.changed() }
        return flag
    }

    package func status(as client: Client) throws(VaultError) -> VaultStatus {
        guard case .status(var status) = try call(.status, as: client).reply else { throw Self.nonsense }
        status.isShared = true
        return status
    }

    package func erase(as client: Client) throws(VaultError) {
        try done(.erase, as: client)
        local.changed()
    }

    package func verify(as client: Client) throws(VaultError) -> IntegrityReport {
        guard case .report(let report) = try call(.verify, as: client).reply else { throw Self.nonsense }
        return report
    }

    package func deleteDamaged(as client: Client) throws(VaultError) -> Int {
        defer { local.changed() }
        return try count(.deleteDamaged, as: client)
    }

    package func changes() -> AsyncStream<VaultChange> {
        RemoteChanges.stream(from: pool, as: described.client, local)
    }

    package func lockEvents() -> AsyncStream<LockEvent> {
        RemoteLockEvents.stream(from: pool, as: described.client)
    }

    package func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation {
        let subscription = RemoteLockEvents.observeLocking(of: pool, as: described.client, tell)
        return LockObservation(isImmediate: false) { subscription.end() }
    }

    // MARK: Calls

    func call(
        _ request: WireRequest, as client: Client, _ listeners: ClientConnection.Listeners = .init()
    ) throws(VaultError) -> ClientConnection.Answer {
        let chosen = prompt ?? ProcessPrompt.current
        // Whether the standard one works shows when it is used: to find out costs more than a request.
        let call = WireCall(request, claim: client, canAsk: chosen?.isAvailable ?? true)
        let asked = chosen ?? StandardPrompt()
        // What this process calls the prompt's parts the daemon need not know.
        let titles = request.authentication?.titles ?? PromptTitles()
        return try pool.perform(
            call, prompt: titles == PromptTitles() ? asked : TitledPrompt(asked, titles), listeners)
    }

    func done(_ request: WireRequest, as client: Client) throws(VaultError) {
        guard case .done = try call(request, as: client).reply else { throw Self.nonsense }
    }

    private func count(_ request: WireRequest, as client: Client) throws(VaultError) -> Int {
        guard case .count(let count) = try call(request, as: client).reply else { throw Self.nonsense }
        return count
    }

    private func changing(
        _ request: WireRequest, as client: Client, _ item: NewItem
    ) throws(VaultError) -> StoredItem {
        guard case .item(var stored) = try call(request, as: client).reply else { throw Self.nonsense }
        // The daemon does not send back what it was sent.
        if let value = item.value { stored.value = value }
        local.changed()
        return stored
    }

    static let nonsense = VaultError.inputOutput(
        reason: "the daemon's answer makes no sense; install program and daemon from one release")
}

extension RemoteVault: VaultConnection {
    package static func connect(toSocket path: String) throws(VaultError) -> (any VaultConnection)? {
        let pool = ConnectionPool(path)
        guard let caller = try pool.callerIfListening() else { return nil }
        return RemoteVault(pool, caller)
    }

    package var granted: Client { described.client }

    package func close() { pool.closeAll() }
}
