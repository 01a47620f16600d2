import Access
import Bytes
import CLibrary
import Enclave
import Items
import Keybag
import PrivateFiles
import VaultInterface

/// The keys and the rows of an open vault, which belong together: while it is open, nothing else replaces the keys, and
/// nothing else reads or writes rows.
///
/// Any number of threads may call it, and any number of processes may have the same folder open: a
/// write is one SQLite transaction, a search one statement.
final class OpenedVault: Sendable {
    /// Nil for a vault in memory.
    let folder: VaultFolder?
    let lockNotifier: LockNotifier
    /// They end with the keys that they were granted for.
    let contexts = AuthenticationContexts()
    private let opened: UnfairMutex<Opened>
    /// Which folder it is: its files may get others in their place, with other keys, but another folder is another
    /// vault.
    private let folderIdentity: FileIdentity?
    let changeNotifier = ChangeNotifier()
    /// When the keybag last learned how far the item store has come; see ``KeyChange``.
    let noted = UnfairMutex<ContinuousClock.Instant?>(nil)

    /// The keys and the rows that are sealed under them.
    private struct Opened {
        let keybag: OpenedKeybag
        let store: ItemStore
        /// The file of the store; nil for a vault in memory.
        let file: NamedFile?

        init(_ store: ItemStore, _ keybag: OpenedKeybag, in folder: VaultFolder?) throws {
            (self.store, self.keybag) = (store, keybag)
            file = try folder.map {
                try NamedFile($0.folder.path(of: VaultFolder.storeName(of: keybag.identifier)))
            }
        }
    }

    /// - Parameter folder: The folder of the two; nil for a vault in memory.
    init(_ store: ItemStore, _ keybag: OpenedKeybag, in folder: VaultFolder?) throws {
        self.folder = folder
        folderIdentity = try folder.map { try $0.folder.identity }
        opened = UnfairMutex(try Opened(store, keybag, in: folder))
        lockNotifier = LockNotifier(keybag.keys.lockState)
    }

    /// Returns a vault in memory, which ends with this object.
    static func inMemory(_ keys: ClassKeys) throws -> OpenedVault {
        let store = try ItemStore.inMemory()
        try store.create(for: keys.keybag.identifier)
        return try OpenedVault(store, OpenedKeybag(keys), in: nil)
    }

    /// Closes the files. The vault cannot be used afterwards.
    func close() {
        let (keybag, store) = opened.withLock { ($0.keybag, $0.store) }
        keybag.keys.enclave.close()
        let log = VaultFolder.storeName(of: keybag.identifier) + "-wal"
        let logSize = (try? folder?.folder.size(of: log)) ?? 0
        if logSize > Self.largestLogLeft { return store.abandon() }
        // A store that only reads holds nothing that the end of the process does not release.
        if store.hasWritten { try? store.close() }
    }

    /// The most bytes of the write-ahead log that a program that only read may leave. Reading them costs less than a
    /// checkpoint.
    private static let largestLogLeft = 1 << 16

    // MARK: Keys

    var keybag: OpenedKeybag { opened.withLock { $0.keybag } }

    var keys: ClassKeys { keybag.keys }

    /// The rows and the keys that they are sealed under.
    var storeAndKeys: (ItemStore, ClassKeys) { opened.withLock { ($0.store, $0.keybag.keys) } }

    var store: ItemStore { storeAndKeys.0 }

    /// Replaces the keys.
    var keyChange: KeyChange { KeyChange(vault: self) }

    /// Looks after the rows.
    var upkeep: StoreUpkeep { StoreUpkeep(vault: self) }

    /// Runs `body` with the keys of the vault. Runs it again with the new ones if another process has replaced them
    /// since.
    func withKeybag<Result>(_ body: (OpenedKeybag) throws -> Result) throws -> Result {
        try withOpened { try body($0.keybag) }
    }

    private func withOpened<Result>(_ body: (Opened) throws -> Result) throws -> Result {
        for _ in 0..<Self.mostReplacementsMet {
            let opened = opened.withLock { $0 }
            do {
                return try body(opened)
            } catch StoreError.otherKeybag {
                try reloadKeybag()
            } catch KeybagError.locked(let protection) {
                // Another program may have taken the passcode away.
                try takeOverChangedKeybag()
                guard self.keybag !== opened.keybag else { throw KeybagError.locked(protection) }
            }
        }
        throw VaultError.busy
    }

    /// The number of replacements by other processes after which an operation gives up.
    private static let mostReplacementsMet = 20

    /// Continues with the present keybag if another program has replaced it, for example to change the passcode.
    func takeOverChangedKeybag() throws {
        do {
            try checkIsCurrent(keybag)
        } catch StoreError.otherKeybag {
            try reloadKeybag()
        }
    }

