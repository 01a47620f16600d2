import Access
import FoundationEssentials
import PrivateFiles
import VaultInterface

/// Reads a log without verifying it.
package struct AuditReader {
    private let folder: String
    private let limits: AuditLimits

    package init(folder: String, limits: AuditLimits = AuditLimits()) {
        self.folder = folder
        self.limits = limits
    }

    /// Returns whether the vault in `folder` has a log.
    package static func hasLog(in folder: String) -> Bool {
        guard let folder = try? PrivateFolder(existing: folder) else { return false }
        return folder.contains(AuditFiles.headName)
    }

    /// Returns the records for `query`, oldest first; nil if there is no log. Skips lines that are not records.
    package func records(_ query: AuditQuery) throws(FileError) -> [AuditRecord]? {
        guard let snapshot = try AuditSnapshot(of: folder, limits: limits) else { return nil }
        var found: [AuditRecord] = []
        // From the end, because most callers want only the last records.
        for file in snapshot.files.reversed() {
            for line in try AuditSnapshot.lines(of: file).whole.reversed() {
                if let limit = query.limit, found.count >= limit { return found.reversed() }
                guard let record = AuditLine(line)?.contents, record.time >= query.since ?? .min else { continue }
                found.append(record)
            }
        }
        return found.reversed()
    }
}
