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
    /// Whether the largest number of full files exists, so that older ones may have been removed.
    let isFull: Bool

    /// Returns both logs of the vault in the folder at `path` at the same moment; nil if there is none.
    static func both(of path: String, limits: AuditLimits) throws(FileError) -> [AuditSnapshot]? {
        let folder = try PrivateFolder(existing: path)
        let logs = AuditPart.allCases.map { AuditFiles(folder: folder, part: $0, kept: limits.kept) }
        guard logs.contains(where: \.exist) else { return nil }
        var heads: [PrivateFile?] = []
        // A writer holds one of these locks at a time, so that holding both blocks nobody forever.
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
        for (files, head) in zip(logs, heads) { snapshots.append(try AuditSnapshot(of: files, head)) }
        return withExtendedLifetime(heads) { snapshots }
    }

    /// The caller holds the lock on `headFile`.
    private init(of files: AuditFiles, _ headFile: PrivateFile?) throws(FileError) {
        part = files.part
        head = try headFile?.read(AuditHead.fileSize + 1, at: 0)
        for name in files.present {
            let file = try PrivateFile(name, in: files.folder, creating: false)
            self.files.append(File(name: name, file: file, size: try file.size))
        }
        isFull = self.files.filter { $0.name != files.part.logName }.count >= files.kept
    }

    /// Returns the complete lines of one file, and the number of bytes after them.
    static func lines(of file: File) throws(FileError) -> (whole: [Data], torn: Int) {
        AuditEnd.split(try file.file.read(file.size, at: 0))
    }
}
