import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainDaemon
import PrivateFiles
import ProcessVault
import StatusCodes
import SystemLibraries
import VaultInterface

/// The daemon that keeps a keychain unlocked, which `securityd` does on macOS: a `keychaind` for this keychain alone.
///
/// `unlock-keychain` starts it. It ends when the keychain is locked.
struct KeychainKeeper: Sendable {
    let folder: String

    /// How long the daemon may take to start and to end.
    private static let patience = Duration.seconds(30)
    private static let log = "daemon.log"

    /// Where the daemon listens: in the folder, which only its owner can enter; nil if the path is too long for a
    /// socket.
    var socket: String? {
        let path = folder + "/socket"
        // The room in `struct sockaddr_un` (unix(7)).
        return path.utf8.count < 108 ? path : nil
    }

    /// Returns the keychain: that of its daemon, else in this process. Waits for the end of a daemon that does not
    /// answer any more because it ends.
    func open() throws -> (vault: any Vault, isServed: Bool) {
        let deadline = ContinuousClock.now + .seconds(5)
        while true {
            // A daemon that ends removes its socket, which it may do at any moment here.
            let isEnding = isClaimed || socket.map { access($0, F_OK) == 0 } ?? false
            do {
                return try ProcessVault.vault(in: folder, socket: socket)
            } catch {
                guard isEnding, ContinuousClock.now < deadline else { throw error }
                usleep(20_000)
            }
        }
    }

    /// Starts the daemon unless it runs, and returns the keychain that it serves.
    func start() throws -> any Vault {
        ProcessVault.closeVault(in: folder)
        guard let socket else {
            throw SecurityFailure.other(
                "the path \(folder.escapedForTerminal) is too long for a socket: make the keychain in another folder")
        }
        if let vault = try served(socket) { return vault }
        let process = try spawn(socket)
        let deadline = ContinuousClock.now + Self.patience
        var hasEnded = false
        while ContinuousClock.now < deadline {
            if let vault = try served(socket) { return vault }
            // Another process may have started one at the same time, which then serves this one, too.
            if hasEnded, !isClaimed { break }
            var status: Int32 = 0
            hasEnded = hasEnded || waitpid(process, &status, WNOHANG) == process
            usleep(20_000)
        }
        throw SecurityFailure.other(
            "keychaind did not start for \(folder.escapedForTerminal): \(Self.log) in that folder says why")
    }

    private func served(_ socket: String) throws -> (any Vault)? {
        guard access(socket, F_OK) == 0 else { return nil }
        let (vault, isServed) = try open()
        if isServed { return vault }
        ProcessVault.closeVault(in: folder)
        return nil
    }

    /// Locks the keychain, and waits until its daemon has ended, also one that somebody else told to end.
    func stop() throws {
        if let socket, let vault = try served(socket) {
            let session = VaultSession.ofOwner(in: vault).withoutUnlocking
            do {
                try session.perform(LockVault(after: .zero))
            } catch VaultError.accessDenied(let reason) {
                throw VaultError.accessDenied(reason)
            } catch {
                // The daemon may end before it answers, or end because there is nothing to lock.
            }
        }
        ProcessVault.closeVault(in: folder)
        let deadline = ContinuousClock.now + Self.patience
        while isClaimed {
            guard ContinuousClock.now < deadline else {
                throw SecurityFailure.other(
                    "the keychaind of \(folder.escapedForTerminal) does not end: stop it, and try again")
            }
            usleep(10_000)
        }
    }

    /// Whether a daemon serves the keychain.
    var isClaimed: Bool { (try? PrivateFolder(existing: folder))?.isLocked("daemon") ?? false }

    private func spawn(_ socket: String) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals(in: &attributes)
        leadSession(in: &attributes)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 2, "\(folder)/\(Self.log)", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
        closeDescriptors(from: 3, in: &actions)
        // The program itself, under the daemon's name.
        let words: [String] = [
            DaemonProgram.name, "--home", folder, "--socket", socket, "--entitlements", "\(folder)/entitlements",
            "--end-when-locked",
        ]
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            throw SecurityFailure.other("keychaind cannot be started: \(String(cString: strerror(code)))")
        }
        return process
    }
}
