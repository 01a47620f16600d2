import Access
import FoundationEssentials
import KeychainModel

/// A keychain: the one interface between Apple's names, the idiomatic API and the command line above,
/// and the engine or its client below.
///
/// Every operation names the client it runs for and passes the vault's one gate, which decides and
/// records. Operations are synchronous, may be called from any thread, and are atomic: another thread
/// or process sees all of an operation or nothing.
package protocol Vault: AnyObject, VaultLock, VaultPresence, VaultAudit, VaultEnclaveKeys, VaultFileKeys {
    /// Stores a new item.
    ///
    /// - Returns: The item as stored, value included.
    /// - Throws: ``VaultError/duplicateItem`` when an item with the same primary key exists.
    func add(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem

    /// Stores the two halves of an identity in one step. One of them may be there already, such as the key of
    /// a certificate that was renewed.
    ///
    /// - Throws: ``VaultError/duplicateItem`` when both are.
    func addIdentity(certificate: NewItem, key: NewItem, as client: Client) throws(VaultError)

    /// The items that `query` finds, at most its limit.
    ///
    /// - Parameter includingValues: Whether to open the values; a listing without them is cheaper.
    /// - Throws: ``VaultError/itemNotFound`` when there is none.
    func copy(_ query: ItemQuery, includingValues: Bool, as client: Client) throws(VaultError) -> [StoredItem]

    /// Changes every item that `query` finds, or none.
    ///
    /// - Returns: How many were changed; at least one.
    func update(_ query: ItemQuery, with changes: ItemChanges, as client: Client) throws(VaultError) -> Int

    /// Deletes every item that `query` finds.
    ///
    /// - Returns: How many were deleted; at least one.
    func delete(_ query: ItemQuery, as client: Client) throws(VaultError) -> Int

    /// Stores `item`, or, when an item with its primary key exists, gives that one its attributes and
    /// value, in one step.
    func put(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem

    /// Replaces the value of the item with the primary key of `item`, if its present value is
    /// `expected`.
    ///
    /// - Parameters:
    ///   - item: The new value and the primary key; a nil value deletes.
    ///   - expected: The value the item must have; nil if there must be no such item.
    /// - Returns: Whether the value was replaced.
    func exchange(_ item: NewItem, expecting expected: Data?, as client: Client) throws(VaultError) -> Bool

    func status(as client: Client) throws(VaultError) -> VaultStatus

    /// Destroys every key and every item of every group, for good.
    func erase(as client: Client) throws(VaultError)

    /// Reads every row and reports those that cannot be opened.
    func verify(as client: Client) throws(VaultError) -> IntegrityReport

    /// Deletes every row that cannot be opened with a key that is there: damaged ones, and those of another vault. Items
    /// whose class is locked stay, and so do those that ask for more than the class key.
    ///
    /// - Returns: How many were deleted.
    func deleteDamaged(as client: Client) throws(VaultError) -> Int

    /// A stream with an element after each change by this or, within a second, another process.
    func changes() -> AsyncStream<VaultChange>
}

/// What `status` tells.
package struct VaultStatus: Sendable, Equatable {
    /// Nil for a vault in memory.
    package var path: String?
    package var enclave: String
    package var lockState: LockState
    package var isPasscodeSet: Bool
    /// Whether a daemon serves the vault, so that its lock state is that of all programs.
    package var isShared: Bool = false
    /// How many wrong passcodes were given since the last right one.
    package var failedAttempts: Int = 0
    /// Until when no passcode is looked at: seconds from now, 0 for not at all.
    package var retryAfter: Int = 0
    /// The number of items of each class that the client may see, tombstones excluded.
    package var itemCounts: [ItemClass: Int]
    package var formatVersion: Int

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

/// What `verify` found.
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

    package init(origin: Origin) {
        self.origin = origin
    }
}
