import Access
import Dispatch
import FoundationEssentials
import SecureMemory
import SystemLibraries
import VaultInterface

/// What a vault uses of the world around it. Tests put something else in the place of each part.
package struct VaultSurroundings: Sendable {
    /// Calls its closure when a grace is over.
    package typealias Timer = @Sendable (_ grace: Duration, @escaping @Sendable () -> Void) -> Void

    /// Nil to refuse items that need a person.
    let authenticator: (any Authenticator)?
    let audit: any AuditSink
    let bootClock: BootClock
    let now: @Sendable () -> Date
    /// The cost of stretching the application password of a new item.
    let passwordCost: Argon2id.Cost
    let afterGrace: Timer
    let tellFindings: @Sendable (UnlockFindings) -> Void
    let otherProblems: @Sendable () -> [VaultProblem]
    let quota: @Sendable (String) -> Int?

    /// - Parameters:
    ///   - authenticator: Asks a person; nil to refuse items that need one.
    ///   - passwordCost: The cost of stretching the application password of a new item.
    ///   - tellFindings: Told what an unlocking finds changed in the vault's folder.
    ///   - otherProblems: Returns the problems of the program that serves the vault, for its operator.
    ///   - quota: Returns the lowest limit that the program that serves the vault sets for an access group, in bytes;
    ///     nil for none.
    ///   - afterGrace: Calls its closure when a grace is over.
    package init(
        authenticator: (any Authenticator)? = nil, audit: any AuditSink = NoAudit(), bootClock: BootClock = .system,
        now: @escaping @Sendable () -> Date = { Date() }, passwordCost: Argon2id.Cost = .applicationPassword,
        tellFindings: @escaping @Sendable (UnlockFindings) -> Void = { _ in },
        otherProblems: @escaping @Sendable () -> [VaultProblem] = { [] },
        quota: @escaping @Sendable (String) -> Int? = { _ in nil },
        afterGrace: @escaping Timer = { grace, lock in
            let seconds = Double(grace.components.seconds) + Double(grace.components.attoseconds) / 1e18
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: lock)
        }
    ) {
        self.authenticator = authenticator
        self.audit = audit
        self.bootClock = bootClock
        self.now = now
        self.passwordCost = passwordCost
        self.afterGrace = afterGrace
        self.tellFindings = tellFindings
        self.otherProblems = otherProblems
        self.quota = quota
    }
}
