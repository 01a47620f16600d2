import PrivateFiles

/// The files of a log: `audit.log` grows, `audit.log.1` came before it, and so on; `audit.head` says where
/// the log ends, and whoever appends holds a lock on it.
package struct AuditFiles: Sendable {
    static let logName = "audit.log"
    package static let headName = "audit.head"

    let folder: PrivateFolder
    /// How many full files are kept beside the one that grows.
    let kept: Int

    static func fullName(_ number: Int) -> String { "\(logName).\(number)" }

    /// The names of the files that are there, oldest first.
    var present: [String] {
        ((1...max(1, kept)).reversed().map(Self.fullName) + [Self.logName]).filter(folder.contains)
    }

    func openLog() throws(FileError) -> PrivateFile {
        try PrivateFile(Self.logName, in: folder, creating: true)
    }

    /// Makes room for a new `audit.log`. For callers that hold the lock.
    func rotate() throws(FileError) {
        for number in (1..<max(1, kept)).reversed() where folder.contains(Self.fullName(number)) {
            try folder.rename(Self.fullName(number), to: Self.fullName(number + 1))
        }
        try folder.rename(Self.logName, to: Self.fullName(1))
    }

    /// The length of the file that was rotated last; 0 if there is none.
    var sizeOfLastFull: Int { (try? folder.size(of: Self.fullName(1))) ?? 0 }
}

/// How much of a log is kept.
package struct AuditLimits: Sendable {
    /// The length in bytes at which a file is full.
    package var file = 16 << 20
    /// How many full files are kept beside the one that grows; at least one.
    package var kept = 4
    /// How long an event waits for other processes: a stopped one must not stop everybody.
    package var patience = Duration.seconds(1)

    package init() {}
}
