import CommandKit
import DaemonLink
import PrivateFiles
import ProcessVault
import StatusCodes
import SystemLibraries

/// The folder of a vault on which a command works itself, beside no daemon.
enum FolderOfVault {
    /// Returns the path of the folder that the environment names.
    ///
    /// Asks no daemon: systemd would start one, which makes an empty vault where none is, and fails where the device
    /// secret is lost.
    ///
    /// - Throws: ``Failure`` if programs use the vault of a daemon, whose folder nobody named.
    static func path() throws -> String {
        let path = try ProcessVault.defaultPath()
        let place = try VaultPlace.ofProcess()
        guard place.mode != .embedded, Environment.value(of: "KEYCHAIN_HOME") == nil,
            let socket = place.presentSockets.first, socket == VaultPlace.systemSocket || place.mode == .daemon
        else { return path }
        throw Failure(
            status: errSecNotAvailable,
            "programs use the daemon at \(socket.escapedForTerminal), and this command works on a folder. If the vault's "
                + "device secret is lost, do not stop that daemon: run `keychain recovery put-back`. Otherwise stop it, "
                + "and name its folder with KEYCHAIN_HOME, as the user that the daemon runs as (\(remedy)); or name another "
                + "folder, such as KEYCHAIN_HOME=\(path.escapedForTerminal)")
    }

    private static let remedy = "of the system's daemon: /var/lib/keychain, user keychain"

    /// Keeps daemons from serving the vault in the folder at `path` until this process ends.
    ///
    /// - Throws: ``Failure`` if one serves it now.
    static func claim(_ path: String) throws {
        do throws(FileError) {
            try PrivateFolder(existing: path).lockUntilExit("daemon")
        } catch .lockTimeout {
            throw Failure(
                status: errSecNotAvailable,
                "a daemon serves the vault in \(path.escapedForTerminal), and nothing was changed. If its device secret is "
                    + "lost, do not stop the daemon: run `keychain recovery put-back`. Otherwise stop it: `systemctl --user stop keychaind.socket keychaind.service`, or without --user for the "
                    + "system's")
        } catch .notFound {
            throw Failure(status: errSecItemNotFound, "there is no vault at \(path.escapedForTerminal)")
        } catch {
            throw Failure(status: errSecNotAvailable, error.description)
        }
    }
}
