import FoundationEssentials
import PrivateFiles

/// The files of a log as they were at one moment, so that reading does not block appending.
struct AuditSnapshot {
    struct File {
        var name: String
        var file: PrivateFile
        var size: Int
    }

    /// Oldest first.
    private(set) var files: [File] = []
    /// The bytes of `audit.head`; nil if it does not exist.
    let head: Data?
    /// Whether the largest number of full files exists, so that older ones may have been removed.
    let isFull: Bool

    /// Nil if there is no log.
    init?(of path: String, limits: AuditLimits) throws(FileError) {
        let files = AuditFiles(folder: try PrivateFolder(existing: path), kept: limits.kept)
        let names = files.present
        let headFile: PrivateFile?
        if files.folder.contains(AuditFiles.headName) {
            headFile = try PrivateFile(AuditFiles.headName, in: files.folder, creating: false)
        } else {
            headFile = nil
        }
        guard !names.isEmpty || headFile != nil else { return nil }
        try headFile?.lock(deadline: .seconds(5))
        head = try headFile?.read(AuditHead.fileSize + 1, at: 0)
        for name in files.present {
            let file = try PrivateFile(name, in: files.folder, creating: false)
            self.files.append(File(name: name, file: file, size: try file.size))
        }
        isFull = self.files.filter { $0.name != AuditFiles.logName }.count >= limits.kept
    }

    /// Returns the complete lines of one file, and the number of bytes after them.
    static func lines(of file: File) throws(FileError) -> (whole: [Data], torn: Int) {
        AuditEnd.split(try file.file.read(file.size, at: 0))
    }
}
