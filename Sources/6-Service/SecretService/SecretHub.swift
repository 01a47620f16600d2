import CLibrary
import Connections
import KeychainModel
import Synchronization
import SystemBus
import VaultService

/// What all programs of one service share: the signals that each of them causes for the others, whether the vault is
/// locked, and the items in memory.
package final class SecretHub: Sendable {
    private struct State {
        var mailboxes: [ObjectIdentifier: Mailbox] = [:]
        var lastNumber = 0
        /// The collections that programs know, by their access groups.
        var collections: [String: Set<String>] = [:]
        var lockChanges = 0
    }

    private let state = Mutex(State())
    private let lockState: @Sendable () -> LockState
    let memory = SessionItems()
    /// Whether others lock and unlock the vault.
    let isOfSharedVault: Bool
    /// How long a program waits for somebody to unlock the vault, at most.
    let patience: Duration
    private let report: @Sendable (String) -> Void
    private let unlocking = Mutex<UnlockWait.Place?>(nil)
    /// When programs were last reported.
    private let reports = Mutex<[String: ContinuousClock.Instant]>([:])
    /// When programs last waited in vain, and how long that counts.
    private let endedWaits = Mutex<[String: ContinuousClock.Instant]>([:])
    private static let respite = Duration.seconds(2)
    /// The most programs that are reported in a minute, each once: a program may ask without end, and the log is for
    /// all.
    private static let mostReports = 60
    /// The most collections of an access group of whose lock programs are told, so that no program uses up all.
    private static let mostCollections = 100

    /// Makes the state for a vault that asks for its passcode itself. No object is ever shown as locked.
    package init() { (isOfSharedVault, patience, lockState, report) = (false, .zero, { .unlocked }, { _ in }) }

    /// A service of a vault that others lock and unlock.
    ///
    /// - Parameters:
    ///   - unlocking: The vault's.
    ///   - lockState: The vault's, at the time of the call.
    ///   - report: Told of each program that waits for somebody to unlock the vault.
    package init(
        _ unlocking: UnlockWait, lockState: @escaping @Sendable () -> LockState, patience: Duration,
        report: @escaping @Sendable (String) -> Void
    ) {
        (isOfSharedVault, self.patience, self.lockState, self.report) = (true, patience, lockState, report)
        let place = unlocking.place { [weak self] in self?.tellLockChange() }
        self.unlocking.withLock { $0 = place }
    }

    /// Lets programs that keep a collection's properties read them again, and prompts end.
    private func tellLockChange() {
        let collections = state.withLock { state in
            state.lockChanges += 1
            return state.collections
        }
        let isLocked = isLocked
        for (group, id) in collections.flatMap({ group, ids in ids.map { (group, $0) } }) {
            let path = SecretPath.collection(id)
            post(.changed(path, ["Locked": .boolean(isLocked)], read: ["Items"]), of: group)
            post(SentSignal("CollectionChanged", of: .service, [.object(path)]), of: group)
        }
        for mailbox in mailboxes() { mailbox.put(.lockChange) }
    }

    /// How often the vault was locked or unlocked.
    var lockChanges: Int { state.withLock(\.lockChanges) }

    /// Has the programs with `group` told when the collection is locked or unlocked.
    func remember(_ collection: String, of group: String) {
        guard isOfSharedVault, collection != SecretStore.sessionCollection else { return }
        state.withLock { state in
            guard state.collections[group, default: []].count < Self.mostCollections else { return }
            state.collections[group, default: []].insert(collection)
        }
    }

    var isLocked: Bool { lockState() != .unlocked }

    /// Returns a number that no other object of the service has in its path.
    func number() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    func add(_ mailbox: Mailbox) { state.withLock { $0.mailboxes[ObjectIdentifier(mailbox)] = mailbox } }

    func remove(_ mailbox: Mailbox) { state.withLock { $0.mailboxes[ObjectIdentifier(mailbox)] = nil } }

    /// Says that nobody unlocked the vault for a program in time.
    func gaveUp(_ program: String, now: ContinuousClock.Instant = .now) {
        endedWaits.withLock { ended in
            ended = ended.filter { now - $0.value < Self.respite }
            if ended.count < Self.mostReports { ended[program] = now }
        }
    }

    /// Whether a program has waited in vain a moment ago, so that it does not wait again for each of many secrets.
    func hasGivenUp(_ program: String, now: ContinuousClock.Instant = .now) -> Bool {
        endedWaits.withLock { $0[program].map { now - $0 < Self.respite } ?? false }
    }

    /// Says that a program waits for somebody to unlock the vault.
    func waits(_ program: String, now: ContinuousClock.Instant = .now) {
        let isTold = reports.withLock { reports in
            reports = reports.filter { now - $0.value < .seconds(60) }
            guard reports[program] == nil, reports.count < Self.mostReports else { return false }
            reports[program] = now
            return true
        }
        if isTold { report(program) }
    }

    /// Sends a signal to each program that may list `group`.
    func post(_ signal: SentSignal, of group: String) {
        for mailbox in mailboxes() where mailbox.sees(group) { mailbox.put(.signal(signal)) }
    }

    private func mailboxes() -> [Mailbox] { state.withLock { Array($0.mailboxes.values) } }
}

