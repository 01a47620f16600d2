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
        try vault.perform(operation, as: client)
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
