import Access
import Keybag
import KeychainModel
import SecureMemory
import VaultInterface

/// The way into the vault: asks the gate, performs what it allows, and records the outcome.
extension EmbeddedVault {
    /// Performs a request that needs nobody else's consent.
    ///
    /// - Parameters:
    ///   - event: The event that the audit log records.
    ///   - items: Returns the number of items for the audit log from the result; nil for no number.
    func gated<Result>(
        _ request: AccessRequest, as client: Client, recordedAs event: AuditEvent.Kind,
        items: (Result) -> Int? = { _ in nil }, _ body: (Authorization) throws -> Result
    ) throws(VaultError) -> Result {
        let authorization = try authorize(request, as: client, recordedAs: event)
        return try recording(authorization, items: items) { try body(authorization) }
    }

    /// Performs a request that may need a person, an application password or the enrolment for some items.
    ///
    /// If `body` throws a ``PresenceCheck/Need``, the need is met, and `body` runs again.
    func gated<Result>(
        _ request: AccessRequest, as client: Client, asking options: AuthenticationOptions,
        recordedAs event: AuditEvent.Kind, items: (Result) -> Int? = { _ in nil },
        _ body: (Authorization, PresenceCheck) throws -> Result
    ) throws(VaultError) -> Result {
        let authorization = try authorize(request, as: client, recordedAs: event)
        return try performing(authorization, asking: options, items: items) { try body(authorization, $0) }
    }

    /// Performs an authorized request that may need a person, and records the outcome.
    func performing<Result>(
        _ authorization: Authorization, asking options: AuthenticationOptions, items: (Result) -> Int?,
        _ body: (PresenceCheck) throws -> Result
    ) throws(VaultError) -> Result {
        try recording(authorization, items: items) {
            let client = authorization.client
            let presence = PresenceCheck(options, granted: try contexts.proofs(of: options.context, client))
            // Keys that a lock wipes must not stay in memory that ciphers have freed.
            defer { if currentKeybag.keys.isLockable { wipeRecentlyFreed(.cipher) } }
            while true {
                do {
                    presence.beginAttempt()
                    return try body(presence)
                } catch let need as PresenceCheck.Need {
                    try meet(need, presence, client)
                }
            }
        }
    }

    func authorize(
        _ request: AccessRequest, as client: Client, recordedAs event: AuditEvent.Kind
    ) throws(VaultError) -> Authorization {
        do {
            return try gate.authorize(request, for: client, recordedAs: event)
        } catch {
            throw .accessDenied(error)
        }
    }

    private func recording<Result>(
        _ authorization: Authorization, items: (Result) -> Int?, _ body: () throws -> Result
    ) throws(VaultError) -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            let failure = VaultError(error)
            if case .accessDenied(let refusal) = failure {
                gate.refused(authorization.request, for: authorization.client, refusal)
            } else {
                gate.record(authorization, failure: AuditFailure(failure))
            }
            throw failure
        }
        gate.record(authorization, items: items(result))
        return result
    }
}
