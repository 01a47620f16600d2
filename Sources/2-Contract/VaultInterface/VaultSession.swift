import Access
import KeychainModel

/// The vault and the client that Apple's global functions act on.
package struct VaultSession: Sendable {
    package var vault: any Vault
    package var client: Client

    package init(vault: any Vault, client: Client) {
        self.vault = vault
        self.client = client
    }

    /// Performs an operation that sends nothing before its reply.
    @discardableResult
    package func perform<Operation: UnaryOperation>(_ operation: Operation) throws(VaultError) -> Operation.Reply {
        try vault.perform(operation, as: client) { (_: Never) throws(VaultError) in }
    }

    /// Performs a search, and collects the items.
    ///
    /// - Parameter report: Takes what the query asks to be told besides; see ``SearchReports``.
    package func perform(
        _ operation: CopyItems, report: (CopyItems.Part) -> Void = { _ in }
    ) throws(VaultError) -> [StoredItem] {
        var items: [StoredItem] = []
        _ = try vault.perform(operation, as: client) { part throws(VaultError) in
            if case .item(let item) = part { items.append(item) } else { report(part) }
        }
        return items
    }

    /// Reads the audit log, and collects the records, and the number of those that may tell of the item, too.
    package func perform(_ operation: ReadAudit) throws(VaultError) -> (records: [AuditRecord], unclear: Int) {
        var records: [AuditRecord] = []
        let unclear = try vault.perform(operation, as: client) { record throws(VaultError) in records.append(record) }
        return (records, unclear)
    }

    /// Reads the changes after a number, and collects them in the order of their numbers.
    package func perform(_ operation: ChangesSince) throws(VaultError) -> (items: [ChangedItem], known: KnownChanges) {
        var items: [ChangedItem] = []
        let known = try vault.perform(operation, as: client) { item throws(VaultError) in items.append(item) }
        // A deletion and a change of one number are an item that moved between groups, or came back.
        items.sort { ($0.change, $0.isDeleted ? 0 : 1) < ($1.change, $1.isDeleted ? 0 : 1) }
        return (items, known)
    }

    /// Reads how much the access groups hold, and collects the answers.
    package func perform(_ operation: ReadUsage) throws(VaultError) -> [GroupUsage] {
        var groups: [GroupUsage] = []
        _ = try vault.perform(operation, as: client) { group throws(VaultError) in groups.append(group) }
        return groups
    }

    /// Reads the versions of the items that a query finds, and collects them.
    package func perform(_ operation: CopyVersions) throws(VaultError) -> [ItemVersion] {
        var versions: [ItemVersion] = []
        _ = try vault.perform(operation, as: client) { version throws(VaultError) in versions.append(version) }
        return versions
    }

    /// The session of the running task: what a test put in its place, else the process's own.
    package static func current() throws(VaultError) -> VaultSession {
        if let provider = override { return provider.session }
        return try ProcessVault.session()
    }

    /// Stands in for the process's vault within a task, so that tests do not see each other.
    @TaskLocal package static var override: (any VaultSessionProvider)?
}

/// Something that says, at each call, which vault and client to use.
package protocol VaultSessionProvider: Sendable {
    var session: VaultSession { get }
}
