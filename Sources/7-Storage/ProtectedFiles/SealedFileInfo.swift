import FoundationEssentials
import Glibc
import KeychainModel

/// What a protected file tells without its key. Nothing of it is authenticated.
package struct SealedFileInfo: Equatable, Sendable {
    package let fileClass: FileProtectionClass
    /// The 16 bytes that tell the file from all others.
    package let identifier: Data
    /// Bytes of data.
    package let length: UInt64

    /// Bytes that the file itself has, unless a change was interrupted or goes on.
    package var fileSize: UInt64 { FileLayout.size(length) }

    /// Bytes of data in a protected file that itself has `size`: what can be told of one that may not be read.
    package static func length(ofFileSize size: UInt64) -> UInt64 {
        var (low, high) = (UInt64(0), FileLayout.maximumLength)
        while low < high {
            let middle = (low + high + 1) / 2
            if FileLayout.size(middle) <= size { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// - Throws: ``SealedFileError/notProtected(path:)`` for any other file, and
    ///   ``SealedFileError/encryptedWithPassword(path:)`` for one that is in no class.
    package init(_ path: String) throws(SealedFileError) {
        try self.init(OpenFile(path, flags: O_RDONLY))
    }

    init(_ file: OpenFile) throws(SealedFileError) {
        let header = try FileHeader(file.read(FileLayout.blockSize, at: 0), path: file.path)
        (fileClass, identifier, length) = (try header.fileClass(file.path), Data(header.file), header.length)
    }
}

/// What a file that was encrypted with a password tells without it. Nothing of it is authenticated.
package struct PasswordFileHeader: Equatable, Sendable {
    /// The 16 bytes that tell the file from all others.
    package let identifier: Data
    /// Bytes of data.
    package let length: UInt64
    /// What ``PasswordKeySource`` made.
    package let wrapped: Data

    /// - Throws: ``SealedFileError/notEncryptedWithPassword(path:)`` for a file in a class of a vault.
    package init(_ path: String) throws(SealedFileError) {
        let file = try OpenFile(path, flags: O_RDONLY)
        let header = try FileHeader(file.read(FileLayout.blockSize, at: 0), path: path)
        guard header.kind == .password else { throw .notEncryptedWithPassword(path: path) }
        (identifier, length, wrapped) = (Data(header.file), header.length, header.wrapped)
    }
}
