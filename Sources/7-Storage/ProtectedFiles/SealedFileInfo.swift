import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel

/// The properties of a protected file that can be read without its key. They are not authenticated.
package struct SealedFileInfo: Equatable, Sendable {
    package let fileClass: FileProtectionClass
    /// The file's unique identifier of 16 bytes.
    package let identifier: Data
    /// The length of the data in bytes.
    package let length: UInt64

    /// The size of the file itself in bytes. It differs during a change and after an interrupted one.
    package var fileSize: UInt64 { FileLayout.size(length) }

    /// Returns the length of the data in a protected file of `size` bytes, for a file that may not be read.
    package static func length(ofFileSize size: UInt64) -> UInt64 {
        var (low, high) = (UInt64(0), FileLayout.maximumLength)
        while low < high {
            let middle = (low + high + 1) / 2
            if FileLayout.size(middle) <= size { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// - Throws: ``SealedFileError/notProtected(path:)`` for any other file;
    ///   ``SealedFileError/encryptedWithPassword(path:)`` for a file without a class.
    package init(_ path: String) throws(SealedFileError) {
        try self.init(OpenFile(path, flags: O_RDONLY))
    }

    init(_ file: OpenFile) throws(SealedFileError) {
        let header = try FileHeader(file.read(FileLayout.blockSize, at: 0), path: file.path)
        (fileClass, identifier, length) = (try header.fileClass(file.path), Data(header.file), header.length)
    }
}

/// The properties of a file under a password that can be read without it. They are not authenticated.
package struct PasswordFileHeader: Equatable, Sendable {
    /// The file's unique identifier of 16 bytes.
    package let identifier: Data
    /// The length of the data in bytes.
    package let length: UInt64
    /// The wrapped key, which ``PasswordKeySource`` made.
    package let wrapped: Data

    /// - Throws: ``SealedFileError/notEncryptedWithPassword(path:)`` for a file in a class of a vault.
    package init(_ path: String) throws(SealedFileError) {
        let file = try OpenFile(path, flags: O_RDONLY)
        let header = try FileHeader(file.read(FileLayout.blockSize, at: 0), path: path)
        guard header.kind == .password else { throw .notEncryptedWithPassword(path: path) }
        (identifier, length, wrapped) = (Data(header.file), header.length, header.wrapped)
    }
}
