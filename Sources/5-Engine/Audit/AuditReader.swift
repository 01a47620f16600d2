import Access
import FoundationEssentials
import PrivateFiles
import VaultInterface

/// Reads a log without checking it.
package struct AuditReader {
    private let folder: String
    private let limits: AuditLimits

    package init(folder: String, limits: AuditLimits = AuditLimits()) {
        self.folder = folder
        self.limits = limits
    }

    /// Whether the vault in `folder` has a log.
    package static func hasLog(in folder: String) -> Bool {
        guard let folder = try? PrivateFolder(existing: folder) else { return false }
        return folder.contains(AuditFiles.headName)
    }

    /// The records that `query` asks for, oldest first; nil if there is no log. Lines that are no records
    /// are left out.
    package func records(_ query: AuditQuery) throws(FileError) -> [AuditRecord]? {
        guard let snapshot = try AuditSnapshot(of: folder, limits: limits) else { return nil }
        var found: [AuditRecord] = []
        // From the end: most want the last records only.
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
