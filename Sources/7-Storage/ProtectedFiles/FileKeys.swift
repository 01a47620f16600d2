import Bytes
import FoundationEssentials
import KeychainModel
import VaultInterface

/// The kind of key that wraps a file's key. It is the class in the header.
enum FileKeyKind: RawRepresentable, Equatable {
    case vault(FileProtectionClass)
    case password

    private static let passwordByte: UInt8 = 5

    init?(rawValue: UInt8) {
        if rawValue == Self.passwordByte {
            self = .password
        } else if let fileClass = FileProtectionClass(rawValue: rawValue) {
            self = .vault(fileClass)
        } else {
            return nil
        }
    }

    var rawValue: UInt8 {
        switch self {
        case .vault(let fileClass): fileClass.rawValue
        case .password: Self.passwordByte
        }
    }
}

/// A source of file keys that derives them from a password. A file's identifier has 16 bytes and never changes.
package protocol PasswordKeySource: Sendable {
    /// Returns a new key, wrapped in at most 128 bytes.
    func makeFileKey(file: Data, path: String) throws(SealedFileError) -> FileKey

    /// Returns the key that was wrapped for this file.
    ///
    /// - Throws: ``SealedFileError/wrongPassword(path:)``; ``SealedFileError/tooCostly(path:cost:)`` before any work is
    ///   done.
    func fileKey(file: Data, wrapped: Data, path: String) throws(SealedFileError) -> SecretBytes
}

/// The source of a file's keys. A vault cannot open a file under a password, and a password cannot open a vault's file.
enum FileKeys {
    case vault(any FileKeySource)
    case password(any PasswordKeySource)

    func key(of header: FileHeader, path: String) throws(SealedFileError) -> SecretBytes {
        switch (self, header.kind) {
        case (.vault(let source), .vault(let fileClass)):
            do throws(VaultError) {
                return try source.fileKey(for: fileClass, file: Data(header.file), wrapped: header.wrapped)
            } catch {
                throw .refused(error)
            }
        case (.password(let source), .password):
            return try source.fileKey(file: Data(header.file), wrapped: header.wrapped, path: path)
        case (.vault, .password): throw .encryptedWithPassword(path: path)
        case (.password, .vault): throw .notEncryptedWithPassword(path: path)
        }
    }

    func makeKey(_ kind: FileKeyKind, file: Data, path: String) throws(SealedFileError) -> FileKey {
        switch (self, kind) {
        case (.vault(let source), .vault(let fileClass)):
            do throws(VaultError) {
                return try source.makeFileKey(for: fileClass, file: file)
            } catch {
                throw .refused(error)
            }
        case (.password(let source), .password): return try source.makeFileKey(file: file, path: path)
        case (.vault, .password): throw .encryptedWithPassword(path: path)
        case (.password, .vault): throw .notEncryptedWithPassword(path: path)
        }
    }
}
