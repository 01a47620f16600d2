import Access
import CLibrary
import Connections
import Foundation
import Frames
import Vault
import VaultService

/// A vault behind a server of its own in this process, as programs see the one of a daemon.
final class ServedVault: Sendable {
    let remote: RemoteVault
    private let server: VaultServer
    private let folder: String

    init(_ vault: EmbeddedVault) throws {
        // Short, whatever the folder for temporary files is: the path of a socket has 107 bytes at most (unix(7)).
        var template = Array("/tmp/keychain-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var rule = Entitlements.Rule()
        rule.user = geteuid()
        rule.groups = ["*"]
        rule.rights = .all
        var entitlements = Entitlements()
        entitlements.rules = [rule]
        var limits = ServerLimits()
        limits.requestsPerSecond = 0
        let server = try VaultServer(vault: vault, entitlements: EntitlementsSource(entitlements), limits: limits)
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
