import Access
import Bytes
import Foundation
import Frames
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Connections
@testable import VaultService

/// Few threads serve many connections, and a connection too many ends the one that has to make room.
@Suite struct ConnectionLoopTests {
    /// Answers each byte with the same one: after a time for `t`, a minute later for `l`, after it is told to for `w`
    /// and `b`, at its alarm for `a`, and from then on over another socket for `e`.
    private final class Echo: LoopedConnection {
        private let socket: Int32
        private let seat: ConnectionSeat
        private let server: EchoServer
        private let delayed = Mutex(false)
        private let isLate = Mutex(false)
        private let hearsAlarm = Mutex(false)
        private let bell = Bell()

        init(_ seat: ConnectionSeat, _ server: EchoServer) {
            (socket, self.seat, self.server) = (seat.descriptor, seat, server)
        }

        deinit {
            server.closed.withLock { $0 += 1 }
            close(socket)
        }

        var alarm: Int32 { bell.descriptor }

        func step(_ cause: StepCause) -> ConnectionNeed {
            if hearsAlarm.withLock({ $0 }) {
                hearsAlarm.withLock { $0 = false }
                bell.silence()
                return answer(UInt8(ascii: "a"))
            }
            if delayed.withLock({ $0 }) {
                delayed.withLock { $0 = false }
                return answer(UInt8(ascii: "t"))
            }
            if isLate.withLock({ $0 }) { server.late.withLock { $0 += 1 } }
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, Int32(truncatingIfNeeded: MSG_DONTWAIT))
            guard count != 0 else { return .end }
            guard count > 0 else { return .request(until: nil, staysAwake: false) }
            switch byte {
            case UInt8(ascii: "t"):
                delayed.withLock { $0 = true }
                return .time(.now + .milliseconds(50))
            case UInt8(ascii: "l"):
                isLate.withLock { $0 = true }
                return .time(.now + .seconds(60))
            case UInt8(ascii: "a"):
                hearsAlarm.withLock { $0 = true }
                server.bells.withLock { $0.append(bell) }
                return .alarm(until: nil)
            case UInt8(ascii: "e"):
                var ends: [Int32] = [-1, -1]
                let type = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
                guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return .end }
                defer { close(ends[1]) }
                server.exchanged.withLock { $0.append(ends[0]) }
                guard server.loop.exchange(seat, for: ends[1]) else { return .end }
            case UInt8(ascii: "w"):
                server.loop.whileWaiting(seat, in: .answer) { _ = server.gate.wait(timeout: .now() + 60) }
            case UInt8(ascii: "b"): _ = server.gate.wait(timeout: .now() + 60)
            case UInt8(ascii: "g"): server.loop.greeted(seat, ServedProgram(user: seat.user, name: "greeted"))
            default: break
            }
            return answer(byte)
        }

        private func answer(_ byte: UInt8) -> ConnectionNeed {
            var byte = byte
            _ = send(socket, &byte, 1, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
            return .turn
        }
    }

    private final class EchoServer: Sendable {
        let loop: ConnectionLoop
        let gate = DispatchSemaphore(value: 0)
        let closed = Mutex(0)
        /// Steps after a put-off of a minute.
        let late = Mutex(0)
        let bells = Mutex<[Bell]>([])
        /// The other ends of the sockets that took the place of clients'.
        let exchanged = Mutex<[Int32]>([])
        private let folder: TemporaryFolder
        private let listener: Int32
        private let ended = DispatchSemaphore(value: 0)

        init(_ limits: ConnectionLoop.Limits) throws {
            folder = try TemporaryFolder()
            loop = try ConnectionLoop(limits)
            listener = try UnixSocket.listen(at: folder.path(of: "socket"), mode: 0o600)
            loop.listen(listener) { [unowned self] in Echo($0, self) }
            Thread.detachNewThread { [loop, ended] in
                loop.run()
                ended.signal()
            }
        }

        func connect() throws -> Client { Client(try UnixSocket.connect(to: folder.path(of: "socket"))) }

        func stop(within time: Duration = .zero) {
            loop.stop(within: time)
            ended.wait()
        }

        deinit { close(listener) }
    }

    private final class Client {
        let socket: Int32

        init(_ socket: Int32) {
            self.socket = socket
            var time = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(clamping: MemoryLayout<timeval>.size))
        }

        deinit { close(socket) }

        func say(_ text: String) {
            for var byte in text.utf8 { _ = send(socket, &byte, 1, Int32(truncatingIfNeeded: MSG_NOSIGNAL)) }
        }

        /// The next byte; nil at the end of the connection.
        func hear() -> String? {
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, 0) == 1 ? String(UnicodeScalar(byte)) : nil
        }
    }

    private static func threads() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return try #require(line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) })
    }

    @Test func connectionsAtRestTakeNoThread() throws {
        let server = try EchoServer(.init())
        defer { server.stop() }
        let before = try Self.threads()
        let clients = try (0..<400).map { _ in
            let client = try server.connect()
            client.say("g")
            #expect(client.hear() == "g")
            return client
        }
        // Other tests of this process have threads of their own meanwhile.
        #expect(try Self.threads() < before + 100)
        for client in clients { client.say("x") }
        for client in clients { #expect(client.hear() == "x") }
    }

    @Test func whoIsPutOffIsAnsweredLater() throws {
        let server = try EchoServer(.init())
        defer { server.stop() }
        let client = try server.connect()
        let begin = ContinuousClock.now
        client.say("tx")
        #expect(client.hear() == "t")
        #expect(ContinuousClock.now - begin >= .milliseconds(50))
        #expect(client.hear() == "x")
    }

    /// Otherwise a flood of connections that leave at once would cost as much as if nobody were put off.
    @Test func whoLeavesWhilePutOffIsNotServedSooner() throws {
        let server = try EchoServer(.init())
        defer { server.stop() }
        let begin = ContinuousClock.now
        var client: Client? = try server.connect()
        client?.say("l")
        usleep(20_000)
        client = nil
        try eventually("it is gone") { server.closed.withLock { $0 } == 1 }
        #expect(ContinuousClock.now - begin < .seconds(30))
        #expect(server.late.withLock { $0 } == 0)
    }

    /// It is not read meanwhile, takes no thread, and is gone when the other end is.
    @Test func whoWaitsForAnAlarmHearsItAlone() throws {
        let server = try EchoServer(.init())
        defer { server.stop() }
        let client = try server.connect()
        client.say("ax")
        try eventually("it waits") { server.bells.withLock { $0.count } == 1 }
        usleep(50_000)
        var byte: UInt8 = 0
        #expect(recv(client.socket, &byte, 1, Int32(truncatingIfNeeded: MSG_DONTWAIT)) == -1)
        server.bells.withLock { $0[0].ring() }
        #expect(client.hear() == "a")
        #expect(client.hear() == "x")
        var other: Client? = try server.connect()
        other?.say("a")
        try eventually("it waits") { server.bells.withLock { $0.count } == 2 }
        other = nil
        try eventually("it is gone") { server.closed.withLock { $0 } == 1 }
    }

    @Test func aConnectionGoesOnOverAnotherSocket() throws {
        let server = try EchoServer(.init())
        defer { server.stop() }
        let client = try server.connect()
        client.say("e")
        // Nobody else has the client's socket.
        #expect(client.hear() == nil)
        let other = Client(try #require(server.exchanged.withLock { $0.first }))
        // The answer to what was said before.
        #expect(other.hear() == "e")
        other.say("xy")
        #expect(other.hear() == "x")
        #expect(other.hear() == "y")
        #expect(server.closed.withLock { $0 } == 0)
        shutdown(other.socket, Int32(truncatingIfNeeded: SHUT_RDWR))
        try eventually("it is gone") { server.closed.withLock { $0 } == 1 }
    }

    /// One process has a part of the threads, and not those of others.
    @Test func threadsThatAreBusyAreThoseOfOneProgram() throws {
        var limits = ConnectionLoop.Limits()
        limits.threads = 8
        let server = try EchoServer(limits)
        defer { server.stop() }
        // As one program, which has two threads at a time.
        let busy = try (0..<6).map { _ in try server.connect() }
        for client in busy {
            client.say("g")
            #expect(client.hear() == "g")
            client.say("b")
        }
        // It has not been greeted: another one.
        let other = try server.connect()
        other.say("x")
        #expect(other.hear() == "x")
        for _ in busy { server.gate.signal() }
        for client in busy { #expect(client.hear() == "b") }
    }

    @Test func whoWaitsForAPersonLeavesTheThreadsToOthers() throws {
        var limits = ConnectionLoop.Limits()
        limits.threads = 4
        let server = try EchoServer(limits)
        defer { server.stop() }
        let waiting = try (0..<5).map { _ in try server.connect() }
        for client in waiting { client.say("gw") }
        for client in waiting { #expect(client.hear() == "g") }
        let other = try server.connect()
        other.say("gx")
        #expect(other.hear() == "g")
        #expect(other.hear() == "x")
        for _ in waiting { server.gate.signal() }
        for client in waiting { #expect(client.hear() == "w") }
    }

    @Test func oneMoreWaitEndsTheOldestOfTheProgramThatHasMost() throws {
        var limits = ConnectionLoop.Limits()
        limits.waits = 3
        let server = try EchoServer(limits)
        defer { server.stop() }
        var waiting: [Client] = []
        for _ in 0..<4 {
            let client = try server.connect()
            client.say("gw")
            #expect(client.hear() == "g")
            waiting.append(client)
            usleep(50_000)
        }
        // Cut off while its thread waits.
        #expect(waiting[0].hear() == nil)
        for _ in waiting { server.gate.signal() }
        for client in waiting.dropFirst() { #expect(client.hear() == "w") }
    }

    @Test func aProcessHasFewConnectionsThatHaveSaidNothing() throws {
        let server = try EchoServer(.init())
        defer { server.stop() }
        let greeted = try server.connect()
        greeted.say("g")
        #expect(greeted.hear() == "g")
        let silent = try (0..<200).map { _ in try server.connect() }
        // The oldest made room.
        #expect(silent[0].hear() == nil)
        silent[199].say("x")
        #expect(silent[199].hear() == "x")
        greeted.say("x")
        #expect(greeted.hear() == "x")
    }

    @Test func whoSaysNothingEndsAfterATime() throws {
        var limits = ConnectionLoop.Limits()
        limits.silence = .milliseconds(50)
        let server = try EchoServer(limits)
        defer { server.stop() }
        let silent = try server.connect()
        let talking = try server.connect()
        talking.say("x")
        #expect(talking.hear() == "x")
        #expect(silent.hear() == nil)
        talking.say("y")
        #expect(talking.hear() == "y")
    }

    @Test func usersWhoMayNotConnectAreTurnedAway() throws {
        var limits = ConnectionLoop.Limits()
        limits.admits = { _ in false }
        let server = try EchoServer(limits)
        defer { server.stop() }
        #expect(try server.connect().hear() == nil)
    }

    /// What is at work is finished, and what rests ends at once.
    @Test func aStopWaitsForWork() throws {
        let server = try EchoServer(.init())
        let resting = try server.connect()
        resting.say("g")
        #expect(resting.hear() == "g")
        let delayed = try server.connect()
        delayed.say("gt")
        #expect(delayed.hear() == "g")
        usleep(20_000)
        let begin = ContinuousClock.now
        server.stop(within: .seconds(60))
        #expect(ContinuousClock.now - begin < .seconds(30))
        #expect(delayed.hear() == "t")
        #expect(resting.hear() == nil)
        try eventually("connections are gone") { server.closed.withLock { $0 } == 2 }
    }
}
