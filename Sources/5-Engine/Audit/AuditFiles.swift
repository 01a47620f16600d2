import Access
import PrivateFiles

/// One of the two logs of a vault. Each has its own files and its own chain, so that looks never push out a change.
package enum AuditPart: String, CaseIterable, Sendable {
    /// Changes, refusals, uses of keys, the lock and administration.
    case changes = "audit"
    /// Events that only look; see ``AuditEvent/Kind/isLook``.
    case looks = "audit-looks"

    var logName: String { "\(rawValue).log" }
    var headName: String { "\(rawValue).head" }
    var other: AuditPart { self == .changes ? .looks : .changes }

    init(of event: AuditEvent) {
        self = event.kind.isLook ? .looks : .changes
    }
}

/// The files of a log: `audit.log` grows, `audit.log.1` is the one before it, and so on. `audit.head` records the end
/// of the log, and a process that appends holds a lock on it.
struct AuditFiles: Sendable {
    let folder: PrivateFolder
    let part: AuditPart
    /// The number of full files that are kept beside the growing one.
    let kept: Int

    private func fullName(_ number: Int) -> String { "\(part.logName).\(number)" }

    /// The names of the existing files, oldest first.
    var present: [String] {
        ((1...max(1, kept)).reversed().map(fullName) + [part.logName]).filter(folder.contains)
    }

    /// Whether anything of the log exists.
    var exist: Bool { folder.contains(part.headName) || !present.isEmpty }

    func openLog() throws(FileError) -> PrivateFile {
        try PrivateFile(part.logName, in: folder, creating: true)
    }

    /// Makes room for a new `audit.log`. The caller holds the lock.
    func rotate() throws(FileError) {
        for number in (1..<max(1, kept)).reversed() where folder.contains(fullName(number)) {
            try folder.rename(fullName(number), to: fullName(number + 1))
        }
        try folder.rename(part.logName, to: fullName(1))
    }

    /// The size of the last rotated file in bytes; 0 if there is none.
    var sizeOfLastFull: Int { (try? folder.size(of: fullName(1))) ?? 0 }
}

/// The limits for the size of each of the two logs.
package struct AuditLimits: Sendable {
    /// The size in bytes at which a file is full.
    package var file = 16 << 20
    /// The number of full files that are kept beside the growing one; at least one.
    package var kept = 4
    /// The longest wait of an event for other processes, so that a stopped process does not block all others.
    package var patience = Duration.seconds(1)

    package init() {}
}
