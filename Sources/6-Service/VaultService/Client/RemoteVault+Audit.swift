import Access
import VaultInterface

/// The audit log of the daemon's vault.
extension RemoteVault {
    package func auditRecords(_ query: AuditQuery, as client: Client) throws(VaultError) -> [AuditRecord] {
        let answer = try call(.auditRecords(query), as: client)
        guard case .count(answer.auditRecords.count) = answer.reply else { throw Self.nonsense }
        return answer.auditRecords
    }

    package func verifyAudit(as client: Client) throws(VaultError) -> AuditReport {
        guard case .auditReport(let report) = try call(.verifyAudit, as: client).reply else { throw Self.nonsense }
        return report
    }
}
