import Access
import KeychainModel

/// A vault, the client on whose behalf it is used, and what unlocks it.
package struct VaultSession: Sendable {
    package var vault: any Vault
    package var client: Client
    /// Unlocks the vault when an operation meets what is locked; nil to have the operation fail.
    package var unlocker: (any VaultUnlocker)?

    package init(vault: any Vault, client: Client, unlocker: (any VaultUnlocker)? = nil) {
        (self.vault, self.client, self.unlocker) = (vault, client, unlocker)
    }

    /// The same session, in which operations that meet what is locked fail.
    package var withoutUnlocking: VaultSession { VaultSession(vault: vault, client: client) }

    /// Asks for the passcode and unlocks the vault, if somebody can be asked.
    ///
    /// - Returns: Whether the vault is unlocked now.
    package func unlockIfPossible() throws(VaultError) -> Bool {
        guard let unlocker, unlocker.canAsk else { return false }
        try unlocker.unlock(withoutUnlocking)
        return true
    }

    /// Performs an operation that sends nothing before its reply.
    @discardableResult
    package func perform<Operation: UnaryOperation>(_ operation: Operation) throws(VaultError) -> Operation.Reply {
        try unlocking(for: Operation.self) { () throws(VaultError) in
            try vault.perform(operation, as: client) { (_: Never) throws(VaultError) in }
        }
    }

    /// Performs an operation.
    ///
    /// - Parameter send: Takes each part of the answer, in order. What it throws ends the operation.
    package func perform<Operation: VaultOperation>(
        _ operation: Operation, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        try unlocking(for: Operation.self) { () throws(VaultError) in
            try vault.perform(operation, as: client, send: send)
        }
    }

    /// Runs `body`. If it meets what is locked, ``unlocker`` unlocks the vault, and it runs again.
    private func unlocking<Operation: VaultOperation, Result>(
        for operation: Operation.Type, _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do {
            return try body()
        } catch {
            guard let unlocker, Operation.traits.contains(.usesClassKeys), case .interactionNotAllowed = error else {
                throw error
            }
            return try unlocker.unlock(withoutUnlocking, after: error, body)
        }
    }

    /// Performs a search, and collects the items.
    ///
    /// - Parameter report: Takes what the query asks to be told besides; see ``SearchReports``.
    package func perform(
        _ operation: CopyItems, report: (CopyItems.Part) -> Void = { _ in }
    ) throws(VaultError) -> [StoredItem] {
        var items: [StoredItem] = []
        _ = try perform(operation) { part throws(VaultError) in
            if case .item(let item) = part { items.append(item) } else { report(part) }
        }
        return items
    }

    /// Reads the audit log, and collects the records, and the number of those that may tell of the item, too.
    package func perform(_ operation: ReadAudit) throws(VaultError) -> (records: [AuditRecord], unclear: Int) {
        var records: [AuditRecord] = []
        let unclear = try perform(operation) { record throws(VaultError) in records.append(record) }
        return (records, unclear)
    }

    /// Reads the changes after a number, and collects them in the order of their numbers.
    package func perform(_ operation: ChangesSince) throws(VaultError) -> (items: [ChangedItem], known: KnownChanges) {
        var items: [ChangedItem] = []
        let known = try perform(operation) { item throws(VaultError) in items.append(item) }
        // A deletion and a change of one number are an item that moved between groups, or came back.
        items.sort { ($0.change, $0.isDeleted ? 0 : 1) < ($1.change, $1.isDeleted ? 0 : 1) }
        return (items, known)
    }

    /// Reads how much the access groups hold, and collects the answers.
    package func perform(_ operation: ReadUsage) throws(VaultError) -> [GroupUsage] {
        var groups: [GroupUsage] = []
        _ = try perform(operation) { group throws(VaultError) in groups.append(group) }
        return groups
    }

    /// Reads the versions of the items that a query finds, and collects them.
    package func perform(_ operation: CopyVersions) throws(VaultError) -> [ItemVersion] {
        var versions: [ItemVersion] = []
        _ = try perform(operation) { version throws(VaultError) in versions.append(version) }
        return versions
    }
}

/// Unlocks a vault for a session that meets what is locked.
package protocol VaultUnlocker: Sendable {
    /// Whether there is somebody to ask for the passcode.
    var canAsk: Bool { get }

    /// Asks for the passcode and unlocks the vault, unless another thread has done it meanwhile.
    func unlock(_ session: VaultSession) throws(VaultError)

    /// Does the same, and then runs `body`, which needs the vault to be unlocked.
    ///
    /// - Parameter error: Why an operation failed. It is thrown again if the vault is not locked.
    func unlock<Result>(
        _ session: VaultSession, after error: VaultError, _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result
}
