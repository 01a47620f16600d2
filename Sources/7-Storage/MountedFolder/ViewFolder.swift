import CLibrary
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The folder below a view. While it is open, no other process can open it for a view.
package final class ViewFolder: Sendable {
    package let path: String
    let nameKey: NameKey
    private let descriptor: Int32

    /// Opens the folder. Prepares an empty folder for a view.
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - fileClass: The class of new files, for a folder that is prepared now; nil for
    ///     `completeUntilFirstUserAuthentication`.
    package init(
        _ path: String, class fileClass: FileProtectionClass?, readOnly: Bool, keys: any FileKeySource
    ) throws(MountError) {
        self.path = path
        descriptor = CLibrary.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation: "open", path: path, errno: errno) }
        do throws(MountError) {
            guard flock(descriptor, (readOnly ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
                throw errno == EWOULDBLOCK
                    ? .alreadyMounted(path: path) : .system(operation: "lock", path: path, errno: errno)
            }
            nameKey = try Self.begin(path, fileClass, readOnly, keys)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    private static func begin(
        _ path: String, _ fileClass: FileProtectionClass?, _ readOnly: Bool, _ keys: any FileKeySource
    ) throws(MountError) -> NameKey {
        let record = try MountError.of(FolderRecord.read(in: path, keys: keys))
        let found = try MountError.of(NameKeyRecord.read(in: path, keys: keys))
        if let record, record.encryptsNames {
            guard let found else { throw .namesMissing(path: path) }
            guard fileClass == nil || fileClass == record.defaultClass else { throw .classIsSet(path: path) }
            return found
        }
        try checkEmpty(path)
        guard !readOnly else { throw .readOnly(path: path) }
        // Creates the key first, because the record marks the folder as one below a view.
        if found == nil {
            try MountError.of(NameKeyRecord.create(in: path, keys: keys))
        }
        let first = FolderRecord(
            fileClass ?? record?.defaultClass ?? .completeUntilFirstUserAuthentication, encryptingNames: true)
        try MountError.of(first.write(in: path, keys: keys))
        guard let key = try MountError.of(NameKeyRecord.read(in: path, keys: keys)) else {
            throw .namesMissing(path: path)
        }
        return key
    }

    /// - Throws: ``MountError/folderInUse(path:name:)`` if the folder has more than the remains of an interrupted
    ///   start.
    private static func checkEmpty(_ path: String) throws(MountError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw .system(operation: "read", path: path, errno: EIO)
        }
        let ours = [FolderRecord.fileName, NameKeyRecord.fileName]
        guard let other = names.sorted().first(where: { !ours.contains($0) }) else { return }
        throw .folderInUse(path: path, name: other)
    }
}
