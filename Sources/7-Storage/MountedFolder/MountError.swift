import CLibrary
import ProtectedFiles
import SystemLibraries

/// The reason why a view could not be mounted or unmounted.
package enum MountError: Error, CustomStringConvertible {
    case libraryMissing(SystemLibraryError)
    case file(SealedFileError)
    /// The folder has files that do not come from a view.
    case folderInUse(path: String, name: String)
    case classIsSet(path: String)
    /// The folder has encrypted names, but the key for them is missing.
    case namesMissing(path: String)
    case alreadyMounted(path: String)
    case mountPointNotEmpty(path: String)
    case nested(folder: String, mountPoint: String)
    case readOnly(path: String)
    /// The view is in use and cannot be unmounted now.
    case inUse(path: String)
    case refused(mountPoint: String, reason: String)
    case notUnmounted(mountPoint: String, reason: String)
    case system(operation: String, path: String, errno: Int32)

    package var description: String {
        switch self {
        case .libraryMissing(let error):
            error.symbol == nil
                ? "there is no \(error.library) on this machine: install the package fuse3" : error.description
        case .file(let error): error.description
        case .folderInUse(let path, let name):
            "\(path) has files that do not belong to a view, such as \(name): name an empty folder, mount it, "
                + "and move them there"
        case .classIsSet(let path):
            "\(path) has a class already: mount it without --class, and use `keychain file set-class` on the "
                + "mounted folder"
        case .namesMissing(let path): "\(path) has lost the key to its names: restore it from a backup"
        case .alreadyMounted(let path): "\(path) is mounted already"
        case .mountPointNotEmpty(let path): "\(path) is not empty: name an empty folder to mount at"
        case .nested(let folder, let mountPoint):
            "one of \(mountPoint) and \(folder) contains the other: mount somewhere else"
        case .readOnly(let path): "\(path) is empty: mount it without --read-only once"
        case .notUnmounted(let mountPoint, let reason): "cannot unmount \(mountPoint): \(reason)"
        case .refused(let mountPoint, let reason): "nothing can be mounted at \(mountPoint): \(reason)"
        case .inUse(let path):
            "programs use \(path): end them, or unmount it with --lazy, which lets them continue"
        case .system(let operation, let path, let errno):
            "cannot \(operation) \(path): \(String(cString: strerror(errno)))"
        }
    }
}

extension MountError {
    /// Runs `body` and converts its error to a ``MountError``.
    static func of<Value>(_ body: @autoclosure () throws(SealedFileError) -> Value) throws(MountError) -> Value {
        do { return try body() } catch { throw .file(error) }
    }
}
