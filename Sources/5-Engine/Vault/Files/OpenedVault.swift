import Access
import CLibrary
import Enclave
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import SecureMemory
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
    private let store: ItemStore
    private let storeFile: FileIdentity?
    private let opened: UnfairMutex<OpenedKeybag>
    private let changeNotifier = ChangeNotifier()

    /// - Parameter folder: The folder of the two; nil for a vault in memory.
    init(_ store: ItemStore, _ keybag: OpenedKeybag, in folder: VaultFolder?) throws {
        self.folder = folder
        self.store = store
        storeFile = try folder.map { try $0.folder.identity(of: VaultFolder.storeName) }
        opened = UnfairMutex(keybag)
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
        keys.enclave.close()
        let logSize = (try? folder?.folder.size(of: VaultFolder.storeName + "-wal")) ?? 0
        if logSize > Self.largestLogLeft { return store.abandon() }
        // A store that only reads holds nothing that the end of the process does not release.
        if store.hasWritten { try? store.close() }
    }

    /// The most bytes of the write-ahead log that a program that only read may leave. Reading them costs less than a
    /// checkpoint.
    private static let largestLogLeft = 1 << 16

    // MARK: Keys

    var keybag: OpenedKeybag { opened.withLock { $0 } }

    var keys: ClassKeys { keybag.keys }

    /// Runs `body` with the keys of the vault. Runs it again with the new ones if another process has replaced them
    /// since.
    func withKeybag<Result>(_ body: (OpenedKeybag) throws -> Result) throws -> Result {
        for _ in 0..<Self.mostReplacementsMet {
            let keybag = keybag
            do {
                return try body(keybag)
            } catch StoreError.otherKeybag {
                try reloadKeybag()
            } catch KeybagError.locked(let protection) {
                // Another program may have taken the passcode away.
                try takeOverChangedKeybag()
                guard self.keybag !== keybag else { throw KeybagError.locked(protection) }
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

    /// Reads the keybag again that another process has replaced, and completes that process's erase if it did not get
    /// to the rows.
    private func reloadKeybag() throws {
        guard let folder else { return }
        try folder.folder.withLock {
            let keybag = try folder.openKeybag()
            try folder.checkOwner(of: store, keybag.keys.keybag)
            let previous = self.keybag
            if previous.identifier == keybag.identifier { keybag.keys.inherit(from: previous.keys) }
            replaceKeybag(keybag)
        }
    }

    /// Replaces the keybag by one with the same class keys under another passcode, durably, and continues with it.
    ///
    /// - Throws: ``VaultError/busy`` when another program changed the passcode at the same time.
    func rewrapKeys(
        from present: CheckedPasscode?, to nextKey: LockedBytes?, _ protection: PasscodeProtection?
    ) throws {
        guard let folder else {
            let keys = keys
            let next = try keys.keybag.rewrapped(from: present?.key, to: nextKey, protection, in: keys.enclave)
            try keys.adopt(next, with: nextKey)
            return tellLockState()
        }
        try checkStoreIsInPlace()
        let rewrapped = try folder.folder.withLock {
            let current = try folder.openKeybag()
            guard current.identifier == keybag.identifier, current.keys.keybag.passcode == present?.protection else {
                throw VaultError.busy
            }
            let next = try current.keys.keybag.rewrapped(
                from: present?.key, to: nextKey, protection, in: current.keys.enclave)
            return try folder.replaceKeybag(with: next, in: current.keys.enclave)
        }
        try rewrapped.keys.adopt(rewrapped.keys.keybag, with: nextKey)
        replaceKeybag(rewrapped)
    }

    /// Destroys every key and every item.
    ///
    /// First the keys, then the rows: from the moment the new keybag is in place nothing that was stored
    /// can be read, and a crash before the rows are gone is completed at the next opening.
    func erase(for authorization: Authorization) throws {
        if let folder {
            try folder.folder.withLock {
                try checkStoreIsInPlace()
                // The rows may still belong to an older keybag than the file, when an erase by another process
                // was killed half-way; a crash of this one must leave a keybag that names the rows' own.
                let fresh = try folder.replaceKeys(erasing: store.check())
                try store.write(for: authorization) { try $0.reset(to: fresh.identifier) }
                replaceKeybag(fresh)
            }
        } else {
            let former = keys
            let fresh = try ClassKeys(Keybag.generate(in: former.enclave), in: former.enclave)
            if former.hasPasscodeClass { try fresh.setPasscodeClass(present: true) }
            try store.write(for: authorization) { try $0.reset(to: fresh.keybag.identifier) }
            replaceKeybag(OpenedKeybag(fresh))
        }
        // There is no group that it does not touch.
        changeNotifier.changed(.thisProcess) { _ in true }
    }

    private func replaceKeybag(_ keybag: OpenedKeybag) {
        let former = opened.withLock { opened in
            defer { opened = keybag }
            return opened.identifier
        }
        if former != keybag.identifier { lockNotifier.tellOfErasing() }
        // A person who was shown to be there before a change of the passcode or an erase does not count afterwards.
        contexts.forgetGrants()
        tellLockState()
    }

    /// Tells the observers of the lock, after it may have changed.
    func tellLockState() { lockNotifier.tell { keys.lockState } }

    // MARK: Rows

    /// Runs `body` on a connection, with the keys that the rows are sealed under. May run it more than once.
    func reading<Result>(
        for authorization: Authorization, _ body: (ItemStore.Reader, OpenedKeybag) throws -> Result
    ) throws -> Result {
        try withKeybag { keybag in
            try store.read(for: authorization, under: keybag.identifier) { try body($0, keybag) }
        }
    }

    /// Runs `body` in a transaction that is durable when this returns. May run it more than once.
    func writing<Result>(
        for authorization: Authorization, _ body: (ItemStore.Writer, OpenedKeybag) throws -> Result
    ) throws -> Result {
        let (result, touched, keybag) = try withKeybag { keybag in
            try checkStoreIsInPlace()
            try checkIsCurrent(keybag)
            let quotas = authorization.client.quotas
            return try store.write(
                for: authorization, under: keybag.identifier, isMeasured: quotas != nil
            ) { writer in
                let result = try body(writer, keybag)
                if let quotas { try check(quotas, writer, keybag) }
                return (result, writer.touched, keybag)
            }
        }
        changeNotifier.changed(.thisProcess) { audience in
            guard let groups = keybag.groupDigests(in: audience.groups) else { return true }
            guard let touched = touched.digests else { return audience.learnsOfUnknown }
            return !touched.isDisjoint(with: groups)
        }
        return result
    }

    /// Makes sure that no group has grown beyond its quota. What lets a group shrink is allowed whatever it holds.
    ///
    /// - Throws: ``VaultError/quotaExceeded(group:limit:)``.
    private func check(_ quotas: GroupQuotas, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag) throws {
        for (group, growth) in writer.touched.growth where growth > 0 {
            guard let name = writer.touched.names[group], let limit = quotas.bytes(of: name) else { continue }
            let listings = ItemClass.stored.flatMap { keybag.listings(of: $0, in: [group]) }
            guard try writer.bytes(ofGroup: group, filedUnder: listings) <= limit else {
                throw VaultError.quotaExceeded(group: name, limit: limit)
            }
        }
    }

    /// Deletes the rows that nothing can open any more, because their keys are gone.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func deleteRows(where isLost: (RowBinding, ClassKeys) -> Bool) throws -> Int {
        try writing(for: AccessGate.authorize(.removeUnreadable)) { writer, keybag in
            var lost: [ItemRow] = []
            try writer.reader.forEachRow { row in
                guard case .success(let row) = row, isLost(row.binding, keybag.keys) else { return }
                lost.append(row)
            }
            for row in lost { try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row)) }
            return lost.count
        }
    }

    /// Returns the number of items of each class in the groups that `authorization` covers.
    func itemCounts(for authorization: Authorization) throws(StoreError) -> [ItemClass: Int] {
        let keybag = keybag
        let listings = keybag.groupDigests(in: authorization.scope).map { groups in
            Dictionary(uniqueKeysWithValues: ItemClass.stored.map { ($0, keybag.listings(of: $0, in: groups)) })
        }
        return try store.counts(for: authorization, filedUnder: listings)
    }

    /// Returns what SQLite finds wrong with the file of the rows.
    func structuralProblems() throws(StoreError) -> [String] { try store.structuralProblems() }

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        changeNotifier.stream(to: audience, watching: folder == nil ? nil : store)
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
