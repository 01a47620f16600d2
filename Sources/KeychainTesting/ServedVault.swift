import Foundation
import Glibc
import Vault
import VaultService

/// A vault behind a server of its own in this process, as programs see the one of a daemon.
final class ServedVault: Sendable {
    let remote: RemoteVault
    private let server: VaultServer
    private let folder: String

    /// - Parameter folder: Where to make the socket; made, and removed with this object.
    init(_ vault: EmbeddedVault, in folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var rule = Entitlements.Rule()
        rule.user = geteuid()
        rule.groups = ["*"]
        rule.rights = .all
        var entitlements = Entitlements()
        entitlements.rules = [rule]
        var limits = ServerLimits()
        limits.requestsPerSecond = 0
        let server = VaultServer(vault: vault, entitlements: EntitlementsSource(entitlements), limits: limits)
        let listener = try UnixSocket.listen(at: folder + "/socket", mode: 0o600)
        Thread.detachNewThread {
            server.serve(listener)
            close(listener)
        }
        remote = try RemoteVault(socket: folder + "/socket")
        self.server = server
        self.folder = folder
    }

    deinit {
        remote.close()
        server.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
