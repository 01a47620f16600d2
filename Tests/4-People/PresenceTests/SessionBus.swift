import Foundation
import Glibc
import LockSignals
import SystemBus
import TestSupport
import Testing

/// A bus with a stand-in for logind.
final class SessionBus {
    private static let service = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"

    let bus: PrivateBus
    private let reports: AsyncStream<LockSignals.Report>
    private let reporting: AsyncStream<LockSignals.Report>.Continuation
    private var reported: AsyncStream<LockSignals.Report>.Iterator

    init() throws {
        bus = try PrivateBus()
        (reports, reporting) = AsyncStream.makeStream()
        reported = reports.makeAsyncIterator()
        try startSessionKeeper()
    }

    func startSessionKeeper() throws {
        try bus.startMock("logind", as: Self.service)
    }

    /// Returns when signals are listened for.
    func listen() async throws -> (AsyncStream<LockSignal>, LockSignals) {
        let listener = LockSignals(
            bus: bus.bus, retryDelays: .milliseconds(10) ... .milliseconds(100)
        ) { [reporting] in reporting.yield($0) }
        let signals = listener.signals()
        guard await nextReport() == .listening else { throw NothingHappened(expected: "listening") }
        return (signals, listener)
    }

    func nextReport() async -> LockSignals.Report? { await reported.next(isolation: #isolation) }

    /// - Returns: The session's object.
    func addSession(_ name: String, user: uid_t) throws -> String {
        let target = BusTarget(service: Self.service, path: Self.path, interface: "org.freedesktop.DBus.Mock")
        let arguments: [BusArgument] = [
            .string(name), .string("seat0"), .unsigned32(user), .string("user\(user)"), .boolean(true),
        ]
        let answer = try BusConnection(bus.bus).call(target, "AddSession", arguments)
        guard let path = answer.first?.string else { throw NothingHappened(expected: "a session") }
        return path
    }

    func call(_ session: String, _ member: String, _ arguments: [BusArgument] = []) throws {
        let target = BusTarget(service: Self.service, path: session, interface: Self.service + ".Session")
        try BusConnection(bus.bus).call(target, member, arguments)
    }

    /// Has the stand-in emit a signal of the manager, with arguments in Python's notation.
    func emit(_ member: String, _ signature: String, _ arguments: String) throws {
        let program = """
            import dbus, sys
            mock = dbus.Interface(dbus.SystemBus().get_object('\(Self.service)', '\(Self.path)'), \
            'org.freedesktop.DBus.Mock')
            mock.EmitSignal('\(Self.service).Manager', '\(member)', '\(signature)', [\(arguments)])
            """
        let child = try Child("/usr/bin/python3", ["-c", program], environment: bus.environment)
        guard child.wait() == 0 else { throw NothingHappened(expected: member) }
    }

    func inhibitors() throws -> Int {
        let target = BusTarget(service: Self.service, path: Self.path, interface: Self.service + ".Manager")
        return try BusConnection(bus.bus).call(target, "ListInhibitors").first?.elements?.count ?? 0
    }

    func awaitInhibitors(_ count: Int) async throws {
        try await suspendUntil("there are \(count) inhibitors") { try inhibitors() == count }
    }
}
