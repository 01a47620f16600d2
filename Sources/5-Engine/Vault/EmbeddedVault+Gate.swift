import Access
import Keybag
import KeychainModel
import SecureMemory
import VaultInterface

/// The way into the vault: the gate is asked, what it allows is performed, and the log is told how that ended.
extension EmbeddedVault {
    /// Asks the gate for what asks nobody else.
    ///
    /// - Parameters:
    ///   - event: What the audit log says of the request when it is done.
    ///   - items: How many items a result stands for; nil for none in particular.
    func gated<Result>(
        _ request: AccessRequest, as client: Client, recordedAs event: AuditEvent.Kind,
        items: (Result) -> Int? = { _ in nil }, _ body: (Authorization) throws -> Result
    ) throws(VaultError) -> Result {
        let authorization = try authorize(request, as: client, recordedAs: event)
        return try recording(authorization, items: items) { try body(authorization) }
    }

    /// Asks the gate for what may need a person, a password or the enrolment for the items it meets.
    ///
    /// `body` is run again after each thing that it turned out to need.
    func gated<Result>(
        _ request: AccessRequest, as client: Client, asking options: AuthenticationOptions,
        recordedAs event: AuditEvent.Kind, items: (Result) -> Int? = { _ in nil },
        _ body: (Authorization, PresenceCheck) throws -> Result
    ) throws(VaultError) -> Result {
        let authorization = try authorize(request, as: client, recordedAs: event)
        return try performing(authorization, asking: options, items: items) { try body(authorization, $0) }
    }

    /// Performs what the gate has allowed and may need a person, and records how it ended.
    func performing<Result>(
        _ authorization: Authorization, asking options: AuthenticationOptions, items: (Result) -> Int?,
        _ body: (PresenceCheck) throws -> Result
    ) throws(VaultError) -> Result {
        try recording(authorization, items: items) {
            let client = authorization.client
            let presence = PresenceCheck(options, granted: try contexts.proofs(of: options.context, client))
            // What a lock takes away must not stay behind in memory that ciphers gave back.
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
