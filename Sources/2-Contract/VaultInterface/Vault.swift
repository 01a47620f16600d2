import Access
import KeychainModel

/// A keychain: the one interface between Apple's names, the Swift API and the command line above,
/// and the engine or its client below.
///
/// What a vault can be asked for is a type in `Operations/`, listed in ``OperationCode`` and ``VaultEngine``. Each
/// operation names the client it runs for and passes the vault's one gate, which decides and records. Operations are
/// synchronous and may be called from any thread. A change is one transaction: another thread or process sees all of it
/// or nothing. Only a daemon divides long work: it sends a long list in slices, between which others may change items,
/// and it deletes more than 1,000 items in several transactions.
package protocol Vault: AnyObject, Sendable {
    /// Performs an operation on behalf of `client`.
    ///
    /// - Parameter send: Takes each part of the answer, in order. What it throws ends the operation.
    func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply

    /// Returns a stream with an element after each change by this process or, within a second, another one.
    ///
    /// - Parameter audience: Called for each change; decides whether the stream tells of it. A daemon decides itself
    ///   what it tells a client of.
    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange>

    /// Returns a stream of what happens to the lock: first how it is now, then each change.
    ///
    /// A vault in this process tells of its own lock. A daemon tells of the one that all of its clients share. When the
    /// daemon is gone for more than a few seconds, its keys are gone too, and the stream says ``LockEvent/locked``.
    func lockEvents() -> AsyncStream<LockEvent>

    /// Calls `tell` for each locking, until the last reference to the observation goes.
    ///
    /// - Parameter tell: If the vault is in this process, it is called before the operation that locks returns; it may
    ///   not wait then, and not call the vault. If a daemon has the vault, it is called a moment later on another
    ///   thread, and the vault may be unlocked again.
    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation
}

extension Vault {
    /// Returns a stream with an element after each change, whatever it touches.
    package func changes() -> AsyncStream<VaultChange> { changes { .everyone } }

    /// Returns a stream of the occasions to read the vault again: an element after each change to it, by this or
    /// another process, and after each unlocking.
    ///
    /// Several at once may come as one element. Of a vault that is unlocked now, the first comes at once. The stream
    /// is for one consumer. It ends when its task is canceled, and when the vault tells of no more changes.
    package func occasions() -> AsyncStream<Void> {
        let (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Listening begins here and not in the tasks, so that nothing is missed before they run.
        let (changes, lockEvents) = (changes(), lockEvents())
        let tasks = [
            Task {
                for await _ in changes { occasion.yield() }
                occasion.finish()
            },
            Task {
                for await event in lockEvents where event == .unlocked { occasion.yield() }
            },
        ]
        occasion.onTermination = { _ in
            for task in tasks { task.cancel() }
        }
        return occasions
    }

    /// Performs an operation that sends nothing before its reply.
    @discardableResult
    package func perform<Operation: UnaryOperation>(
        _ operation: Operation, as client: Client
    ) throws(VaultError) -> Operation.Reply {
        try perform(operation, as: client) { (_: Never) throws(VaultError) in }
    }
}

/// The state of a vault.
package struct VaultStatus: Sendable, Equatable {
    /// Nil for a vault in memory, and for a client that may neither unlock nor administer.
    package var path: String?
    package var enclave: String
    package var lockState: LockState
    package var isPasscodeSet: Bool
    /// Whether a daemon serves the vault, so that its lock state is that of all programs.
    package var isShared: Bool = false
    /// How many wrong passcodes were given since the last right one; 0 for a client that may neither unlock nor
    /// administer.
    package var failedAttempts: Int = 0
    /// Until when no passcode is looked at: seconds from now, 0 for not at all, and for such a client.
    package var retryAfter: Int = 0
    /// The number of items of each class that the client may see, tombstones excluded.
    package var itemCounts: [ItemClass: Int]
    package var formatVersion: Int
    package var recoveryKey: RecoveryKeyState = .undisclosed

    package init(
        path: String?, enclave: String, lockState: LockState, isPasscodeSet: Bool, itemCounts: [ItemClass: Int],
        formatVersion: Int
    ) {
        self.path = path
        self.enclave = enclave
        self.lockState = lockState
        self.isPasscodeSet = isPasscodeSet
        self.itemCounts = itemCounts
        self.formatVersion = formatVersion
    }
}

/// Whether a vault has a recovery key.
package enum RecoveryKeyState: Sendable, Equatable {
    /// Only those who may administer the whole vault are told.
    case undisclosed
    case absent
    /// The time is that of the file that the key opens. A copy of the folder may have another one.
    case made(secondsSince1970: Int)
}

/// The outcome of ``VerifyItems``.
package struct IntegrityReport: Sendable, Equatable {
    package var validItems: Int
    /// Items whose class key is locked, which could not be checked, and those whose value an application password or
    /// the enrolment seals, of which only the attributes could.
    package var lockedItems: Int
    /// One line for each thing that is broken; no attribute or value.
    package var problems: [String]

    package init(validItems: Int, lockedItems: Int, problems: [String]) {
        self.validItems = validItems
        self.lockedItems = lockedItems
        self.problems = problems
    }
}

/// A change to a vault.
package struct VaultChange: Sendable, Equatable {
    package enum Origin: Sendable { case thisProcess, anotherProcess }
    package var origin: Origin

    package init(origin: Origin) { self.origin = origin }
}

/// Decides which changes an observer of a vault learns of.
package struct ChangeAudience: Sendable, Equatable {
    /// The access groups whose changes it learns of.
    package var groups: GroupScope
    /// Whether it learns of changes whose groups are unknown, because another process made them.
    package var learnsOfUnknown: Bool

    package init(groups: GroupScope, learnsOfUnknown: Bool) {
        self.groups = groups
        self.learnsOfUnknown = learnsOfUnknown
    }

    /// An observer that learns of all changes.
    package static let everyone = ChangeAudience(groups: .every, learnsOfUnknown: true)
    /// An observer that learns of none.
    package static let nobody = ChangeAudience(groups: .only([]), learnsOfUnknown: false)
}
