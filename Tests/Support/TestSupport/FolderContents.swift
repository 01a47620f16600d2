import Foundation
import Glibc

/// The files of a folder with their modes and bytes, for finding out whether anything changed.
package struct FolderContents: Equatable {
    package struct Entry: Equatable {
        package var mode: UInt32
        /// Nil for anything except a regular file.
        package var bytes: Data?
    }

    package private(set) var mode: UInt32
    package private(set) var entries: [String: Entry] = [:]

    package init(of path: String) throws {
        mode = try Self.mode(of: path)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let file = path + "/" + name
            let mode = try Self.mode(of: file)
            let isRegular = mode & S_IFMT == S_IFREG
            entries[name] = Entry(
                mode: mode, bytes: isRegular ? try Data(contentsOf: URL(fileURLWithPath: file)) : nil)
        }
    }

    /// Returns the file type and permission bits of the file at `path`.
    package static func mode(of path: String) throws -> UInt32 {
        var info = stat()
        guard lstat(path, &info) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return info.st_mode
    }

    /// Empties the folder at `path` and writes the regular files to it.
    package func restore(to path: String) throws {
        mkdir(path, 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
        for (name, entry) in entries {
            guard let bytes = entry.bytes else { continue }
            try Self.write(bytes, to: path + "/" + name)
        }
    }

    /// Creates or replaces the file at `path` with mode 0600. Unlike `Data.write`, it does not wait for the disk.
    package static func write(_ bytes: Data, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: bytes)
    }

    package subscript(name: String) -> Data? {
        get { entries[name]?.bytes }
        set { entries[name] = newValue.map { Entry(mode: 0o600 | S_IFREG, bytes: $0) } }
    }
}
