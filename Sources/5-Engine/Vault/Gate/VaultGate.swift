import Access
import Keybag
import KeychainModel
import PreparedKeys
import SecureMemory
import VaultInterface

/// The way into the vault: asks the gate, performs what it allows, and records the outcome.
struct VaultGate: Sendable {
    let access: AccessGate
    private let vault: OpenedVault
    private let presence: VaultPresence

    init(_ access: AccessGate, _ vault: OpenedVault, _ presence: VaultPresence) {
        self.access = access
        self.vault = vault
        self.presence = presence
    }

    /// - Parameter event: The event that the audit log records.
    func authorize(
        _ request: AccessRequest, as client: Client, recordedAs event: AuditEvent.Kind
    ) throws(VaultError) -> Authorization {
        do {
            return try access.authorize(request, for: client, recordedAs: event)
        } catch {
            throw .accessDenied(error)
        }
    }

    /// Runs an authorized request that needs nobody else's consent, and records the outcome.
    func run<Result>(
        _ authorization: Authorization, _ body: () throws -> Result
    ) throws(VaultError) -> Result {
        do {
            let result = try body()
            access.record(authorization)
            return result
        } catch {
            throw recorded(error, of: authorization)
        }
    }

    /// Runs an authorized request that may need a person, an application password or the enrolment for some items,
    /// and records the outcome.
    ///
    /// If `body` throws a ``PresenceCheck/Need``, the need is met, and `body` runs again.
    ///
    /// - Parameters:
    ///   - items: Returns the number of items for the audit log from the result; nil for no number.
    ///   - digests: Returns which items those are, after `body`; none for those that the request names.
    func run<Result>(
        _ authorization: Authorization, asking options: AuthenticationOptions,
        items: (Result) -> Int? = { _ in nil }, digests: () -> [UInt64] = { [] },
        _ body: (PresenceCheck) throws -> Result
    ) throws(VaultError) -> Result {
        let result: Result
        do {
            // Keys that a lock wipes must not stay in memory that ciphers have freed, for the next allocation to keep.
            // Prepared ciphers have no such memory.
            defer { if !PreparedAEAD.isAvailable, vault.keys.isLockable { wipeRecentlyFreed(.cipher) } }
            let check = try presence.check(options, of: authorization.client)
            while true {
                do {
                    check.beginAttempt()
                    result = try body(check)
                    break
                } catch let need as PresenceCheck.Need {
                    try presence.meet(need, check, authorization.client)
                }
            }
        } catch {
            throw recorded(error, of: authorization)
        }
        access.record(authorization, items: items(result), digests: digests())
        return result
    }

    private func recorded(_ error: any Error, of authorization: Authorization) -> VaultError {
        let failure = VaultError(error)
        if case .accessDenied(let refusal) = failure {
            access.refused(authorization.request, for: authorization.client, refusal)
        } else {
            access.record(authorization, failure: AuditFailure(failure))
        }
        return failure
    }
}
