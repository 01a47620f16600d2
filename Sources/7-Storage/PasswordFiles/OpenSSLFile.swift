import Bytes
import Crypto
import CryptoExtras
import FoundationEssentials
import ProtectedFiles

/// A file of `openssl enc -aes-256-cbc -pbkdf2`, read from beginning to end.
///
/// Such a file is not authenticated: anyone who may write to it can change the data unnoticed.
package struct OpenSSLFile {
    private static let magic = Data("Salted__".utf8)
    private static let saltSize = 8
    private static let blockSize = 16
    private static let pieceSize = 65_536

    private let input: any ByteStream
    private let path: String
    private let salt: [UInt8]
    private let cost: PasswordCost

    /// - Parameter iterations: The value of `-iter`, which the file does not contain; 10,000 without that option.
    package init(_ input: any ByteStream, path: String, iterations: UInt32) throws(SealedFileError) {
        (self.input, self.path) = (input, path)
        guard try input.read(Self.magic.count) == Self.magic else {
            throw .unreadable(path: path, reason: "it does not begin like a file of openssl")
        }
        salt = [UInt8](try input.read(Self.saltSize))
        cost = .pbkdf2(iterations: iterations)
        guard salt.count == Self.saltSize else { throw .truncated(path: path) }
        guard cost.isAcceptable else { throw .tooCostly(path: path, cost: cost.description) }
    }

    /// Returns whether the bytes are the start of such a file.
    package static func begins(_ input: any ByteStream) throws(SealedFileError) -> Bool {
        try input.peek(magic.count) == magic
    }

    /// Passes the data to `write`. A wrong password shows only at the end, and not always.
    ///
    /// - Throws: ``SealedFileError/wrongPassword(path:)`` for any error in the last block.
    package func decrypt(
        _ password: SecretBytes, write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        let derived: SecretBytes
        do throws(VaultMemoryError) {
            derived = try cost.stretch(password, salt: salt, count: 48)
        } catch {
            throw .memoryUnavailable
        }
        let (key, first) = derived.withUnsafeBytes { (SymmetricKey(data: $0[..<32]), Data($0[32...])) }
        var previous = first
        while true {
            let piece = try input.read(Self.pieceSize)
            let isLast = try input.peek(1).isEmpty
            guard !piece.isEmpty, piece.count % Self.blockSize == 0 else { throw .truncated(path: path) }
            guard let vector = try? AES._CBC.IV(ivBytes: previous),
                var data = try? AES._CBC.decrypt(piece, using: key, iv: vector, noPadding: !isLast)
            else { throw .wrongPassword(path: path) }
            try data.withBytes(write)
            data.resetBytes(in: data.startIndex..<data.endIndex)
            if isLast { return }
            previous = Data(piece.suffix(Self.blockSize))
        }
    }
}
