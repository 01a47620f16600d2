import VaultInterface

extension VaultSession {
    /// The session of the running task: what a test put in its place, else the process's own.
    package static func current() throws(VaultError) -> VaultSession {
        if let provider = override { return provider.session }
        return try ProcessVault.session()
    }

    /// Stands in for the process's vault within a task, so that tests do not see each other.
    @TaskLocal package static var override: (any VaultSessionProvider)?

    /// Runs `body`, for which this is the session of the running task.
    package func asCurrent<Result>(_ body: () throws -> Result) rethrows -> Result {
        try VaultSession.$override.withValue(FixedSession(self), operation: body)
    }
}

/// Something that says, at each call, which vault and client to use.
package protocol VaultSessionProvider: Sendable {
    var session: VaultSession { get }
}

/// A vault and a client that stay the same.
package struct FixedSession: VaultSessionProvider {
    package let session: VaultSession

    package init(_ session: VaultSession) { self.session = session }
}
