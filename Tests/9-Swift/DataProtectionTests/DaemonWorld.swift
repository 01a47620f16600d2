import Access
import Bytes
import Connections
import Foundation
import Frames
import Glibc
import ProcessVault
import TestSupport
import Testing
import VaultInterface
import VaultService

/// A daemon of its own, whose vault has a passcode, and programs that use it.
final class DaemonWorld: VaultSessionProvider {
    let folder: TemporaryFolder
    let vault: RemoteVault
    // Safe: only the test's own thread starts and stops the daemon.
    nonisolated(unsafe) private var daemon: Worker
    private let passcode = "swordfish"

    init() throws {
        folder = try TemporaryFolder()
        let rule = #"{"uid": \#(geteuid()), "groups": ["TEAM.app", "*"], "rights": ["list", "unlock", "administer"]}"#
        let entitlements = folder.path(of: "entitlements.json")
        try Data(#"{"version": 1, "rules": [\#(rule)]}"#.utf8).write(to: URL(filePath: entitlements))
        chmod(entitlements, 0o600)
        daemon = try Self.start(folder)
        vault = try RemoteVault(socket: folder.path(of: "run/socket"))
        try vault.setPasscode(SecretBytes(passcode), options: .cheapest, as: vault.granted)
    }

    private static func start(_ folder: TemporaryFolder) throws -> Worker {
        let socket = folder.path(of: "run/socket")
        let daemon = try Worker(
            [
                "--socket", socket, "--home", folder.path(of: "vault"), "--entitlements",
                folder.path(of: "entitlements.json"), "--log", "error",
            ], command: Worker.daemon)
        try eventually("the daemon listens") {
            guard let connected = try? UnixSocket.connect(to: socket) else { return false }
            close(connected)
            return true
        }
        return daemon
    }

    /// Ends the daemon at once, and starts another.
    func restart() throws {
        daemon.kill()
        daemon.wait()
        daemon = try Self.start(folder)
    }

    var session: VaultSession { VaultSession(vault: vault, client: vault.granted) }

    func lock(after grace: Duration = .zero) throws { try vault.lock(after: grace, as: vault.granted) }

    func unlock() throws { try vault.unlock(with: SecretBytes(passcode), as: vault.granted) }

    func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try VaultSession.$override.withValue(self, operation: body)
    }

    func run<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await VaultSession.$override.withValue(self, operation: body, isolation: isolation)
    }

    /// Another process that uses the daemon.
    func program(_ arguments: String...) throws -> Worker {
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "DataWorker").path
        return try Worker(["KEYCHAIN_SOCKET=\(folder.path(of: "run/socket"))", binary] + arguments, command: "env")
    }
}