/// What one connection has to send besides answers.
final class Mailbox: Sendable {
    enum Message: Sendable {
        /// A signal for all who listen. A program that does not read may lose it.
        case signal(SentSignal)
        /// A signal that one program waits for.
        case awaited(SentSignal)
        case lockChange

        var isLockChange: Bool { if case .lockChange = self { true } else { false } }
        var mayBeLost: Bool { if case .signal = self { true } else { false } }
    }

    private struct State {
        var messages: [Message] = []
        /// The access groups that the program may list.
        var groups: Set<String> = []
        /// Whether the program wants signals.
        var isOpen = false
    }

    private let state = Mutex(State())
    /// Rings when there is something.
    let bell: Bell
    /// The most signals for all who listen. One more takes the place of the oldest.
    private static let most = 1000

    init(_ bell: Bell = Bell()) { self.bell = bell }

    func sees(_ group: String) -> Bool { state.withLock { $0.isOpen && $0.groups.contains(group) } }

    func setGroups(_ groups: [String]) { state.withLock { $0.groups = Set(groups) } }

    func open() { state.withLock { $0.isOpen = true } }

    /// Adds something to send.
    func put(_ message: Message) {
        state.withLock { state in
            if message.isLockChange, state.messages.contains(where: \.isLockChange) { return }
            if message.mayBeLost, state.messages.count >= Self.most,
                let oldest = state.messages.firstIndex(where: \.mayBeLost)
            {
                state.messages.remove(at: oldest)
            }
            state.messages.append(message)
        }
        wake()
    }

    func wake() { bell.ring() }

    /// Has the bell ring only for what comes later.
    func beginTaking() { bell.silence() }

    /// Takes the oldest message. Call ``beginTaking()`` before the first one.
    func take() -> Message? { state.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() } }

    var isEmpty: Bool { state.withLock(\.messages.isEmpty) }
}

extension SentSignal {
    /// A signal of an object's own interface.
    init(_ member: String, of object: SecretPath, _ values: [BusArgument]) {
        self.init(path: object.text, interface: object.interface.rawValue, member: member, values: values)
    }

    /// The signal for programs that keep the properties of an object.
    ///
    /// - Parameters:
    ///   - values: Properties that have changed.
    ///   - names: Properties that the programs should read again.
    static func changed(
        _ object: SecretPath, _ values: [String: BusArgument] = [:], read names: [String]
    ) -> SentSignal {
        SentSignal(
            path: object.text, interface: SecretInterface.properties.rawValue, member: "PropertiesChanged",
            values: [
                .string(object.interface.rawValue),
                .array(of: "{sv}", values.map { .entry(.string($0.key), .variant($0.value)) }),
                .array(of: "s", names.map { .string($0) }),
            ])
    }
}
