import Bytes
import FoundationEssentials
import ProtectedFiles
import VaultInterface

extension ProtectedFile {
    /// All data of the file.
    ///
    /// They are wiped from memory when the last copy of the value goes; bytes that the program copies elsewhere are
    /// not.
    ///
    /// - Throws: ``ProtectedFileError/Code/notProtected`` for a plain file, and ``ProtectedFileError/Code/locked``
    ///   while the file's class is closed.
    public func data() throws -> Data {
        let path = try checkedPath()
        let session = try VaultSession.currentForFiles()
        return try ProtectedFileError.translating(path) {
            let file = try SealedFile(path, .reading, keys: session)
            defer { file.close() }
            let count = try file.length
            guard let count = Int(exactly: count) else { throw SealedFileError.memoryUnavailable }
            return try Data.wipedWhenFreed(upTo: count, orOutOfMemory: SealedFileError.memoryUnavailable) {
                try file.read(into: $0, at: 0)
            }
        }
    }

    /// Puts `data` into the file, in place of all it had, or into a new one.
    ///
    /// The name leads to the former contents or to the new ones, whole, whatever happens meanwhile, and the new ones
    /// are on the disk when the call returns. Replacing a file keeps the permissions of the old one; a new one is for
    /// its owner alone (0600).
    ///
    /// - Parameter options: The class, such as `.completeFileProtection`, and `.withoutOverwriting`. Without a class, a
    ///   file that is replaced keeps its own; a new one gets its folder's (``ProtectedFolder``), and where that has
    ///   none, `completeUntilFirstUserAuthentication`, as on iOS. It is always `.atomic`.
    /// - Throws: ``ProtectedFileError/Code/locked`` while no file of the class can be made.
    public func write(_ data: some DataProtocol, options: Data.WritingOptions = []) throws {
        let writer = try ProtectedFileWriter(
            self, protection: FileProtectionType(options), replacing: !options.contains(.withoutOverwriting))
        try writer.write(contentsOf: data)
        try writer.finish()
    }
}

extension Data {
    /// All data of a protected file; see ``ProtectedFile/data()``.
    ///
    /// - Throws: ``ProtectedFileError``.
    public init(contentsOf file: ProtectedFile) throws {
        self = try file.data()
    }

    /// Puts the data into a protected file; see ``ProtectedFile/write(_:options:)``.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func write(to file: ProtectedFile, options: Data.WritingOptions = []) throws {
        try file.write(self, options: options)
    }
}
