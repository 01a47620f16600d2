import Access
import Dispatch
import Enclave
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import SecureMemory
import Synchronization
import SystemLibraries
import VaultInterface

/// The vault engine in the caller's process: it takes every decision about items.
///
/// Any number of threads may call it, and any number of processes may have the same folder open: a
/// write is one SQLite transaction, a search one statement.
package final class EmbeddedVault: Vault {
    let store: ItemStore
    let gate: AccessGate
    let authenticator: (any Authenticator)?
    let now: @Sendable () -> Date
    /// Nil for a vault in memory.
    let folder: VaultFolder?
    let notifier: ChangeNotifier
    let lockNotifier: LockNotifier
    let contexts = AuthenticationContexts()
    /// The cost of stretching the application password of a new item. Tests lower it.
    package let passwordCost = Mutex(Argon2id.Cost.applicationPassword)
    let passcodeGuard: PasscodeGuard
    /// Held while a passcode is checked. A try is counted before it is known to be right, so tries at the same time
    /// would add up to too many.
    let passcodeTurn = DispatchSemaphore(value: 1)
    /// In memory only: a program that can restart the process that serves the vault can also read its folder, and guess
    /// the passcode there.
    let answers = Mutex(AnswerBudget())
    let bootClock: BootClock
    let pendingLock = Mutex(PendingLock())
    /// Calls its closure when a grace is over. Tests replace it, to decide when that is.
    package let afterGrace = Mutex<@Sendable (Duration, @escaping @Sendable () -> Void) -> Void> { grace, lock in
        let seconds = Double(grace.components.seconds) + Double(grace.components.attoseconds) / 1e18
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: lock)
    }
    private let storeFile: FileIdentity?
    private let opened: Mutex<OpenedKeybag>

    private init(
        store: ItemStore, keybag: OpenedKeybag, folder: VaultFolder?, authenticator: (any Authenticator)?,
        audit: any AuditSink, bootClock: BootClock, now: @escaping @Sendable () -> Date
    ) throws {
        self.store = store
        self.folder = folder
        self.authenticator = authenticator
        self.now = now
        gate = AccessGate(audit: audit)
        opened = Mutex(keybag)
        storeFile = try folder.map { try $0.folder.identity(of: VaultFolder.storeName) }
        notifier = ChangeNotifier()
        lockNotifier = LockNotifier(keybag.keys.lockState)
        self.bootClock = bootClock
        passcodeGuard = PasscodeGuard(folder: folder?.folder, clock: bootClock)
        beginAudit()
    }

    /// The vault in the folder at `path`; made if there is none.
    ///
    /// - Parameters:
    ///   - kind: The kind of enclave of the vault; nil for the vault's present kind, or for software in a new vault.
    ///   - detectsRollback: Whether a new vault refuses a keybag that is older than the last; takes an enclave with
    ///     counters.
    ///   - enclaves: Where the enclaves of this machine are.
    /// - Throws: ``VaultError/unusableVault(reason:)`` and its like, each with what to do. Nothing is
    ///   ever replaced to get going.
    package static func open(
        at path: String, in kind: EnclaveKind? = nil, detectsRollback: Bool = false,
        enclaves: EnclavePlace = .environment,
        authenticator: (any Authenticator)? = nil, audit: any AuditSink = NoAudit(),
        bootClock: BootClock = .system, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(VaultError) -> EmbeddedVault {
        do {
            let (folder, keybag, store) = try VaultFolder.open(
                at: path, in: kind, detectsRollback: detectsRollback, enclaves: enclaves)
            return try EmbeddedVault(
                store: store, keybag: keybag, folder: folder, authenticator: authenticator, audit: audit,
                bootClock: bootClock, now: now)
        } catch {
            throw VaultError(error)
        }
    }

    /// Returns a vault in memory, which ends with this object.
    package static func inMemory(
        keys: ClassKeys, authenticator: (any Authenticator)? = nil, audit: any AuditSink = NoAudit(),
        bootClock: BootClock = .system, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(VaultError) -> EmbeddedVault {
        do {
            let store = try ItemStore.inMemory()
            try store.create(for: keys.keybag.identifier)
            return try EmbeddedVault(
                store: store, keybag: OpenedKeybag(keys), folder: nil, authenticator: authenticator, audit: audit,
                bootClock: bootClock, now: now)
        } catch {
            throw VaultError(error)
        }
    }

    /// Runs `body` on a connection, with the keys that the rows are sealed under.
    func reading<Result>(
        for authorization: Authorization, _ body: (ItemStore.Reader, OpenedKeybag) throws -> Result
    ) throws -> Result {
        let keybag = currentKeybag
        do {
            return try readingOnce(authorization, body)
        } catch KeybagError.locked(let protection) {
            // Another program may have taken the passcode away.
            try takeOverChangedKeybag()
            guard currentKeybag !== keybag else { throw KeybagError.locked(protection) }
            return try readingOnce(authorization, body)
        }
    }

    private func readingOnce<Result>(
        _ authorization: Authorization, _ body: (ItemStore.Reader, OpenedKeybag) throws -> Result
    ) throws -> Result {
        try retrying { keybag in
            try store.read(for: authorization, under: keybag.identifier) { try body($0, keybag) }
        }
    }

    /// Runs `body` in a transaction that is durable when this returns.
    func writing<Result>(
        for authorization: Authorization, _ body: (ItemStore.Writer, OpenedKeybag) throws -> Result
    ) throws -> Result {
        let result = try retrying { keybag in
            try checkStoreIsInPlace()
            try checkKeybagIsCurrent(keybag)
            return try store.write(for: authorization, under: keybag.identifier) { try body($0, keybag) }
        }
        notifier.changed(.thisProcess)
        return result
    }

    /// Runs `body` again with fresh keys when another process has erased the vault since it was opened.
    private func retrying<Result>(_ body: (OpenedKeybag) throws -> Result) throws -> Result {
        for _ in 0..<Self.mostErasesMet {
            do {
                return try body(currentKeybag)
            } catch StoreError.otherKeybag {
                try reloadKeybag()
            }
        }
        throw VaultError.busy
    }

    /// The number of erases by other processes after which an operation gives up.
    private static let mostErasesMet = 20

    var currentKeybag: OpenedKeybag { opened.withLock { $0 } }

    /// Tells the observers of the lock, after it may have changed.
    func tellLockState() { lockNotifier.tell { currentKeybag.keys.lockState } }

    func replaceKeybag(_ keybag: OpenedKeybag) {
        let former = opened.withLock { opened in
            defer { opened = keybag }
            return opened.identifier
        }
        if former != keybag.identifier { lockNotifier.tellOfErasing() }
        // A person who was shown to be there before a change of the passcode or an erase does not count afterwards.
        contexts.forgetGrants()
        tellLockState()
    }

    /// Reads the keybag again that another process has replaced, and completes that process's erase if it did not get
    /// to the rows.
    private func reloadKeybag() throws {
        guard let folder else { return }
        try folder.folder.withLock {
            let keybag = try folder.openKeybag()
            try folder.checkOwner(of: store, keybag.keys.keybag)
            let previous = currentKeybag
            if previous.identifier == keybag.identifier { keybag.keys.inherit(from: previous.keys) }
            replaceKeybag(keybag)
        }
    }

    /// Continues with the present keybag if another program has replaced it, for example to change the passcode.
    func takeOverChangedKeybag() throws {
        do {
            try checkKeybagIsCurrent(currentKeybag)
        } catch StoreError.otherKeybag {
            try reloadKeybag()
        }
    }

    /// Checks that no other process has replaced the keybag.
    ///
    /// If an erase died between keys and rows, the next program that opens the vault completes it. Rows that were
    /// written with the old keys until then would be lost.
    func checkKeybagIsCurrent(_ keybag: OpenedKeybag) throws {
        guard let folder, let file = keybag.file else { return }
        guard try folder.folder.version(of: VaultFolder.keybagName) == file else { throw StoreError.otherKeybag }
    }

    /// A folder that was moved away or replaced while open would swallow what is written to it.
    func checkStoreIsInPlace() throws {
        guard let folder, let storeFile else { return }
        guard let present = try? folder.folder.identity(of: VaultFolder.storeName), present == storeFile else {
            throw VaultError.unusableVault(
                reason: "\(folder.folder.path) was moved or replaced while in use; start the program again")
        }
    }
}
