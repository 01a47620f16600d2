import Access
import Bytes
import Crypto
import FoundationEssentials
import Keybag
import KeychainModel
import PrivateFiles
import SecureMemory
import VaultInterface

/// Makes, opens and rewraps the keys of files. The vault stores none of them.
extension EmbeddedVault {
    package func perform(_ operation: MakeFileKey, as client: Client) throws(VaultError) -> FileKey {
        try withFileKeys(.makeFileKey, of: operation.file, as: client) { keybag in
            let key = SymmetricKey(size: .bits256)
            return FileKey(
                key: try Self.secret(key),
                wrapped: try wrapFileKey(key, for: operation.fileClass, operation.file, under: keybag))
        }
    }

    package func perform(_ operation: OpenFileKey, as client: Client) throws(VaultError) -> SecretBytes {
        try withFileKeys(.openFileKey, of: operation.file, as: client) { keybag in
            try Self.secret(
                unwrapFileKey(operation.wrapped, for: operation.fileClass, operation.file, under: keybag))
        }
    }

    package func perform(_ operation: RewrapFileKey, as client: Client) throws(VaultError) -> Data {
        try withFileKeys(.rewrapFileKey, of: operation.file, as: client) { keybag in
            let key = try unwrapFileKey(operation.wrapped, for: operation.present, operation.file, under: keybag)
            return try wrapFileKey(key, for: operation.next, operation.file, under: keybag)
        }
    }

    package func lockEvents() -> AsyncStream<LockEvent> { lockNotifier.stream() }

    package func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation {
        lockNotifier.observe(tell)
    }

    /// Asks the gate, and runs `body` with the present keys. Another program may have erased the vault: a file with the
    /// former keys could never be read again.
    private func withFileKeys<Result>(
        _ kind: AccessRequest.Kind, of file: Data, as client: Client,
        _ body: (OpenedKeybag) throws -> Result
    ) throws(VaultError) -> Result {
        try gated(AccessRequest(kind), as: client, recordedAs: .used) { _ in
            guard file.count == FileKey.identifierSize else {
                throw VaultError.invalidRequest(
                    reason: "a file's identifier has \(FileKey.identifierSize) bytes, not \(file.count)")
            }
            try takeOverChangedKeybag()
            return try body(currentKeybag)
        }
    }

    private func wrapFileKey(
        _ key: SymmetricKey, for fileClass: FileProtectionClass, _ file: Data, under keybag: OpenedKeybag
    ) throws(VaultError) -> Data {
        do {
            guard fileClass != .completeUnlessOpen else {
                return try FileClassKeys.wrap(key, for: file, to: filePublicKey(of: keybag))
            }
            return try FileClassKeys.wrap(key, for: file, under: keybag.keys.fileClassKey(of: fileClass))
        } catch {
            throw Self.failure(error, fileClass)
        }
    }

    private func unwrapFileKey(
        _ wrapped: Data, for fileClass: FileProtectionClass, _ file: Data, under keybag: OpenedKeybag
    ) throws(VaultError) -> SymmetricKey {
        let key: SymmetricKey?
        do {
            if fileClass == .completeUnlessOpen {
                key = try FileClassKeys.unwrap(wrapped, for: file, with: keybag.keys.fileAgreementKey())
            } else {
                key = try FileClassKeys.unwrap(wrapped, for: file, under: keybag.keys.fileClassKey(of: fileClass))
            }
        } catch {
            throw Self.failure(error, fileClass)
        }
        guard let key, key.bitCount == 8 * FileKey.size else { throw .corruptFileKey }
        return key
    }

    private static func secret(_ key: SymmetricKey) throws(VaultError) -> SecretBytes {
        guard let secret = try? key.withUnsafeBytes({ try SecretBytes(copying: $0) }) else {
            throw .memoryUnavailable
        }
        return secret
    }

    private static func failure(_ error: any Error, _ fileClass: FileProtectionClass) -> VaultError {
        guard case KeybagError.locked = error else { return VaultError(error) }
        return .interactionNotAllowed(
            reason: "files of class '\(FileClassKeys.name(of: fileClass))' are closed while the vault is locked; "
                + "unlock it")
    }
}

/// The public key for files that are made while the vault is locked.
extension EmbeddedVault {
    /// Returns the public key. While the vault is unlocked, it is derived from a class key, so that no stored key is
    /// trusted.
    private func filePublicKey(of keybag: OpenedKeybag) throws -> FileClassKeys.PublicKey {
        do throws(KeybagError) {
            return try keybag.keys.fileAgreementKey().publicKey
        } catch {
            guard case .locked = error else { throw error }
        }
        guard let known = try keybag.keys.filePublicKey ?? storedFilePublicKey(of: keybag) else {
            throw VaultError.interactionNotAllowed(
                reason: "the vault's folder has no '\(VaultFolder.fileAgreementKeyName)', under which files are made "
                    + "while the vault is locked; unlock it, and it is made anew")
        }
        return try FileClassKeys.PublicKey(rawRepresentation: known)
    }

    private func storedFilePublicKey(of keybag: OpenedKeybag) throws -> Data? {
        guard let folder, folder.folder.contains(VaultFolder.fileAgreementKeyName) else { return nil }
        let encoded = try folder.folder.read(VaultFolder.fileAgreementKeyName, limit: FileAgreementRecord.size)
        do throws(KeybagError) {
            return try FileAgreementRecord(
                decoding: encoded, of: keybag.identifier, under: keybag.keys.classKey(for: .always)
            ).publicKey
        } catch {
            switch error {
            case .authenticationFailed, .malformed:
                throw VaultError.corruptVault(
                    reason: "\(folder.folder.path(of: VaultFolder.fileAgreementKeyName)) was changed; unlock the "
                        + "vault, and it is made anew")
            case .unknownVersion(let version):
                throw VaultError.corruptVault(
                    reason: "\(folder.folder.path(of: VaultFolder.fileAgreementKeyName)) has format version "
                        + "\(version), which this version cannot read; update the software")
            default: throw error
            }
        }
    }

    /// Stores the public key for the time when the vault is locked, unless it is stored already.
    ///
    /// Ignores failures, because an unlock must not fail for this. Without the public key, no file can be made before
    /// the first unlock; the error says so then.
    func keepFileAgreementKey() {
        let keybag = currentKeybag
        guard let folder = folder?.folder, let alwaysKey = try? keybag.keys.classKey(for: .always),
            let publicKey = try? keybag.keys.fileAgreementKey().publicKey.rawRepresentation
        else { return }
        let name = VaultFolder.fileAgreementKeyName
        let record = FileAgreementRecord(keybag: keybag.identifier, publicKey: publicKey).encoded(under: alwaysKey)
        if (try? folder.read(name, limit: FileAgreementRecord.size)) == record { return }
        try? folder.withLock {
            // If the vault was erased meanwhile, the key would belong to the former vault.
            try checkKeybagIsCurrent(keybag)
            try folder.replace(name, with: record)
        }
    }
}
