import Foundation
import Glibc
import KeychainModel

/// What a protected file tells without its key. Nothing of it is authenticated.
package struct SealedFileInfo: Equatable, Sendable {
    package let fileClass: FileProtectionClass
    /// The 16 bytes that tell the file from all others.
    package let identifier: Data
    /// Bytes of data.
    package let length: UInt64

    /// - Throws: ``SealedFileError/notProtected(path:)`` for any other file.
    package init(_ path: String) throws(SealedFileError) {
        let file = try OpenFile(path, flags: O_RDONLY)
        let header = try FileHeader(file.read(FileLayout.blockSize, at: 0), path: path)
        (fileClass, identifier, length) = (header.fileClass, Data(header.file), header.length)
    }
}
