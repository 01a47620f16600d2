import Foundation
import Glibc
import KeychainServices
import MountedFolder
import ProtectedFiles

/// The regular files that paths on the command line stand for: themselves, or everything below a folder.
struct FileTree {
    private(set) var files: [(path: String, size: UInt64)] = []
    /// Symbolic links, sockets and the like, found below folders.
    private(set) var leftAlone = 0
    private let hasMarks: Bool

    /// - Parameter marks: Whether to find the files that keep a folder's class and the key to its names, which are of no
    ///   use plain or in another class.
    /// - Throws: ``Failure`` for a path that cannot be read. Other file systems are entered, symbolic links are not.
    init(_ paths: [String], marks: Bool) throws(Failure) {
        hasMarks = marks
        for path in paths { try add(path, isNamed: true) }
    }

    private static let marks: Set = [FolderRecord.fileName, NameKeyRecord.fileName]

    var size: UInt64 { files.reduce(0) { $0 + $1.size } }

    private mutating func add(_ path: String, isNamed: Bool) throws(Failure) {
        var information = stat()
        guard lstat(path, &information) == 0 else { throw Self.failure("examine", path) }
        switch information.st_mode & S_IFMT {
        case S_IFREG: files.append((path, UInt64(information.st_size)))
        case S_IFDIR:
            let folder = path.hasSuffix("/") ? path : path + "/"
            for name in try Self.names(in: path) where hasMarks || !Self.marks.contains(name) {
                try add(folder + name, isNamed: false)
            }
        // The operation says why it refuses what was named.
        case _ where isNamed: files.append((path, 0))
        default: leftAlone += 1
        }
    }

    /// In an order that is the same each time.
    private static func names(in folder: String) throws(Failure) -> [String] {
        guard let stream = opendir(folder) else { throw failure("open", folder) }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw failure("read", folder) }
        return names.sorted()
    }

    private static func failure(_ operation: String, _ path: String) -> Failure {
        let status = errno == ENOENT ? errSecItemNotFound : errSecIO
        return Failure(
            status: status, exitCode: status == errSecIO ? ExitStatus.other : nil,
            "cannot \(operation) \(path.escapedForTerminal): \(String(cString: strerror(errno)))")
    }
}
