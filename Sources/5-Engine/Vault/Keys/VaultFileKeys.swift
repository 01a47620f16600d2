import Access
import Bytes
import Crypto
import FoundationEssentials
import Keybag
import KeychainModel
import VaultInterface

/// Makes, opens and rewraps the keys of files. The vault stores none of them.
struct VaultFileKeys: FileKeyKeeping {
    let vault: OpenedVault
    let gate: VaultGate
    let agreementKey: FileAgreementKeyFile

    func make(_ operation: MakeFileKey, as client: Client) throws(VaultError) -> FileKey {
        try gated(.makeFileKey, of: operation.file, as: client) { keybag in
            let key = SymmetricKey(size: .bits256)
            return FileKey(
                key: try Self.secret(key),
                wrapped: try wrap(key, for: operation.fileClass, operation.file, under: keybag))
        }
    }

    func open(_ operation: OpenFileKey, as client: Client) throws(VaultError) -> SecretBytes {
        try gated(.openFileKey, of: operation.file, as: client) { keybag in
            try Self.secret(
                unwrap(operation.wrapped, for: operation.fileClass, operation.file, under: keybag))
        }
    }

    func rewrap(_ operation: RewrapFileKey, as client: Client) throws(VaultError) -> Data {
        try gated(.rewrapFileKey, of: operation.file, as: client) { keybag in
            let key = try unwrap(operation.wrapped, for: operation.present, operation.file, under: keybag)
            return try wrap(key, for: operation.next, operation.file, under: keybag)
        }
    }

    /// Asks the gate, and runs `body` with the present keys. Another program may have erased the vault: a file with the
    /// former keys could never be read again.
    private func gated<Result>(
        _ kind: AccessRequest.Kind, of file: Data, as client: Client, _ body: (OpenedKeybag) throws -> Result
    ) throws(VaultError) -> Result {
        try gate.run(gate.authorize(AccessRequest(kind), as: client, recordedAs: .used)) {
            guard file.count == FileKey.identifierSize else {
                throw VaultError.invalidRequest(
                    reason: "a file's identifier has \(FileKey.identifierSize) bytes, not \(file.count)")
            }
            try vault.takeOverChangedKeybag()
            return try body(vault.keybag)
        }
    }

    private func wrap(
        _ key: SymmetricKey, for fileClass: FileProtectionClass, _ file: Data, under keybag: OpenedKeybag
    ) throws(VaultError) -> Data {
        do {
            guard fileClass != .completeUnlessOpen else {
                return try FileClassKeys.wrap(key, for: file, to: agreementKey.publicKey(of: keybag))
            }
            return try FileClassKeys.wrap(key, for: file, under: keybag.keys.fileClassKey(of: fileClass))
        } catch {
            throw Self.failure(error, fileClass)
        }
    }

    private func unwrap(
        _ wrapped: Data, for fileClass: FileProtectionClass, _ file: Data, under keybag: OpenedKeybag
    ) throws(VaultError) -> SymmetricKey {
        let key: SymmetricKey?
        do {
            key = try keybag.opened(by: FileClassKeys.protection(of: fileClass)) { classKey in
                fileClass == .completeUnlessOpen
                    ? try FileClassKeys.unwrap(wrapped, for: file, with: FileClassKeys.agreementKey(from: classKey))
                    : FileClassKeys.unwrap(
                        wrapped, for: file, under: FileClassKeys.key(of: fileClass, from: classKey))
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
