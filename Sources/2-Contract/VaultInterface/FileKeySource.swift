import Bytes
import FoundationEssentials
import KeychainModel

/// What gives files their keys. A file's identifier has 16 bytes and never changes.
package protocol FileKeySource: Sendable {
    /// A fresh key.
    ///
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` while the class is closed.
    func makeFileKey(for fileClass: FileProtectionClass, file: Data) throws(VaultError) -> FileKey

    /// The key that was wrapped for this file under its class.
    ///
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` while the class is closed, and
    ///   ``VaultError/corruptFileKey`` if `wrapped` is not what was made for this file, class and vault.
    func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> SecretBytes

    /// The same key wrapped under another class, so that the file's contents stay as they are.
    ///
    /// - Throws: As ``fileKey(for:file:wrapped:)`` for the one class, and ``makeFileKey(for:file:)`` for the other.
    func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> Data
}

/// The keys of files from the session's vault, on behalf of its client.
extension VaultSession: FileKeySource {
    package func makeFileKey(for fileClass: FileProtectionClass, file: Data) throws(VaultError) -> FileKey {
        try perform(MakeFileKey(for: fileClass, file: file))
    }

    package func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> SecretBytes {
        try perform(OpenFileKey(for: fileClass, file: file, wrapped: wrapped)).key
    }

    package func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> Data {
        try perform(RewrapFileKey(from: from, to: to, file: file, wrapped: wrapped))
    }
}
