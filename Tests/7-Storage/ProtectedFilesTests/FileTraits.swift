import Foundation
import Glibc
import TestSupport
import Testing

@testable import ProtectedFiles

/// What a file has besides its contents.
struct FileTraits: Equatable {
    var mode: mode_t
    var owner: [UInt32]
    var changed: [Int]
    var read: [Int]
    var attributes: [String: [UInt8]]
    var size: Int
    var allocated: Int

    init(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SealedFileError.last("open", path) }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw SealedFileError.last("examine", path) }
        mode = information.st_mode
        owner = [information.st_uid, information.st_gid]
        changed = [information.st_mtim.tv_sec, information.st_mtim.tv_nsec]
        read = [information.st_atim.tv_sec, information.st_atim.tv_nsec]
        size = Int(information.st_size)
        allocated = Int(information.st_blocks) * 512
        attributes = try Dictionary(
            uniqueKeysWithValues: FileMetadata.attributes(of: descriptor, path: path).map { ($0.name, $0.value) })
    }

    /// Without what another form of the contents changes.
    var besidesContents: FileTraits {
        var copy = self
        (copy.size, copy.allocated) = (0, 0)
        return copy
    }
}

/// All that is in a folder: names, contents and what files have, but for the time they were last read.
struct FolderState: Equatable {
    private var files: [String: Data] = [:]
    private var traits: [String: FileTraits] = [:]
    let names: [String]

    init(_ path: String) throws {
        names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        for name in names {
            let path = path + "/" + name
            var information = stat()
            guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { continue }
            files[name] = try Data(contentsOf: URL(filePath: path))
            traits[name] = try FileTraits(path)
            traits[name]?.read = []
        }
    }
}

/// Runs the program `FileWorker` on a file, as a user without rights.
enum UnprivilegedWorker {
    static let nobody: uid_t = 65_534

    static let program = URL(filePath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("FileWorker").path

    /// - Returns: What it says.
    static func run(_ command: String, _ path: String) throws -> String {
        let arguments = [command, path, "1"]
        guard geteuid() == 0 else {
            return try Worker(arguments, command: program).remainingLines().joined(separator: "\n")
        }
        let drop = ["--reuid", "\(nobody)", "--regid", "\(nobody)", "--clear-groups", program]
        return try Worker(drop + arguments, command: "setpriv").remainingLines().joined(separator: "\n")
    }

    /// Gives that user a file or folder.
    static func give(_ path: String) {
        if geteuid() == 0 { chown(path, nobody, nobody) }
    }
}
