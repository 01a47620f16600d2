import Access
import PrivateFiles
import VaultInterface

/// What the audit log is told.
extension EmbeddedVault {
    /// Shows the log its place and its key. A vault in memory has neither.
    func beginAudit() {
        guard gate.isRecording, let folder else { return }
        gate.begin(
            in: AuditPlace(
                folder: folder.folder.path, seal: { [weak self] in self?.currentKeybag.auditSeal }, now: now))
    }

    /// Runs an authorised operation and records how it ended.
    ///
    /// - Parameters:
    ///   - kind: What comes of it.
    ///   - items: How many items a result stands for.
    func recording<Result>(
        _ kind: AuditEvent.Kind, of authorization: Authorization, items: (Result) -> Int?,
        _ operation: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard gate.isRecording else { return try operation() }
        let result: Result
        do {
            result = try operation()
        } catch {
            if case .accessDenied(let refusal) = error {
                gate.refused(authorization.operation, for: authorization.client, refusal)
            } else {
                gate.record(kind, of: authorization, failure: AuditFailure(error))
            }
            throw error
        }
        gate.record(kind, of: authorization, items: items(result))
        return result
    }
}

extension AuditFailure {
    package init(_ error: VaultError) {
        self =
            switch error {
            case .accessDenied(let refusal): AuditFailure(refusal)
            case .itemNotFound: .notFound
            case .duplicateItem: .duplicate
            case .interactionNotAllowed, .classKeyAbsent: .locked
            case .authenticationFailed: .authenticationFailed
            case .userCanceled: .canceled
            case .wrongPasscode: .wrongPasscode
            case .passcodeDelayed: .delayed
            case .passcodeNotSet: .noPasscode
            case .erasedAfterWrongPasscodes: .erased
            case .invalidRequest, .valueTooLarge, .attributesTooLarge, .unsupported, .passcodeIsSet: .invalid
            case .corruptItem, .corruptVault: .damaged
            case .unusableVault, .readOnly, .diskFull, .inputOutput, .busy: .storage
            default: .other
            }
    }
}
