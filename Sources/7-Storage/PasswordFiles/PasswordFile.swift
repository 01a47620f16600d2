import Bytes
import FoundationEssentials
import ProtectedFiles

/// Encryption of whole files with a password, and decryption, also of files of other programs.
package enum PasswordFile {
    /// The number of bytes that are processed at a time.
    private static let pieceSize = 1 << 20

    /// The file format, according to the first bytes.
    package enum Form: String, Sendable {
        case keychain, age, openssl
    }

    /// The file name extension for files that ``encrypt(_:with:progress:)`` makes.
    package static let suffix = ".kcp"

    /// Encrypts the rest of the input.
    ///
    /// - Parameter progress: Called with the size in bytes of each finished piece.
    package static func encrypt(
        _ input: InputBytes, with writer: SealedFileWriter, progress: (UInt64) -> Void = { _ in }
    ) throws(SealedFileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 4096)
        defer {
            SecretBytes.wipe(buffer)
            buffer.deallocate()
        }
        while true {
            let count = try input.read(into: buffer)
            guard count > 0 else { return }
            try writer.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            progress(UInt64(clamping: count))
        }
    }

    /// - Throws: ``SealedFileError/unreadable(path:reason:)`` for any other file.
    package static func form(of input: InputBytes) throws(SealedFileError) -> Form {
        if try input.peek(8) == Data("SKPFILE\0".utf8) { return .keychain }
        if try AgeFile.begins(input) { return .age }
        if try OpenSSLFile.begins(input) { return .openssl }
        if try input.peek(10) == Data("U2FsdGVkX1".utf8) {
            throw .unreadable(path: input.path, reason: "it is in base64; decode it first, as with base64 -d")
        }
        throw .unreadable(
            path: input.path, reason: "it begins neither as a file of this program nor as one of age or openssl")
    }

    /// Passes the data of a file of this program to `write`, each piece after it was verified.
    package static func decrypt(
        _ file: SealedFile, write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 4096)
        defer {
            SecretBytes.wipe(buffer)
            buffer.deallocate()
        }
        var offset: UInt64 = 0
        while true {
            let count = try file.read(into: buffer, at: offset)
            guard count > 0 else { return }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(clamping: count)
        }
    }
}
