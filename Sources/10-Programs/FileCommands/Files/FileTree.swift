import Bytes
import CLibrary
import CommandKit
import MountedFolder
import ProtectedFiles
import StatusCodes

/// The regular files that the paths on the command line name, and those below the folders that they name.
package struct FileTree {
    package struct File {
        package let path: String
        package let size: UInt64
        /// The file that was found. Somebody may put another one in its place before it is worked on.
        package let identity: FileIdentity
        package let isSymbolicLink: Bool

        package init(_ path: String, _ information: stat) {
            let kind = information.st_mode & S_IFMT
            self.path = path
            size = kind == S_IFREG ? UInt64(clamping: information.st_size) : 0
            identity = FileIdentity(information)
            isSymbolicLink = kind == S_IFLNK
        }
    }

    private(set) var files: [File] = []
    /// Symbolic links, sockets and the like, found below folders.
    private(set) var leftAlone = 0
    /// What could not be read.
    private(set) var unread: [(path: String, failure: Failure)] = []
    private let hasMarks: Bool
    private let goesOn: Bool

    /// Enters other file systems, but no symbolic links.
    ///
    /// - Parameters:
    ///   - marks: Whether to find the files that keep a folder's class and the key to its names. They are of no use
    ///     plain or in another class.
    ///   - goesOn: Whether to note in ``unread`` what cannot be read, and to go on with the rest.
    /// - Throws: ``Failure`` for a path that cannot be read.
    package init(_ paths: [String], marks: Bool, goingOn goesOn: Bool = false) throws {
        (hasMarks, self.goesOn) = (marks, goesOn)
        for path in paths { try add(path, named: path, in: AT_FDCWD, isOperand: true) }
    }

    private static let marks: Set = [FolderRecord.fileName, NameKeyRecord.fileName]

    package var size: UInt64 { files.reduce(0) { $0 + $1.size } }

    /// - Parameter parent: The open folder in which `name` is looked up, so that a link that replaces a folder
    ///   meanwhile is not followed.
    private mutating func add(_ path: String, named name: String, in parent: Int32, isOperand: Bool = false) throws {
        do {
            var information = stat()
            guard fstatat(parent, name, &information, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Self.failure("examine", path)
            }
            switch information.st_mode & S_IFMT {
            case S_IFDIR: try addFolder(path, named: name, in: parent)
            case S_IFREG: files.append(File(path, information))
            // The operation says why it refuses what the command line names.
            default: if isOperand { files.append(File(path, information)) } else { leftAlone += 1 }
            }
        } catch let failure as Failure where goesOn {
            // What is gone since its folder was listed needs nothing any more.
            guard isOperand || failure.status != errSecItemNotFound else { return }
            unread.append((path, failure))
        }
    }

    private mutating func addFolder(_ path: String, named name: String, in parent: Int32) throws {
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("open", path) }
        guard let stream = fdopendir(descriptor) else {
            defer { close(descriptor) }
            throw Self.failure("open", path)
        }
        defer { closedir(stream) }
        let folder = path.hasSuffix("/") ? path : path + "/"
        for name in try Self.names(stream, path) where hasMarks || !Self.marks.contains(name) {
            try add(folder + name, named: name, in: descriptor)
        }
    }

    /// Returns the names in a folder, in an order that is the same each time.
    private static func names(_ stream: OpaquePointer, _ folder: String) throws -> [String] {
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
