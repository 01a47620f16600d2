import FoundationEssentials
import PrivateFiles

/// The files of a log as they were at one moment, so that reading does not block appending.
struct AuditSnapshot {
    struct File {
        var name: String
        var file: PrivateFile
        var size: Int
    }

    let part: AuditPart
    /// Oldest first.
    private(set) var files: [File] = []
    /// The bytes of the head; nil if it does not exist.
    let head: Data?
    /// Whether older files may have been removed to make room: the largest number of full files exists, and each is as
    /// long as a file is before a new one is begun.
    let isFull: Bool

    /// Both logs at the same moment, and the anchor of that moment.
    struct Both {
        var logs: [AuditSnapshot]
        var anchor: AuditAnchor.Found
    }

    /// Returns both logs of the vault in the folder at `path` at the same moment; nil if there is none.
    static func both(of path: String, limits: AuditLimits) throws(FileError) -> Both? {
        let folder = try PrivateFolder(existing: path)
        let logs = AuditPart.allCases.map { AuditFiles(folder: folder, part: $0, kept: limits.kept) }
        guard logs.contains(where: \.exist) else { return nil }
        var heads: [PrivateFile?] = []
        // Every process takes the two locks in this order. Otherwise two processes could wait for each other forever.
        for files in logs {
            guard folder.contains(files.part.headName) else {
                heads.append(nil)
                continue
            }
            let head = try PrivateFile(files.part.headName, in: folder, creating: false)
            try head.lock(deadline: .seconds(5))
            heads.append(head)
        }
        var snapshots: [AuditSnapshot] = []
        for (files, head) in zip(logs, heads) { snapshots.append(try AuditSnapshot(of: files, head, limits: limits)) }
        let both = Both(logs: snapshots, anchor: try AuditAnchor.find(in: folder))
        return withExtendedLifetime(heads) { both }
    }

    /// The caller holds the lock on `headFile`.
    init(of files: AuditFiles, _ headFile: PrivateFile?, limits: AuditLimits) throws(FileError) {
        part = files.part
        head = try headFile?.read(AuditHead.longFileSize + 1, at: 0)
        for name in files.present {
            let file = try PrivateFile(name, in: files.folder, creating: false)
            self.files.append(File(name: name, file: file, size: try file.size))
        }
        let full = self.files.filter { $0.name != files.part.logName }
        // A change to a new file that was interrupted left one of the full files under the name of the growing one.
        let count = self.files.filter { $0.size >= limits.file }.count
        isFull = count >= files.kept && full.allSatisfy { $0.size >= limits.file }
    }

    /// Returns the complete lines of one file, and the number of bytes after them.
    static func lines(of file: File) throws(FileError) -> (whole: [Data], torn: Int) {
        AuditEnd.split(try file.file.read(file.size, at: 0))
    }
}