    /// Checks that no other process has replaced the keybag.
    ///
    /// If an erase died between keys and rows, the next program that opens the vault completes it. Rows that were
    /// written with the old keys until then would be lost.
    func checkIsCurrent(_ keybag: OpenedKeybag) throws {
        guard let folder, let file = keybag.file else { return }
        guard try folder.folder.version(of: VaultFolder.keybagName) == file else { throw StoreError.otherKeybag }
    }

    /// Reads the keybag again that another process has replaced, and opens its store if it has another.
    private func reloadKeybag() throws {
        guard let folder else { return }
        try checkFolderIsInPlace()
        try folder.folder.withLock {
            var keybag = try folder.openKeybag()
            let (previous, store) = opened.withLock { ($0.keybag, $0.store) }
            if previous.identifier == keybag.identifier {
                try checkStoreIsInPlace()
                // A renewal that was killed may have retired the store.
                try folder.settleRenewal(keybag)
                keybag.keys.inherit(from: previous.keys)
                try replace(with: keybag, store)
            } else {
                let store = try folder.openStore(of: &keybag)
                // If they cannot be read, no erase is announced; the items show whether they are there.
                let isRenewal: Bool
                do {
                    isRenewal = try folder.readFormerKeys(keybag.keys)?.keybags.contains(previous.identifier) ?? false
                } catch {
                    isRenewal = true
                }
                try replace(with: keybag, store, isRenewal: isRenewal)
            }
        }
    }

    /// - Parameter isRenewal: Whether the other class keys have all the items of the present ones.
    func replace(with keybag: OpenedKeybag, _ store: ItemStore, isRenewal: Bool = false) throws {
        let next = try Opened(store, keybag, in: folder)
        let former = opened.withLock { opened in
            defer { opened = next }
            return opened.keybag
        }
        let isErased = former.identifier != keybag.identifier && !isRenewal
        if isErased { lockNotifier.tellOfErasing() }
        // A person who was shown to be there before a change of the passcode or an erase does not count afterwards.
        if isErased || former.keys.keybag.passcode != keybag.keys.keybag.passcode { contexts.forgetGrants() }
        tellLockState()
    }

    /// Tells the observers of the lock, after it may have changed.
    func tellLockState() { lockNotifier.tell { keys.lockState } }

    // MARK: Rows

    /// Runs `body` on a connection, with the keys that the rows are sealed under. May run it more than once.
    func reading<Result>(
        for authorization: Authorization, _ body: (ItemStore.Reader, OpenedKeybag) throws -> Result
    ) throws -> Result {
        try withOpened { opened in
            let keybag = opened.keybag
            // Another process has given the vault other keys and another store.
            if opened.file?.isRemoved == true { throw StoreError.otherKeybag }
            return try opened.store.read(for: authorization, under: keybag.identifier) { try body($0, keybag) }
        }
    }

    /// Runs `body` in a transaction that is durable when this returns. May run it more than once.
    func writing<Result>(
        for authorization: Authorization, _ body: (ItemStore.Writer, OpenedKeybag) throws -> Result
    ) throws -> Result {
        let (result, touched, keybag) = try withOpened { opened in
            let keybag = opened.keybag
            try checkFolderIsInPlace()
            try checkIsCurrent(keybag)
            try checkIsInPlace(opened)
            let quotas = authorization.client.quotas
            return try opened.store.write(
                for: authorization, under: keybag.identifier, isMeasured: quotas != nil
            ) { writer in
                let result = try body(writer, keybag)
                if let quotas { try QuotaCheck(quotas).check(writer, keybag) }
                return (result, writer.touched, keybag)
            }
        }
        // Who only looked, or noted something beside the items, has nothing to tell.
        guard touched.digests?.isEmpty != true else { return result }
        changeNotifier.changed(.thisProcess) { audience in
            guard let groups = keybag.groupDigests(in: audience.groups) else { return true }
            guard let touched = touched.digests else { return audience.learnsOfUnknown }
            return !touched.isDisjoint(with: groups)
        }
        return result
    }

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        var presentStore: (@Sendable () -> ItemStore?)?
        if folder != nil { presentStore = { [weak self] in self?.store } }
        return changeNotifier.stream(to: audience, watching: presentStore)
    }

    /// A folder that was moved away or replaced while open would swallow what is written to it.
    func checkStoreIsInPlace() throws {
        try checkFolderIsInPlace()
        try checkIsInPlace(opened.withLock { $0 })
    }

    private func checkFolderIsInPlace() throws {
        guard let folder else { return }
        guard let present = try? folder.folder.identity, present == folderIdentity else { throw Self.replaced(folder) }
    }

    private func checkIsInPlace(_ opened: Opened) throws {
        guard let folder, let file = opened.file?.identity else { return }
        let name = VaultFolder.storeName(of: opened.keybag.identifier)
        guard let present = try? folder.folder.identity(of: name), present == file else { throw Self.replaced(folder) }
    }

    private static func replaced(_ folder: VaultFolder) -> VaultError {
        .unusableVault(
            reason: "\(folder.folder.path) was moved or replaced while in use; start the program again")
    }
}
