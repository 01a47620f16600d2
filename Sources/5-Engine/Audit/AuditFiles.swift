import PrivateFiles

/// The files of a log: `audit.log` grows, `audit.log.1` is the one before it, and so on. `audit.head` records the end
/// of the log, and a process that appends holds a lock on it.
package struct AuditFiles: Sendable {
    static let logName = "audit.log"
    package static let headName = "audit.head"

    let folder: PrivateFolder
    /// The number of full files that are kept beside the growing one.
    let kept: Int

    static func fullName(_ number: Int) -> String { "\(logName).\(number)" }

    /// The names of the existing files, oldest first.
    var present: [String] {
        ((1...max(1, kept)).reversed().map(Self.fullName) + [Self.logName]).filter(folder.contains)
    }

    func openLog() throws(FileError) -> PrivateFile {
        try PrivateFile(Self.logName, in: folder, creating: true)
    }

    /// Makes room for a new `audit.log`. The caller holds the lock.
    func rotate() throws(FileError) {
        for number in (1..<max(1, kept)).reversed() where folder.contains(Self.fullName(number)) {
            try folder.rename(Self.fullName(number), to: Self.fullName(number + 1))
        }
        try folder.rename(Self.logName, to: Self.fullName(1))
    }

    /// The size of the last rotated file in bytes; 0 if there is none.
    var sizeOfLastFull: Int { (try? folder.size(of: Self.fullName(1))) ?? 0 }
}

/// The limits for the size of a log.
package struct AuditLimits: Sendable {
    /// The size in bytes at which a file is full.
    package var file = 16 << 20
    /// The number of full files that are kept beside the growing one; at least one.
    package var kept = 4
    /// The longest wait of an event for other processes, so that a stopped process does not block all others.
    package var patience = Duration.seconds(1)

    package init() {}
}
