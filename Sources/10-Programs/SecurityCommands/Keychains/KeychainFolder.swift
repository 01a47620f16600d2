import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainDaemon
import PrivateFiles
import ProcessVault
import StatusCodes
import VaultInterface

/// The folder of a keychain that `create-keychain` made.
struct KeychainFolder: Sendable {
    let path: String

    /// The folder while the keychain is being made or deleted. No keychain can have this name. A process that holds the
    /// lock of the search list may remove the folder.
    private var remains: String {
        let parts = path.split(separator: "/")
        return parts.dropLast().reduce(into: "") { $0 += "/" + $1 } + "/.\(parts.last ?? "").new"
    }

    /// Makes a keychain. Hold the lock of the search list.
    ///
    /// A process that is killed leaves nothing under the keychain's name.
    ///
    /// - Parameter password: Empty for a keychain without a passcode.
    func make(_ password: SecretBytes) throws {
        var info = stat()
        guard lstat(path, &info) != 0 else { throw exists }
        try removeRemains()
        // Nothing that somebody else put there meanwhile is used.
        guard mkdir(remains, 0o700) == 0, chmod(remains, 0o700) == 0 else {
            throw SecurityFailure.other(
                "SecKeychainCreate \(path.escapedForTerminal): \(String(cString: strerror(errno))): make the keychain in a "
                    + "folder that you can write to")
        }
        let folder = try PrivateFolder(existing: remains)
        do {
            let session = VaultSession.ofOwner(in: try ProcessVault.vault(in: remains, socket: nil).vault)
            if !password.isEmpty { try session.perform(SetPasscode(password, options: PasscodeOptions())) }
            ProcessVault.closeVault(in: remains)
            try KeychainSettings().write(to: folder)
            try folder.move(to: path)
        } catch {
            ProcessVault.closeVault(in: remains)
            try? removeRemains()
            // Somebody else put something there meanwhile.
            if lstat(path, &info) == 0 { throw exists }
            throw error
        }
    }

    private var exists: SecurityFailure {
        .operation(
            "SecKeychainCreate \(path.escapedForTerminal)", status: errSecDuplicateKeychain,
            reason: "A keychain with the same name already exists.")
    }

    private func removeRemains() throws {
        var info = stat()
        guard lstat(remains, &info) == 0 else { return }
        guard info.st_uid == geteuid() else {
            throw SecurityFailure.other("\(remains.escapedForTerminal) belongs to another user: choose another folder")
        }
        // Follows no link.
        try FileManager.default.removeItem(atPath: remains)
    }

    /// Destroys the keys and items of the keychain, and then its folder. Hold the lock of the search list.
    ///
    /// A keychain that is damaged is deleted, too: nobody can read it, and nothing else would remove it.
    func destroy() throws {
        let folder = try PrivateFolder(existing: path)
        let keeper = KeychainKeeper(folder: path)
        do {
            try keeper.stop()
            try erase()
        } catch {
            guard Self.isDamage(error), !keeper.isClaimed else { throw error }
            ProcessVault.closeVault(in: path)
        }
        try removeRemains()
        try folder.move(to: remains)
        try removeRemains()
    }

    private func erase() throws {
        let session = VaultSession.ofOwner(in: try ProcessVault.vault(in: path, socket: nil).vault)
        try session.perform(EraseVault())
        ProcessVault.closeVault(in: path)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error as? VaultError {
        case .corruptVault, .unusableVault, .inputOutput: true
        default: false
        }
    }
}
