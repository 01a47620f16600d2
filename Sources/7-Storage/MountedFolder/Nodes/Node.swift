import CFuse3
import CLibrary
import ProtectedFiles
import VaultInterface

/// A file, folder or link of the view, while the kernel knows it.
///
/// It refers to the file below independently of its name, which may be changed or removed.
// Safe to share between threads: only the table, which has a lock, uses `lookups`, and `record` is used within `lock`.
final class Node: @unchecked Sendable {
    let number: UInt64
    let descriptor: Int32
    let identity: FileIdentity
    /// Such as `S_IFREG` or `S_IFDIR`.
    let kind: mode_t
    /// How many times the kernel was told of the node.
    var lookups: UInt64 = 0

    /// Nil unless the node is a regular file.
    let contents: FileContents?

    private let lock = ThreadLock()
    private var record: (value: FolderRecord, names: NameCipher)?

    /// - Parameter descriptor: Closed with the node.
    init(
        _ number: UInt64, _ descriptor: Int32, _ information: stat, keys: any FileKeySource, lockState: KnownLockState
    ) {
        (self.number, self.descriptor) = (number, descriptor)
        identity = FileIdentity(information)
        kind = information.st_mode & S_IFMT
        contents = kind == S_IFREG ? FileContents(descriptor, keys: keys, lockState: lockState) : nil
    }

    deinit { close(descriptor) }

    /// Leads to the file below.
    var path: String { "/proc/self/fd/\(descriptor)" }

    var information: stat {
        get throws(Errno) {
            var information = stat()
            guard fstat(descriptor, &information) == 0 else { throw .last }
            return information
        }
    }

    // MARK: Folders

    /// Returns the cipher for the names in this folder.
    func names(_ key: NameKey, keys: any FileKeySource) throws(Errno) -> NameCipher {
        try folder(key, keys).names
    }

    func folderRecord(_ key: NameKey, keys: any FileKeySource) throws(Errno) -> FolderRecord {
        try folder(key, keys).value
    }

    private func folder(
        _ key: NameKey, _ keys: any FileKeySource
    ) throws(Errno) -> (value: FolderRecord, names: NameCipher) {
        lock.lock()
        defer { lock.unlock() }
        if let record { return record }
        guard kind == S_IFDIR else { throw Errno(ENOTDIR) }
        let found = try Errno.of(FolderRecord.read(in: path, keys: keys))
        guard let found, found.encryptsNames else { throw Errno(EIO) }
        let result = (found, key.names(inFolder: found.identifier))
        record = result
        return result
    }

    /// Stores `value` as the folder's record.
    func setRecord(_ value: FolderRecord, _ key: NameKey, keys: any FileKeySource) throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        try Errno.of(value.write(in: path, keys: keys))
        record = (value, key.names(inFolder: value.identifier))
    }
}
