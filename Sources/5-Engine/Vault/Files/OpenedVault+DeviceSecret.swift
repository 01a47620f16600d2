import Bytes
import Enclave
import Keybag
import PrivateFiles
import SecureMemory
import VaultInterface

/// The device secret of an open vault, whose file may have been lost or replaced since.
extension OpenedVault {
    /// Returns why the vault could not be opened again; nil if its device secret is in its place.
    func deviceSecretProblem() throws -> VaultProblem? {
        guard let folder, let loss = try deviceSecretLoss(in: folder) else { return nil }
        let path = folder.folder.path(of: VaultFolder.deviceSecretName)
        let what =
            switch loss {
            case .missing: "\(path) is gone"
            case .other: "\(path) is not the one of this vault any more"
            case .unreadable(let error): "\(error)"
            }
        return VaultProblem(
            .deviceSecret,
            "\(what). The program that has the vault open still has the device secret: before that program ends, write "
                + "it back with `keychain recovery put-back`. Nobody can open the vault afterwards without the file or "
                + "a recovery key")
    }

    /// Writes the device secret into its file again.
    ///
    /// The secret that is in memory is the right one only if it opens the keybag that is in the folder now. A file that
    /// is in the way is kept: it may be the only copy of another vault's secret.
    func putBackDeviceSecret() throws -> PutBackDeviceSecret.Reply {
        guard let folder else {
            throw VaultError.unsupported(reason: "a vault in memory has no device secret in a file")
        }
        guard try deviceSecretLoss(in: folder) != nil else { return PutBackDeviceSecret.Reply(isWritten: false) }
        return try folder.folder.withLock {
            let enclave = keys.enclave
            // A program may have put it back meanwhile, or erased the vault.
            guard try Self.loss(in: folder, enclave) != nil else { return PutBackDeviceSecret.Reply(isWritten: false) }
            do {
                let encoded = try folder.folder.read(VaultFolder.keybagName, limit: Keybag.largestEncoding)
                guard try Keybag(decoding: encoded, in: enclave).identifier == keybag.identifier else {
                    throw KeybagError.authenticationFailed
                }
            } catch {
                throw VaultError.unusableVault(
                    reason:
                        "the device secret in memory does not open \(folder.folder.path(of: VaultFolder.keybagName)) "
                        + "either (\(VaultError(error))): make a backup now, with `keychain backup FILE`")
            }
            var other: String?
            if folder.folder.contains(VaultFolder.deviceSecretName) {
                let name = try freeName(in: folder)
                try folder.folder.rename(VaultFolder.deviceSecretName, to: name)
                other = folder.folder.path(of: name)
            }
            var encoded = try enclave.encoded()
            defer { encoded.wipe() }
            try folder.folder.replace(VaultFolder.deviceSecretName, with: encoded)
            return PutBackDeviceSecret.Reply(isWritten: true, other: other)
        }
    }

    /// A name for the file that is in the place of the device secret.
    private func freeName(in folder: VaultFolder) throws -> String {
        let names = (1...99).map { "\(VaultFolder.deviceSecretName).found-\($0)" }
        guard let free = names.first(where: { !folder.folder.contains($0) }) else {
            throw VaultError.unusableVault(
                reason:
                    "\(folder.folder.path) has 99 files that were found in the place of the device secret: move them "
                    + "away")
        }
        return free
    }

    private enum Loss {
        case missing
        case other
        case unreadable(FileError)
    }

    /// What is wrong with the file; nil if it is the one that opens this vault.
    private func deviceSecretLoss(in folder: VaultFolder) throws -> Loss? {
        // Another program may have erased the vault, which gives it another secret.
        try takeOverChangedKeybag()
        guard try Self.loss(in: folder, keys.enclave) != nil else { return nil }
        // While a program replaces device secret and keybag, the two do not belong together.
        try folder.folder.withLock {}
        try takeOverChangedKeybag()
        return try Self.loss(in: folder, keys.enclave)
    }

    private static func loss(in folder: VaultFolder, _ enclave: any Enclave) throws -> Loss? {
        var expected = try enclave.encoded()
        defer { expected.wipe() }
        do throws(FileError) {
            var present = try folder.folder.read(VaultFolder.deviceSecretName, limit: 4096)
            defer { present.wipe() }
            return present == expected ? nil : .other
        } catch .notFound {
            return .missing
        } catch .tooLarge {
            return .other
        } catch {
            return .unreadable(error)
        }
    }
}
