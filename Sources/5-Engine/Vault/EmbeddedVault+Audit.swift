import Access
import Audit
import CLibrary
import KeychainModel
import PrivateFiles
import VaultInterface

/// Events for the audit log.
extension EmbeddedVault {
    /// Gives the log its folder and its key. A vault in memory has neither.
    func beginAudit() {
        guard gate.isRecording, let folder else { return }
        gate.begin(
            in: AuditPlace(
                folder: folder.folder.path, seal: { [weak self] in self?.currentKeybag.auditSeal }, now: now))
    }

    /// Returns the log of an embedded vault. A vault that has a log keeps it, whichever program opens the vault.
    /// `KEYCHAIN_AUDIT=1` begins a log.
    static func auditSink(forVaultAt path: String) -> any AuditSink {
        let isAsked = getenv("KEYCHAIN_AUDIT").map { strcmp($0, "1") == 0 } ?? false
        guard isAsked || access("\(path)/\(AuditFiles.headName)", F_OK) == 0 else { return NoAudit() }
        return AuditLog()
    }

    package func perform(
        _ operation: ReadAudit, as client: Client, send: (AuditRecord) throws(VaultError) -> Void
    ) throws(VaultError) {
        try authorizeAudit(client)
        let records = try inLogFolder { path throws(FileError) in
            try AuditReader(folder: path).records(operation.query)
        }
        for record in records { try send(record) }
    }

    package func perform(_ operation: VerifyAudit, as client: Client) throws(VaultError) -> AuditReport {
        try authorizeAudit(client)
        guard let seal = currentKeybag.auditSeal else { throw VaultError.classKeyAbsent(.always) }
        return try inLogFolder { path throws(FileError) in try AuditVerifier.verify(folder: path, under: seal) }
    }

    /// Records the reading of the log before it is read, so that the last record is authenticated with the present key.
    private func authorizeAudit(_ client: Client) throws(VaultError) {
        let authorization = try authorize(
            AccessRequest(.status, isAboutWholeVault: true), as: client, recordedAs: .inspected)
        gate.record(authorization)
        gate.flush()
    }

    private func inLogFolder<Result>(
        _ body: (String) throws(FileError) -> Result?
    ) throws(VaultError) -> Result {
        let found: Result?
        do {
            found = try folder.flatMap { folder throws(FileError) in try body(folder.folder.path) }
        } catch {
            throw VaultError(error)
        }
        guard let found else {
            throw .unusableVault(
                reason: "this vault has no audit log; begin one by using the vault with KEYCHAIN_AUDIT=1")
        }
        return found
    }
}

extension AuditFailure {
    package init(_ error: VaultError) {
        self =
            switch error {
            case .accessDenied(let refusal): AuditFailure(refusal)
            case .itemNotFound: .notFound
            case .duplicateItem: .duplicate
            case .interactionNotAllowed, .itemPasswordMissing, .classKeyAbsent: .locked
            case .authenticationFailed: .authenticationFailed
            case .userCanceled: .canceled
            case .presence(.userCancel), .presence(.systemCancel), .presence(.appCancel): .canceled
            case .presence(.authenticationFailed): .authenticationFailed
            case .wrongPasscode: .wrongPasscode
            case .passcodeDelayed: .delayed
            case .passcodeNotSet: .noPasscode
            case .erasedAfterWrongPasscodes: .erased
            case .invalidRequest, .valueTooLarge, .attributesTooLarge, .unsupported, .passcodeIsSet: .invalid
            case .corruptItem, .corruptVault, .corruptFileKey: .damaged
            case .unusableVault, .readOnly, .diskFull, .inputOutput, .busy: .storage
            default: .other
            }
    }
}
