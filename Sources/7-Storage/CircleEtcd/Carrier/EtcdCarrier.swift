#if HTTPClientSupport
import Access
import Bytes
import Foundation
import NIOPosix
import VaultInterface

/// Carries what travels in a circle between a vault and a cluster of etcd.
///
/// The vault checks, opens and decides; this only brings. It reads in the order of revisions, and the vault stores the
/// objects and the revision that was reached together.
package actor EtcdCarrier {
    /// What happened since the carrier began.
    package struct Report: Sendable, Equatable {
        /// What the vault is to the circle.
        package var standing = CircleStanding.none
        /// How many versions of items were written to etcd.
        package var written = 0
        /// How many objects were given to the vault.
        package var read = 0
        /// How many items of the vault changed.
        package var changed = 0
        package var conflicts = 0
        /// How many objects wait in the vault.
        package var waiting = 0
        package var refused = 0
        /// Why objects were refused, and what else is not as it should be; each once.
        package var alarms: [String] = []
        /// The node that is used, and when it answered last; nil before the first answer, and while none answers.
        package var endpoint: String?
        package var answered: Date?
        /// Why nothing travels; nil while it does.
        package var problem: String?

        package init() {}

        mutating func add(_ taken: TakenObjects) {
            changed += taken.changed
            conflicts += taken.conflicts
            refused += taken.refused
            waiting = taken.waiting
            for reason in taken.reasons { alarm(reason) }
        }

        mutating func alarm(_ text: String) {
            if !alarms.contains(text), alarms.count < 64 { alarms.append(text) }
        }
    }

    let vault: any Vault
    let client: Client
    let gateway: EtcdGateway
    package var report = Report() {
        didSet { if report != oldValue { observer?(report) } }
    }
    private var observer: (@Sendable (Report) -> Void)?

    var place = EtcdPlace()
    /// What the vault stored last of `place`.
    var stored: Data?
    var settled: Int64 = 0
    /// Keys that this carrier wrote, and that it need not give to its own vault. As text, because the hash of `Data`
    /// looks at the first 80 bytes only, in which all keys of a group are alike.
    var written: Set<String> = []
    /// What kept a change from being accepted, and may count for nothing.
    var obstacles = EtcdObstacles()
    /// The revision of etcd up to which the vault was given everything.
    var caughtUp: Int64 = 0
    /// Whether the store lost what it had, and gets everything once more.
    var isStartingAnew = false
    /// Whether somebody removed what no member removes, and when everything was written anew last because of that.
    var isEmptied = false
    private var filledAgain: ContinuousClock.Instant?
    /// The number of the vault in its circle; 0 unless it is a member.
    var member: UInt32 = 0
    /// Entries of the log in whose place etcd had another one.
    var contested: Set<Data> = []
    /// The areas whose watches have begun, by their places.
    var begun: Set<Int> = []
    /// The claims that this vault told last; nil if it has to tell the others anew.
    var told: Data?
    /// The heads of others that were compared last.
    var compared: [CircleHead] = []
    /// Wakes the carrier after `recheckDelay` seconds, to compare or tell again.
    var reminder: Task<Void, Never>?
    var recheckDelay = 10
    /// How often one after another the gateway lost watches.
    private var lostWatches = 0
    private let silence: Duration
    let now: @Sendable () -> Date

    /// How the vault knows this carrier.
    static let name = CollectCircleObjects.etcd

    /// - Parameters:
    ///   - client: Holds the right to synchronize.
    ///   - silence: After this time without data the carrier asks the node's /health: a node that is stopped, or behind
    ///     a network that is gone, says nothing.
    ///   - now: The time, for how long something is missing.
    package init(
        _ vault: any Vault, as client: Client, through gateway: EtcdGateway, silence: Duration = .seconds(30),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.vault, self.client, self.gateway) = (vault, client, gateway)
        (self.silence, self.now) = (silence, now)
    }

    deinit { reminder?.cancel() }

    // MARK: Both ways

    /// Writes what the vault has for the others, and takes in what is new, until there is neither.
    ///
    /// - Throws: ``EtcdError`` and ``VaultError``.
    package func synchronize() async throws {
        while true {
            do {
                let areas = try await begin()
                try await catchUpAll(areas)
                let state = try await push(isCaughtUp: true)
                try await catchUpAll(areas)
                compared = []
                try await compare(try await collect(limit: 0, statement: place.claims.statement).state)
                // Being admitted, and new groups, bring further areas.
                if try await isWatching(areas), !state.hasMore { return }
            } catch EtcdError.beginAgain {}
        }
    }

    /// Has items travel until the task is cancelled: watches etcd, and writes after each change of the vault,
    /// and after each unlocking.
    ///
    /// A node that fails is left for the next one, and tried again after 50 milliseconds at first, later after up to 30
    /// seconds.
    package func run() async {
        let (bell, occasions) = (Bell(), vault.occasions())
        let listening = Task { for await _ in occasions { await bell.ring() } }
        defer {
            listening.cancel()
            reminder?.cancel()
        }
        var failures = 0
        while !Task.isCancelled {
            let began = ContinuousClock.now
            do {
                try await serve(bell)
                failures = 0
            } catch EtcdError.beginAgain {
                failures = 0
                try? await Task.sleep(for: .milliseconds(10))
                continue
            } catch EtcdError.noCircle {
                report.standing = .none
                report.problem = EtcdError.noCircle.description
                await bell.wait()
                continue
            } catch VaultError.interactionNotAllowed(let reason) {
                // Before the first unlocking.
                report.problem = reason
                await bell.wait()
                continue
            } catch {
                guard !Task.isCancelled else { return }
                report.problem = Self.reason(error)
                report.endpoint = nil
                await gateway.advance()
                failures = ContinuousClock.now - began > .seconds(60) ? 1 : failures + 1
            }
            let most = min(30_000, 50 << min(failures, 10))
            try? await Task.sleep(for: .milliseconds(Int.random(in: most / 2...most)))
        }
    }

    /// Has something told each time that the report changes.
    package func observe(_ observer: @escaping @Sendable (Report) -> Void) { self.observer = observer }

    package static func reason(_ error: any Error) -> String {
        (error as? EtcdError)?.description ?? (error as? VaultError)?.description ?? "\(error)"
    }

    private func serve(_ bell: Bell) async throws {
        let areas = try await begin()
        guard !areas.isEmpty else {
            // The circle that this vault was invited to is not in etcd yet.
            report.problem = nil
            try await Task.sleep(for: .seconds(2))
            throw EtcdError.beginAgain
        }
        try await catchUpAll(areas)
        try await push(isCaughtUp: true)
        guard try await areasOf(collect(limit: 0).state) == areas else { throw EtcdError.beginAgain }
        lookAgainLater(bell)
        report.problem = nil
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.watch(areas, bell) }
            group.addTask {
                while true {
                    await bell.wait()
                    try Task.checkCancellation()
                    try await self.push()
                    guard try await self.isWatching(areas) else { throw EtcdError.beginAgain }
                    await self.lookAgainLater(bell)
                }
            }
            group.addTask {
                try await Task.sleep(for: .seconds(3))
                try await self.checkBegun(areas.count)
                while true {
                    try await Task.sleep(for: self.silence)
                    try await self.lookAfterSilence()
                }
            }
            try await group.next()
        }
    }

    var heard = ContinuousClock.now

    private func lookAfterSilence() async throws {
        guard ContinuousClock.now - heard >= silence else { return }
        guard await gateway.isHealthy() else {
            throw EtcdError.unreachable(endpoint: await gateway.endpoint, reason: "no data, and no answer from /health")
        }
        hear()
    }

    /// How often the same node is asked again when it loses watches.
    private static let mostLostWatches = 5

    private func checkBegun(_ count: Int) async throws {
        if begun.isSuperset(of: 0..<count) {
            lostWatches = 0
            return
        }
        lostWatches += 1
        guard lostWatches > Self.mostLostWatches else { throw EtcdError.beginAgain }
        throw EtcdError.unavailable(
            endpoint: await gateway.endpoint, reason: "\(begun.count) of \(count) watches began")
    }

    func hear() {
        heard = .now
        report.answered = Date()
    }

    // MARK: Beginning

    /// Learns what the vault wants, and whether the store is the one that it was.
    ///
    /// - Returns: What is to be read.
    private func begin() async throws -> [EtcdKeys.Area] {
        let state = try await collect(limit: 0).state
        (report.standing, member) = (state.standing, state.member)
        if state.standing == .none { throw EtcdError.noCircle }
        restore(state.place)
        // A read of a key: what a node says of its own state may be older than what the cluster decided.
        let status = try await gateway.range(EtcdRange(key: Data(EtcdKeys.root.utf8), keys_only: true)).header
        report.endpoint = await gateway.endpoint
        hear()
        if state.standing == .joining, state.circle == nil {
            try await findCircle()
            return try await begin(after: try await collect(limit: 0).state, status)
        }
        return try await begin(after: state, status)
    }

    private func begin(after state: CollectedObjects, _ status: EtcdHeader?) async throws -> [EtcdKeys.Area] {
        if state.place == nil, !place.revisions.isEmpty { restore(nil) }
        let cluster = status?.cluster ?? 0
        if place.cluster != 0 {
            let isAnother = place.cluster != cluster
            let wentBack = (status?.number ?? 0) < place.last
            if isAnother {
                startAnew("is another cluster than before")
            } else if wentBack {
                startAnew("went back to an older state, as after a restored backup")
            } else if isEmptied {
                try await fillAgain()
            } else if try await !witnessIsThere() {
                startAnew("lost what this machine wrote")
            }
        }
        place.cluster = cluster
        return areasOf(state)
    }

    /// Writes everything anew, and no more often than once a minute: somebody may remove it again and again.
    private func fillAgain() async throws {
        if let filledAgain, ContinuousClock.now - filledAgain < .seconds(60) {
            throw EtcdError.unavailable(
                endpoint: await gateway.endpoint, reason: "somebody removes what the members write, again and again")
        }
        (filledAgain, isEmptied) = (.now, false)
        startAnew("lost what members wrote: somebody removed it")
    }

    /// Reads everything once more, and writes everything that the vault holds.
    private func startAnew(_ reason: String) {
        report.alarm("etcd \(reason): everything is read and written anew")
        place = EtcdPlace()
        written = []
        (obstacles, caughtUp) = (EtcdObstacles(), 0)
        isStartingAnew = true
    }

    private func witnessIsThere() async throws -> Bool {
        guard let witness = place.witness else { return true }
        guard let entry = try await gateway.range(EtcdRange(key: witness.key)).kvs?.first else {
            guard try await newerVersions(than: witness.key) >= Self.versionsKept else { return false }
            // A member removed it, because newer versions took its place.
            place.witness = nil
            return true
        }
        return entry.changed == witness.revision
            && EtcdPlace.Witness(key: entry.key, revision: entry.changed, value: entry.value ?? Data()) == witness
    }

    func newerVersions(than key: Data) async throws -> Int {
        guard let area = EtcdKeys.versions(ofItemAt: key) else { return 0 }
        let range = EtcdRange(key: key + [0], range_end: area.end, keys_only: true)
        return try await gateway.range(range).kvs?.count ?? 0
    }

    /// Goes on where the vault says: what failed on its way to the vault is read again.
    private func restore(_ data: Data?) {
        stored = data
        place = data.map(EtcdPlace.init(decoding:)) ?? EtcdPlace()
    }

    func areasOf(_ state: CollectedObjects) -> [EtcdKeys.Area] {
        guard let circle = state.circle else { return [] }
        let keys = EtcdKeys(circle: circle)
        // A vault that is no member yet learns from the log whether it is one.
        return state.standing == .member
            ? keys.areas(ofMember: state.member, views: state.views, lastMember: state.lastMember)
            : [keys.beginning]
    }

    private func isWatching(_ areas: [EtcdKeys.Area]) async throws -> Bool {
        let state = try await collect(limit: 0).state
        report.standing = state.standing
        // The vault forgets the place when it gets new keys: then everything is read again.
        if state.standing == .member, state.place == nil, stored != nil { return false }
        return areasOf(state) == areas
    }

    /// Gives a vault that was invited the logs of the circles in the cluster, one after another.
    private func findCircle() async throws {
        var key = Data(EtcdKeys.root.utf8)
        let end = EtcdKeys.Area(below: key).end
        while true {
            let request = EtcdRange(key: key, range_end: end, limit: EtcdNumber(1), keys_only: true)
            guard let found = try await gateway.range(request).kvs?.first else { return }
            let following = try await next(found, after: key)
            guard let circle = EtcdKeys.circle(in: found.key) else {
                key = following
                continue
            }
            let keys = EtcdKeys(circle: circle)
            let area = keys.beginning
            var (from, limit) = (area.begin, Self.page)
            while true {
                let page: EtcdRange.Reply
                (page, limit) = try await readPage(EtcdRange(key: from, range_end: area.end), limit: limit)
                try await apply(page.kvs ?? [], keys)
                guard page.more == true, let last = page.kvs?.last else { break }
                from = try await next(last, after: from)
            }
            if try await collect(limit: 0).state.circle != nil { return }
            key = EtcdKeys.Area(below: Data((EtcdKeys.root + circle.hexadecimal() + "/").utf8)).end
        }
    }

    /// How many keys are asked for at once, and how many at least if an answer is too long. An entry of etcd has
    /// 1.5 MiB at most, so that an answer with the least number is never too long.
    static let page: Int64 = 1_000
    static let leastPage: Int64 = 15

    // MARK: The vault

    /// The vault's calls wait for disks and other threads, so they are made on threads of their own.
    ///
    /// - Parameter statement: What is to be said to the others; nil to be told nothing of them.
    func collect(
        limit: Int = CircleObject.most, isCaughtUp: Bool = false, statement: Data? = nil
    ) async throws -> (objects: [CircleObject], state: CollectedObjects) {
        let (vault, client, settled, isAnew) = (vault, client, settled, isStartingAnew && limit > 0)
        let place = settled > 0 ? place.encoded : nil
        let found = try await NIOThreadPool.singleton.runIfActive {
            var objects: [CircleObject] = []
            let state = try vault.perform(
                CollectCircleObjects(
                    for: Self.name, settled: settled, limit: limit, isAnew: isAnew, isCaughtUp: isCaughtUp,
                    place: place, statement: statement),
                as: client
            ) { object throws(VaultError) in objects.append(object) }
            return (objects, state)
        }
        if settled == self.settled { self.settled = 0 }
        if isAnew { isStartingAnew = false }
        return found
    }

    @discardableResult
    func take(_ objects: [CircleObject], place: Data?) async throws -> TakenObjects {
        let (vault, client) = (vault, client)
        let taken = try await NIOThreadPool.singleton.runIfActive {
            try vault.perform(
                TakeCircleObjects(objects, from: Self.name, place: place, isDecided: true), as: client)
        }
        report.add(taken)
        if let place { stored = place }
        return taken
    }

    /// Has the vault keep the place.
    func store() async throws { try await take([], place: place.encoded) }
}

/// Wakes a task for what happened since it looked last; several times count as one.
actor Bell {
    private var hasRung = false
    private var waiting: CheckedContinuation<Void, Never>?

    func ring() {
        if let waiting {
            self.waiting = nil
            waiting.resume()
        } else {
            hasRung = true
        }
    }

    /// Waits for the next ring, or until the task is cancelled.
    func wait() async {
        guard !hasRung else {
            hasRung = false
            return
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                waiting?.resume()
                waiting = continuation
            }
        } onCancel: {
            Task { await self.ring() }
        }
    }
}
#endif
