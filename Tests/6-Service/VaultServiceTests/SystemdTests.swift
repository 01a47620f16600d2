import Bytes
import Connections
import DaemonLink
import Foundation
import Frames
import Glibc
import TestSupport
import Testing
import VaultInterface
import VaultService

@testable import KeychainDaemon

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

    /// A socket is served by what its unit names it: here the only one is the Secret Service's.
    @Test func aPassedBusIsTheSecretServices() throws {
        let folder = try TemporaryFolder()
        let listener = try UnixSocket.listen(at: folder.path(of: "bus"), mode: 0o600)
        defer { close(listener) }
        let client = try UnixSocket.connect(to: folder.path(of: "bus"))
        defer { close(client) }
        let script = #"export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=bus; exec $0 "$@""#
        let daemon = try Worker(
            [
                "-c", script, Worker.daemon, "--home", folder.path(of: "vault"), "--socket",
                folder.path(of: "run/socket"), "--entitlements", folder.path(of: "none"), "--log", "error",
            ], command: "bash", passing: listener)
        let greeting = Array("\0AUTH EXTERNAL \(Array("\(getuid())".utf8).hexadecimal())\r\n".utf8)
        #expect(write(client, greeting, greeting.count) == greeting.count)
        var answer = [UInt8](repeating: 0, count: 64)
        let count = read(client, &answer, answer.count)
        #expect(String(decoding: answer.prefix(max(0, count)), as: UTF8.self).hasPrefix("OK "))
        daemon.terminate()
        #expect(daemon.wait() == 0)
        #expect(access(folder.path(of: "bus"), F_OK) == 0 && access(folder.path(of: "run/socket"), F_OK) != 0)
    }

    /// The daemon tells that it lives while it accepts connections. The service manager's socket has no file here.
    @Test func theWatchdogIsFed() throws {
        let folder = try TemporaryFolder()
        let name = "@" + folder.path(of: "notify")
        let notifications = try notificationSocket(name)
        defer { close(notifications) }
        let script = #"export WATCHDOG_USEC=1000 WATCHDOG_PID=$$ NOTIFY_SOCKET=$1; exec $0 "${@:2}""#
        let daemon = try Worker(
            [
                "-c", script, Worker.daemon, name, "--home", folder.path(of: "vault"), "--socket",
                folder.path(of: "run/socket"), "--entitlements", folder.path(of: "none"), "--log", "error",
            ], command: "bash")
        var told: Set<String> = []
        while !told.contains("WATCHDOG=1") || !told.contains("READY=1\nSTATUS=serving") {
            told.insert(receive(notifications))
        }
        daemon.terminate()
        while receive(notifications) != "STOPPING=1" {}
        #expect(daemon.wait() == 0)
    }

    @Test func theWatchdogIsFedTwiceInItsTime() throws {
        let start = ContinuousClock.now
        #expect(Watchdog(microseconds: nil, process: nil, at: start) == nil)
        #expect(Watchdog(microseconds: "0", process: nil, at: start) == nil)
        #expect(Watchdog(microseconds: "x", process: nil, at: start) == nil)
        #expect(Watchdog(microseconds: "60000000", process: "1", at: start) == nil)
        var watchdog = try #require(Watchdog(microseconds: "60000000", process: "\(getpid())", at: start))
        let due = [29, 31, 60, 61].map { watchdog.isDue(at: start + .seconds($0)) }
        #expect(due == [false, true, false, true])
    }

    /// systemd's journal stores the time of each line itself.
    @Test func linesForTheJournalHaveNoTime() throws {
        let line = "2026-01-02T03:04:05+0000 notice keychaind: reason=a [keychaind] connection rejected\n"
        #expect(LogStream.line(line, forJournal: false) == line)
        #expect(
            LogStream.line(line, forJournal: true) == "notice keychaind: reason=a [keychaind] connection rejected\n")
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting.fileDescriptor
        var info = stat()
        fstat(writer, &info)
        let stream = "\(info.st_dev):\(info.st_ino)"
        #expect(LogStream.isJournal(stream, at: writer))
        #expect(!LogStream.isJournal(stream, at: 0))
        #expect(!LogStream.isJournal(nil, at: writer))
    }

    @Test func aLineOfTheLogIsOneLine() {
        let name = "x\r\n2026-01-02T03:04:05+0000 notice keychaind: unlocked \u{1B}[2J\u{9B}\u{202E}\n"
        #expect(
            LogStream.line("T notice keychaind: reason=\(name)\n", forJournal: true)
                == "notice keychaind: reason=x\\u{d}\\u{a}2026-01-02T03:04:05+0000 notice keychaind: unlocked "
                + "\\u{1b}[2J\\u{9b}\\u{202e}\\u{a}\n")
    }

    /// Whoever may connect and nothing else does not fill the log.
    @Test func rejectionsThatRepeatAreFolded() {
        let start = ContinuousClock.now
        var log = RejectionLog(otherReasons: "other reasons")
        var told: [RejectionLog<String>.Line] = []
        func reject(_ user: UInt32, at seconds: Int) {
            told += log.record("no caller", user: user, at: start + .seconds(seconds))
        }
        func line(_ user: UInt32, times count: Int) -> RejectionLog<String>.Line {
            RejectionLog<String>.Line(user: user, reason: "no caller", count: count)
        }
        for _ in 0..<11_120 { reject(7, at: 0) }
        reject(8, at: 9)
        #expect(told == [line(7, times: 1), line(8, times: 1)])
        told = log.takeDue(at: start + .seconds(10))
        #expect(told == [line(7, times: 11_119)])
        reject(7, at: 11)
        told += log.takeDue(at: start + .seconds(19))
        #expect(told.count == 1)
        told = log.takeDue(at: start + .seconds(20))
        #expect(told == [line(7, times: 1)])
        // After a quiet time, it is a first one again.
        told = log.takeDue(at: start + .seconds(40))
        reject(7, at: 41)
        reject(7, at: 42)
        #expect(told == [line(7, times: 1)])
        told = log.takeAll() + log.takeAll()
        #expect(told == [line(7, times: 1)])
    }

    @Test func reasonsThatAClientMakesUpAreFoldedToo() {
        let start = ContinuousClock.now
        var log = RejectionLog(otherReasons: "other reasons")
        let lines = (0..<1_000).flatMap { log.record("reason \($0)", user: 7, at: start) }
        #expect(lines.count == RejectionLog<String>.mostReasons + 1)
        #expect(lines.last?.reason == "other reasons")
        let others = (0..<1_000).flatMap { log.record("reason", user: 1_000 + $0, at: start) }
        #expect(others.count <= RejectionLog<String>.mostEntries)
        let rest = log.takeDue(at: start + RejectionLog<String>.interval)
        #expect((lines + others + rest).reduce(0) { $0 + $1.count } == 2_000)
    }

    /// A program that is served can be refused as often as it likes, and has a path of any length.
    @Test func refusalsThatRepeatAreFolded() {
        let start = ContinuousClock.now
        var log = RejectionLog(otherReasons: Refusal.others)
        let long = Refusal.shortened(String(repeating: "long", count: 1_000))
        #expect(long.utf8.count < 256)
        let refusals = ["quota-exceeded", "invalid"].flatMap { outcome in
            ["/usr/bin/mail", long].map { Refusal(operation: "add", outcome: outcome, caller: $0) }
        }
        var lines: [RejectionLog<Refusal>.Line] = []
        for _ in 0..<10_000 { for refusal in refusals { lines += log.record(refusal, user: 7, at: start) } }
        #expect(lines.map(\.reason) == refusals && lines.allSatisfy { $0.count == 1 })
        let folded = log.takeDue(at: start + RejectionLog<Refusal>.interval)
        #expect(folded.map(\.count) == [9_999, 9_999, 9_999, 9_999])
        // One with many names is one user.
        for number in 0..<1_000 {
            lines += log.record(
                Refusal(operation: "get", outcome: "invalid", caller: "flatpak:\(number)"), user: 7, at: start)
        }
        #expect(lines.count <= RejectionLog<Refusal>.mostReasons + 1)
    }

    @Test func theDaemonTellsItsVersion() throws {
        let daemon = try Worker(["--version"], command: Worker.daemon)
        #expect(String(decoding: daemon.readToEnd(), as: UTF8.self) == DaemonProgram.version + "\n")
        #expect(daemon.wait() == 0)
    }

    private func notificationSocket(_ path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(truncatingIfNeeded: SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(truncatingIfNeeded: AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: path.utf8)
            if path.hasPrefix("@") { bytes[0] = 0 }
        }
        let size =
            path.hasPrefix("@") ? MemoryLayout<sa_family_t>.size + path.utf8.count : MemoryLayout<sockaddr_un>.size
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(clamping: size))
            }
        }
        guard status == 0 else { throw POSIXError(.EIO) }
        return socket
    }

    private func receive(_ socket: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = withDeadline("a notification", ending: { shutdown(socket, Int32(truncatingIfNeeded: SHUT_RDWR)) }) {
            recv(socket, &buffer, buffer.count, 0)
        }
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
}
