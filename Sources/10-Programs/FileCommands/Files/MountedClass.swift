import CLibrary
import CommandKit
import KeychainModel
import MountedFolder
import ProtectedFiles
import SystemLibraries

/// The class of a file in a mounted folder, where the file itself looks plain.
enum MountedClass {
    /// Returns nil outside of mounted folders.
    static func read(_ path: String) throws(SealedFileError) -> FileProtectionClass? {
        // Elsewhere anybody may have set an attribute of this name.
        guard MountPoint.holds(path) else { return nil }
        do throws(ExtendedAttributes.Failure) {
            let value = try ExtendedAttributes.value(MountPoint.classAttribute, of: .path(path))
            return FileProtectionClass(named: String(decoding: value, as: UTF8.self))
        } catch {
            if [ENODATA, ENOTSUP, ENOSYS].contains(error.errno) { return nil }
            throw .system(operation: "read the class of", path: path, errno: error.errno)
        }
    }

    static func write(_ fileClass: FileProtectionClass, _ path: String) throws(SealedFileError) {
        do throws(ExtendedAttributes.Failure) {
            try ExtendedAttributes.set(
                MountPoint.classAttribute, to: Array(fileClass.commandName.utf8), of: .path(path))
        } catch {
            throw .system(operation: "set the class of", path: path, errno: error.errno)
        }
    }
}
