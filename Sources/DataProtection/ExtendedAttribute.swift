import Glibc
import SystemLibraries

/// An extended attribute of a file (xattr(7)), whose functions Swift's module of the C library does not show.
struct ExtendedAttribute {
    private typealias Get =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
        ) -> Int
    private typealias Set =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32
    private typealias Remove = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32

    /// Whether backups take the file, `true` or `false` (freedesktop.org, Common Extended Attributes).
    static let robotsBackup = ExtendedAttribute(name: "user.xdg.robots.backup")

    let name: String

    /// The value as text; nil if the file has no such attribute.
    func value(_ path: String) throws(ProtectedFileError) -> String? {
        guard let get: Get = libraryFunction("getxattr") else { throw failure("read", path, ENOSYS) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = get(path, name, &bytes, bytes.count)
        guard count >= 0 else {
            if errno == ENODATA { return nil }
            throw failure("read", path, errno)
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    func set(_ value: String, _ path: String) throws(ProtectedFileError) {
        guard let set: Set = libraryFunction("setxattr") else { throw failure("set", path, ENOSYS) }
        guard set(path, name, value, value.utf8.count, 0) == 0 else { throw failure("set", path, errno) }
    }

    func remove(_ path: String) throws(ProtectedFileError) {
        guard let remove: Remove = libraryFunction("removexattr") else { throw failure("remove", path, ENOSYS) }
        guard remove(path, name) == 0 || errno == ENODATA else { throw failure("remove", path, errno) }
    }

    private func failure(_ operation: String, _ path: String, _ number: Int32) -> ProtectedFileError {
        ProtectedFileError("\(operation) the attribute '\(name)' of", path, errno: number)
    }
}
