import CLibrary
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import VaultInterface

extension ProtectedFile {
    /// Puts the file into a class: a plain one is protected in its place, a protected one gets another class in a time
    /// that does not depend on its size.
    ///
    /// A protected file keeps its key, which is wrapped anew. Whoever has a copy of the former file can still open the
    /// data with what opened its former class. Where that matters, use ``renewKey(_:progress:)``.
    ///
    /// - Throws: ``ProtectedFileError/Code/locked`` while its class, or the new one, is closed.
    public func setProtection(_ type: FileProtectionType) throws {
        let path = try resolvedPath()
        let fileClass = try FileProtectionClass(type, for: path)
        let session = try VaultSession.currentForFiles()
        guard let present = try info() else {
            return try ProtectedFileError.translating(path) {
                try FileConversion(keys: session).protect(path, fileClass)
            }
        }
        // What the file says is not authenticated; only that there is nothing to do is decided by it, and changes
        // nothing.
        guard present.protection != type else { return }
        try ProtectedFileError.translating(path) {
            let file = try SealedFile(path, .writing, keys: session, durability: .power)
            defer { file.close() }
            try file.changeClass(to: fileClass, keys: session)
        }
    }

    /// Wraps the key of the protected file with this name anew, under the present key of its class.
    ///
    /// - Returns: Whether the wrapped key is another one now.
    package func rewrapKey() throws -> Bool {
        let path = try resolvedPath()
        let session = try VaultSession.currentForFiles()
        return try ProtectedFileError.translating(path) {
            let file = try SealedFile(path, .writing, keys: session, durability: .power)
            defer { file.close() }
            return try file.rewrapKey(keys: session)
        }
    }

    /// Seals the contents of the protected file with this name under a new key, in its place.
    ///
    /// No copy of the former file's header opens anything of the new file. The name leads to the former file or to the
    /// new one, whole, whatever happens meanwhile. Owner, permissions, times and extended attributes stay. A program
    /// that has the former file open goes on reading that one; one that has it open for writing keeps this from being
    /// done. What the former file was stays on the disk until its blocks are used again.
    ///
    /// - Parameters:
    ///   - type: The class from then on; nil for the one that the file has.
    ///   - progress: Called with the bytes of each piece that was done.
    /// - Throws: ``ProtectedFileError/Code/notProtected``, ``ProtectedFileError/Code/hardLinked`` for a file with
    ///   several names, ``ProtectedFileError/Code/locked``, and whatever kept it from being done, with the file as it
    ///   was.
    public func renewKey(_ type: FileProtectionType? = nil, progress: (UInt64) -> Void = { _ in }) throws {
        let path = try resolvedPath()
        let fileClass = try type.map { try FileProtectionClass($0, for: path) }
        let session = try VaultSession.currentForFiles()
        try ProtectedFileError.translating(path) {
            try FileConversion(keys: session).renewKey(path, movingTo: fileClass, progress: progress)
        }
    }

    /// Protects the plain file with this name, in its place.
    ///
    /// The name leads to the plain file or to the protected one, whole, whatever happens meanwhile. Owner, permissions,
    /// times, extended attributes and holes stay. What the plain file was stays on the disk until its blocks are used
    /// again.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - progress: Called with the bytes of each piece that was done.
    /// - Throws: ``ProtectedFileError/Code/alreadyProtected``, and whatever kept it from being done, with the file as
    ///   it was.
    public func protect(
        _ type: FileProtectionType, progress: (UInt64) -> Void = { _ in }
    ) throws {
        let path = try resolvedPath()
        let fileClass = try FileProtectionClass(type, for: path)
        let session = try VaultSession.currentForFiles()
        try ProtectedFileError.translating(path) {
            try FileConversion(keys: session).protect(path, fileClass, progress: progress)
        }
    }

    /// Makes the protected file with this name plain again, in its place.
    ///
    /// - Parameter progress: Called with the bytes of each piece that was done.
    /// - Throws: ``ProtectedFileError``.
    public func unprotect(progress: (UInt64) -> Void = { _ in }) throws {
        let path = try resolvedPath()
        let session = try VaultSession.currentForFiles()
        try ProtectedFileError.translating(path) {
            try FileConversion(keys: session).unprotect(path, progress: progress)
        }
    }

    /// Makes a copy under a key of its own, with the same class and everything else that the file has besides its
    /// contents.
    ///
    /// - Throws: ``ProtectedFileError/Code/fileExists`` if there is something with the name already.
    public func copy(to other: ProtectedFile) throws {
        let (source, target) = (try resolvedPath(), try other.checkedPath())
        let session = try VaultSession.currentForFiles()
        try ProtectedFileError.translating(source) {
            try FileConversion(keys: session).copy(source, to: target)
        }
    }

    /// Puts another file, with all that it is, in the place of this one in one step; its own name is gone then.
    ///
    /// Both have to be on the same file system. What `FileManager.replaceItemAt` is for, which loses files on Linux.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func replace(with other: ProtectedFile) throws {
        let (target, source) = (try checkedPath(), try other.checkedPath())
        guard rename(source, target) == 0 else {
            throw ProtectedFileError("put \(source) in the place of", target, errno: errno)
        }
    }

    /// Opens everything in the file.
    ///
    /// - Throws: ``ProtectedFileError/Code/damaged``, with the first place that does not verify.
    public func verify() throws {
        let path = try checkedPath()
        let session = try VaultSession.currentForFiles()
        try ProtectedFileError.translating(path) {
            let file = try SealedFile(path, .reading, keys: session)
            defer { file.close() }
            let report = try file.verify()
            guard report.isSound else {
                throw SealedFileError.damaged(path: path, part: report.damage.first ?? .header)
            }
        }
    }
}
