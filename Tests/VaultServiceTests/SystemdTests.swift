import Foundation
import Frames
import Glibc
import TestSupport
import Testing
import VaultInterface
import VaultService

/// Started by a service manager: the socket is passed, and the state told.
@Suite struct SystemdTests {
    @Test func aPassedSocketIsServedAndReadinessTold() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "socket")
        let listener = try UnixSocket.listen(at: path, mode: 0o600)
        defer { close(listener) }
        // A client may come before the daemon does.
        let early = FrameSocket(try UnixSocket.connect(to: path))
        let notifications = try notificationSocket(folder.path(of: "notify"))
        defer { close(notifications) }
        let script = #"export LISTEN_PID=$$ LISTEN_FDS=1 NOTIFY_SOCKET=$1; exec $0 "${@:2}""#
        let daemon = try Worker(
            [
                "-c", script, Worker.daemon, folder.path(of: "notify"), "--home", folder.path(of: "vault"),
                "--socket", path, "--entitlements", folder.path(of: "none"), "--log", "error",
            ], command: "bash", passing: listener)
        #expect(receive(notifications).hasPrefix("READY=1"))
        let frame = FrameBuffer()
        frame.appendFrame(.hello) { Hello().encode(to: frame) }
        try early.send(frame, within: Patience.duration)
        let kind = try early.receiveFrame(into: frame)
        #expect(kind == .welcome)
        daemon.terminate()
        #expect(receive(notifications) == "STOPPING=1")
        #expect(daemon.wait() == 0)
        // The service manager's socket is not the daemon's to remove.
        #expect(access(path, F_OK) == 0)
    }

    private func notificationSocket(_ path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw POSIXError(.EIO) }
        return socket
    }

    private func receive(_ socket: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = withDeadline("a notification", ending: { shutdown(socket, Int32(SHUT_RDWR)) }) {
            recv(socket, &buffer, buffer.count, 0)
        }
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
}
