import Access
import Connections
import DaemonLink
import Foundation
import Frames
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// A server in this process, with limits of the test's own.
final class ServerUnderTest {
    let folder: TemporaryFolder
    /// The vault that it serves.
    let vault: EmbeddedVault
    private let server: VaultServer
    private let listener: Int32
    private let thread: Thread

    var socket: String { folder.path(of: "socket") }

    /// Limits in which nothing is given up within a test: what is served is served for another reason.
    static var patient: ServerLimits {
        var limits = ServerLimits()
        for time in [\ServerLimits.greeting, \.transfer, \.room] { limits[keyPath: time] = .seconds(86_400) }
        limits.requestsPerSecond = 0
        limits.farewell = .zero
        return limits
    }

    init(
        _ limits: ServerLimits = ServerLimits(), authenticator: (any Authenticator)? = nil,
        rules: [Entitlements.Rule] = [.ownProgram(["TEAM.app", "*"])]
    ) throws {
        folder = try TemporaryFolder()
        vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(authenticator: authenticator))
        var entitlements = Entitlements()
        entitlements.rules = rules
        let server = try VaultServer(vault: vault, entitlements: EntitlementsSource(entitlements), limits: limits)
        let listener = try UnixSocket.listen(at: folder.path(of: "socket"), mode: 0o600)
        let thread = Thread { server.serve(listener) }
        thread.start()
        (self.server, self.listener, self.thread) = (server, listener, thread)
    }

    deinit {
        server.stop()
        try? eventually("the server ends") { thread.isFinished }
        close(listener)
    }

    func connect(prompt: (any PasscodePrompt)? = nil) throws -> RemoteVault {
        try RemoteVault(socket: socket, prompt: prompt)
    }

    func greeted() throws -> FrameSocket { try .greeted(at: socket) }
}

extension Entitlements.Rule {
    /// A rule for the program that runs the tests, with all rights.
    static func ownProgram(_ groups: [String], quota: Int? = nil) -> Self {
        var rule = ownUser(groups, quota: quota)
        rule.executable = DaemonUnderTest.ownExecutable
        return rule
    }

    /// A rule for every program of this user, with all rights.
    static func ownUser(_ groups: [String], quota: Int? = nil) -> Self {
        var rule = Self()
        rule.user = geteuid()
        rule.groups = groups
        rule.rights = .all
        rule.quota = quota
        return rule
    }
}

extension FrameSocket {
    /// A connection that has been greeted, for tests that speak the protocol themselves.
    static func greeted(at path: String) throws -> FrameSocket {
        let socket = FrameSocket(try UnixSocket.connect(to: path))
        let frame = FrameBuffer()
        frame.appendFrame(.hello) { Hello().encode(to: frame) }
        try socket.send(frame, within: Patience.duration)
        _ = try socket.receiveFrame(into: frame)
        return socket
    }

    /// The next frame, however long it takes.
    func receiveFrame(into frame: FrameBuffer, limit: Int = 1 << 20) throws(SocketError) -> FrameKind {
        try receive(into: frame, limit: limit, first: Patience.duration, rest: Patience.duration)
    }
}
