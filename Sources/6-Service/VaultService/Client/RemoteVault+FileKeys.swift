import Access
import FoundationEssentials
import KeychainModel
import VaultInterface

/// Keys of files from the daemon's vault.
extension RemoteVault {
    package func makeFileKey(
        for fileClass: FileProtectionClass, file: Data, as client: Client
    ) throws(VaultError) -> FileKey {
        guard
            case .fileKey(let key, let wrapped) = try call(.makeFileKey(fileClass, file: file), as: client).reply,
            key.count == FileKey.size
        else { throw Self.nonsense }
        return FileKey(key: key, wrapped: wrapped)
    }

    package func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> SecretBytes {
        let reply = try call(.fileKey(fileClass, file: file, wrapped: wrapped), as: client).reply
        guard case .secret(let key) = reply, key.count == FileKey.size else { throw Self.nonsense }
        return key
    }

    package func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> Data {
        let reply = try call(.rewrapFileKey(from, to: to, file: file, wrapped: wrapped), as: client).reply
        guard case .bytes(let rewrapped) = reply else { throw Self.nonsense }
        return rewrapped
    }
}
