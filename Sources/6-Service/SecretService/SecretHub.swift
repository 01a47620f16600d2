import CLibrary
import KeychainModel
import Synchronization
import SystemBus
import SystemLibraries
import VaultInterface

/// What all programs of one service share: the signals that each of them causes for the others, whether the vault is
/// locked, and the items in memory.
package final class SecretHub: Sendable {
    private struct State {
        var mailboxes: [ObjectIdentifier: Mailbox] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let lockState: @Sendable () -> LockState
    let memory = SessionItems()
    /// Whether others lock and unlock the vault.
    let isOfSharedVault: Bool
    /// How long a program waits for somebody to unlock the vault.
    let patience: Duration
    private let report: @Sendable (String) -> Void
    /// When the last reports were made.
    private let reports = Mutex<[ContinuousClock.Instant]>([])
    /// The most reports in a minute: a program may ask without end, and the log is for all.
    private static let mostReports = 10

    /// A service whose vault asks for its passcode when a secret is read, so that nothing is locked for a program.
    package init() { (isOfSharedVault, patience, lockState, report) = (false, .zero, { .unlocked }, { _ in }) }

    /// A service of a vault that others lock and unlock.
    ///
    /// - Parameters:
    ///   - lockState: The vault's, at the time of the call.
    ///   - report: Told of each program that waits for somebody to unlock the vault.
    package init(
        of vault: any Vault, lockState: @escaping @Sendable () -> LockState, patience: Duration,
        report: @escaping @Sendable (String) -> Void
    ) {
        (isOfSharedVault, self.patience, self.lockState, self.report) = (true, patience, lockState, report)
        let events = vault.lockEvents()
        Task { [weak self] in
            for await event in events where event != .willLock {
                guard let self else { return }
                for mailbox in mailboxes() { mailbox.put(.lockChange) }
            }
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

    /// Says that a program waits for somebody to unlock the vault.
    func waits(_ program: String, now: ContinuousClock.Instant = .now) {
        let isTold = reports.withLock { reports in
            reports.removeAll { now - $0 > .seconds(60) }
            guard reports.count < Self.mostReports else { return false }
            reports.append(now)
            return true
        }
        if isTold { report(program) }
    }

    /// Sends a signal to those who may see what is in `group`.
    func post(_ signal: SentSignal, of group: String) {
        for mailbox in mailboxes() where mailbox.sees(group) { mailbox.put(.signal(signal)) }
    }

    private func mailboxes() -> [Mailbox] { state.withLock { Array($0.mailboxes.values) } }
}

/// What one connection has to send besides answers.
final class Mailbox: Sendable {
    enum Message: Sendable {
        case signal(SentSignal)
        case lockChange
    }

    private struct State {
        var messages: [Message] = []
        /// The access groups that the program may list.
        var groups: Set<String> = []
        /// Whether the program wants signals.
        var isOpen = false
    }

    private let state = Mutex(State())
    /// Readable when there is something.
    let descriptor: Int32
    /// A program that does not read loses the oldest.
    private static let most = 1000

    init() {
        // The overlay does not have the header sys/eventfd.h. EFD_CLOEXEC and EFD_NONBLOCK are the flags of open(2).
        let make: (@convention(c) (UInt32, Int32) -> Int32)? = libraryFunction("eventfd")
        descriptor = make?(0, O_CLOEXEC | O_NONBLOCK) ?? -1
    }

    deinit { close(descriptor) }

    func sees(_ group: String) -> Bool { state.withLock { $0.isOpen && $0.groups.contains(group) } }

    func setGroups(_ groups: [String]) { state.withLock { $0.groups = Set(groups) } }

    func open() { state.withLock { $0.isOpen = true } }

    func put(_ message: Message) {
        state.withLock { state in
            if state.messages.count >= Self.most { state.messages.removeFirst() }
            state.messages.append(message)
        }
        wake()
    }

    func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func takeAll() -> [Message] {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
        return state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }
}
