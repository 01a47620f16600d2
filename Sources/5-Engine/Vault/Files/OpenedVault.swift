import Access
import Bytes
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
    private let opened: UnfairMutex<Opened>
    /// Which folder it is: its files may get others in their place, with other keys, but another folder is another
    /// vault.
    private let folderIdentity: FileIdentity?
    private let changeNotifier = ChangeNotifier()
    /// When the keybag last learned how far the item store has come.
    private let noted = UnfairMutex<ContinuousClock.Instant?>(nil)

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

    /// Replaces the keybag by one with the same class keys under another passcode, durably, and continues with it.
    ///
    /// - Returns: Why the disk may not have the keybag that is in force; nil if it has.
    /// - Throws: ``VaultError/busy`` when another program changed the passcode at the same time.
    func rewrapKeys(
        from present: CheckedPasscode?, to nextKey: LockedBytes?, _ protection: PasscodeProtection?
    ) throws -> FileError? {
        guard let folder else {
            let keys = keys
            let next = try keys.keybag.rewrapped(from: present?.key, to: nextKey, protection, in: keys.enclave)
            try keys.adopt(next, with: nextKey)
            tellLockState()
            return nil
        }
        try checkStoreIsInPlace()
        let (rewrapped, flush) = try folder.folder.withLock {
            let current = try checkedKeybag(keybag.identifier, present, in: folder)
            let next = try current.keys.keybag.rewrapped(
                from: present?.key, to: nextKey, protection, in: current.keys.enclave)
            return try folder.replaceKeybag(
                with: next.knowing(storeSequence: store.sequence()), in: current.keys.enclave)
        }
        try rewrapped.keys.adopt(rewrapped.keys.keybag, with: nextKey)
        try replace(with: rewrapped, store)
        return flush
    }

    /// Begins to renew the class keys.
    ///
    /// - Parameter passcode: The present one; nil if none is set.
    /// - Throws: ``VaultError/busy`` if another program has changed the passcode, or renews the keys.
    func beginRenewal(from passcode: CheckedPasscode?, for authorization: Authorization) throws -> KeyRenewal {
        guard let folder else { throw VaultError.busy }
        try checkStoreIsInPlace()
        return try folder.folder.withLock {
            let present = try checkedKeybag(keybag.identifier, passcode, in: folder)
            if let passcode { try present.keys.unlock(with: passcode.key) }
            return try KeyRenewal(of: present, in: folder, for: authorization)
        }
    }

    /// Puts renewed class keys in force: copies what was changed last, while nobody else writes, replaces the keybag,
    /// and removes what is sealed under the former ones.
    ///
    /// - Parameters:
    ///   - passcode: The present one; nil if none is set.
    ///   - nextKey: The next passcode, stretched with `protection`.
    /// - Returns: What is sealed under the new keys, and why the disk may not have the keybag that is in force; nil if
    ///   it has.
    func complete(
        _ renewal: KeyRenewal, from passcode: CheckedPasscode?, to nextKey: LockedBytes?,
        _ protection: PasscodeProtection?, for authorization: Authorization
    ) throws -> (summary: RenewalSummary, flush: FileError?) {
        guard let folder else { throw VaultError.busy }
        let result = try folder.folder.withLock {
            try checkStoreIsInPlace()
            let present = try checkedKeybag(renewal.former.identifier, passcode, in: folder)
            let enclave = present.keys.enclave
            let former = try renewal.former.formerKeys().renewed(from: renewal.former.keys, to: renewal.next.keys)
            try folder.writeFormerKeys(former, of: renewal.next.keys)
            let hadRecoveryKey = try folder.hasRecoveryKey(of: present.identifier)
            let sequence = try store.write(for: authorization, under: present.identifier) { try renewal.complete($0) }
            let counts = try renewal.counts()
            try renewal.checkIsInPlace()
            let next = try present.keys.keybag.replaced(
                by: renewal.next.keys, under: nextKey, protection, storeSequence: sequence, in: enclave)
            // Its key is derived from a former class key. Until it is made again, no file can be made while the vault
            // is locked.
            try folder.folder.remove(VaultFolder.fileAgreementKeyName)
            var (renewed, flush) = try folder.replaceKeybag(with: next, in: enclave)
            // After a crash the former keybag may be there again, and then needs its store.
            if flush == nil {
                do {
                    try renewal.commit()
                } catch let error as FileError {
                    flush = error
                }
            }
            if let nextKey { try renewed.keys.unlock(with: nextKey) }
            try replace(with: renewed, renewal.store, isRenewal: true)
            // If this fails, the next program that opens the vault does it.
            if flush == nil { try? folder.completeRenewal(from: present.identifier, to: renewed.identifier) }
            let summary = RenewalSummary(
                items: counts.items, formerVersions: counts.formerVersions, hadRecoveryKey: hadRecoveryKey)
            return (summary, flush)
        }
        // Marks of deletions are gone, and numbers go on after a gap.
        changeNotifier.changed(.thisProcess) { _ in true }
        return result
    }

    /// The keybag on disk, for a holder of the folder's lock.
    ///
    /// - Parameter identifier: Whose class keys the caller has.
    /// - Throws: ``VaultError/busy`` if the keybag on disk has other class keys, or another passcode.
    private func checkedKeybag(
        _ identifier: UUID, _ passcode: CheckedPasscode?, in folder: VaultFolder
    ) throws -> OpenedKeybag {
        let current = try folder.openKeybag()
        guard current.identifier == identifier, current.keys.keybag.passcode == passcode?.protection else {
            throw VaultError.busy
        }
        return current
    }

    /// Has the keybag know how far the item store has come, so that an older copy of the store is refused from now on.
    /// Where a counter counts, this moves it, so that an older copy of the whole folder is refused, too.
    ///
    /// Does nothing if nothing was stored since, and for a minute after the last time.
    ///
    /// - Parameter passcode: The present passcode, under which the class keys are wrapped again.
    func noteStoreSequence(with passcode: CheckedPasscode) throws {
        guard folder != nil, try store.sequence() > keys.keybag.storeSequence ?? 0 else { return }
        let isDue = noted.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last < Self.shortestPause { return false }
            last = now
            return true
        }
        if isDue { _ = try rewrapKeys(from: passcode, to: passcode.key, passcode.protection) }
    }

    /// A counter in a TPM wears out.
    private static let shortestPause = Duration.seconds(60)

    private var store: ItemStore { opened.withLock { $0.store } }

    /// Destroys every key and every item.
    ///
    /// First the keys, then the rows: from the moment the new keybag is in place nothing that was stored
    /// can be read, and a crash before the rows are gone is completed at the next opening.
    ///
    /// - Throws: ``VaultError/inputOutput(reason:)`` if the disk may still have the former keys.
    func erase(for authorization: Authorization) throws {
        let (former, formerKeys) = opened.withLock { ($0.store, $0.keybag.keys) }
        if let folder {
            // Another program may have renewed the keys. An erase is for a vault that is damaged, too.
            try? takeOverChangedKeybag()
            let flush = try folder.folder.withLock {
                try checkStoreIsInPlace()
                // A renewal that was killed may have left the store of its former keybag.
                if let present = try? folder.openKeybag() { try? folder.settleRenewal(present) }
                // Another process may still write, with numbers after this one. None writes a thousand times a second
                // for as long as there are milliseconds since 1970.
                let milliseconds = UInt64(clamping: max(0, Date().timeIntervalSince1970 * 1_000))
                let last = (try? former.sequence()) ?? 0
                var (fresh, flush) = try folder.replaceKeys(after: max(last + 1, milliseconds))
                // Other processes have the keys of these rows in memory, and notice that they are gone.
                try? former.write(for: authorization) { try $0.retire(for: fresh.identifier) }
                let store = try folder.openStore(of: &fresh)
                try replace(with: fresh, store)
                return flush
            }
            if let flush {
                changeNotifier.changed(.thisProcess) { _ in true }
                throw VaultError.unflushed(
                    "the vault is erased", flush, "the former keys may be there again: erase it again")
            }
        } else {
            let fresh = try ClassKeys(Keybag.generate(in: formerKeys.enclave), in: formerKeys.enclave)
            if formerKeys.hasPasscodeClass { try fresh.setPasscodeClass(present: true) }
            try former.write(for: authorization) { try $0.reset(to: fresh.keybag.identifier) }
            try replace(with: OpenedKeybag(fresh), former)
        }
        // There is no group that it does not touch.
        changeNotifier.changed(.thisProcess) { _ in true }
    }

    /// - Parameter isRenewal: Whether the other class keys have all the items of the present ones.
    private func replace(with keybag: OpenedKeybag, _ store: ItemStore, isRenewal: Bool = false) throws {
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
            var lostVersions: [FormerPlace] = []
            try writer.reader.forEachFormerRow { place, former in
                guard case .success(let former) = former, isLost(former.row.binding, keybag.keys) else { return }
                lostVersions.append(place)
            }
            for row in lost { try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row)) }
            for place in lostVersions { try writer.deleteFormer(place) }
            // What is left of them comes back like a deleted item.
            for row in lost { try writer.endWithLastFormer(row.binding.rowID) }
            return lost.count
        }
    }

    /// Gives all rows that earlier software wrote the digests under the key that their class asks for, so that nobody
    /// guesses what is in them while the vault is locked. Other writers get their turns in between.
    ///
    /// Leaves out rows that cannot be opened. Does nothing if there are none, or while the vault is not unlocked.
    func renewOldDigests() throws {
        guard keys.lockState == .unlocked else { return }
        let authorization = AccessGate.authorize(.renewDigests)
        var last: Int64? = .min
        while let start = last {
            let numbers = try reading(for: authorization) { reader, _ in
                try reader.oldRows(after: start, limit: Self.rowsRenewedAtOnce)
            }
            last = numbers.last
            guard !numbers.isEmpty else { return }
            try writing(for: authorization) { writer, keybag in
                let transaction = ItemTransaction(writer, keybag, .waived) { Date() }
                for number in numbers {
                    do {
                        try transaction.renewDigests(ofRow: number)
                    } catch is VaultError {
                        // Damaged, which a check of all items reports.
                    } catch is StoreError {
                    } catch KeybagError.noClassKey {
                    }
                }
            }
        }
    }

    /// Each transaction writes nearly all pages of the indexes, because digests are in no order.
    private static let rowsRenewedAtOnce = 16_384

    /// Does what ``renewOldDigests()`` does if the opening of the store has found old rows.
    func renewDigestsFoundAtOpening() throws {
        if store.mayHaveOldRows { try renewOldDigests() }
    }

    /// Returns the number of items of each class in the groups that `authorization` covers.
    func itemCounts(for authorization: Authorization) throws(StoreError) -> [ItemClass: Int] {
        let keybag = keybag
        let listings = keybag.groupDigests(in: authorization.scope).map { groups in
            Dictionary(uniqueKeysWithValues: ItemClass.stored.map { ($0, keybag.listings(of: $0, in: groups)) })
        }
        return try store.counts(for: authorization, filedUnder: listings)
    }

    /// Returns the digests of all groups of which there is anything.
    func groups(for authorization: Authorization) throws -> [Int64] {
        try reading(for: authorization) { reader, _ in try reader.groups() }
    }

    /// Returns what SQLite finds wrong with the file of the rows.
    func structuralProblems() throws(StoreError) -> [String] { try store.structuralProblems() }

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
