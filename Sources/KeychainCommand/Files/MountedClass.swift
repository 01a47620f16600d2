import Glibc
import KeychainModel
import MountedFolder
import ProtectedFiles
import SystemLibraries

/// The class of a file in a mounted folder, where the file itself looks plain.
enum MountedClass {
    private typealias Get =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int)
        -> Int
    private typealias Set =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32

    /// Nil outside of mounted folders.
    static func read(_ path: String) throws(SealedFileError) -> FileProtectionClass? {
        // Elsewhere the attribute is a name like any other.
        guard MountPoint.holds(path), let get: Get = libraryFunction("getxattr") else { return nil }
        var value = [UInt8](repeating: 0, count: 64)
        let count = get(path, MountPoint.classAttribute, &value, value.count)
        guard count >= 0 else {
            if errno == ENODATA || errno == ENOTSUP { return nil }
            throw .system(operation: "read the class of", path: path, errno: errno)
        }
        return FileProtectionClass(named: String(decoding: value[..<count], as: UTF8.self))
    }

    static func write(_ fileClass: FileProtectionClass, _ path: String) throws(SealedFileError) {
        let value = Array(fileClass.commandName.utf8)
        guard let set: Set = libraryFunction("setxattr"),
            set(path, MountPoint.classAttribute, value, value.count, 0) == 0
        else { throw .system(operation: "set the class of", path: path, errno: errno) }
    }
}
