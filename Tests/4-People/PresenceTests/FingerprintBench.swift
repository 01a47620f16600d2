import Foundation
import Glibc
import Presence
import Synchronization
import SystemBus
import TestSupport
import Testing

/// The real fprintd with libfprint's virtual reader, and the fingers that touch it.
final class FingerprintBench {
    private static let interface = "net.reactivated.Fprint"

    let bus: PrivateBus
    private let hands: Hands
    var prints: String { bus.folder + "/state" }
    /// Empty, for fprintd, is the user who asks.
    var reader: FingerprintReader { FingerprintReader(bus: bus.bus, prints: prints) }

    init() throws {
        bus = try PrivateBus()
        hands = Hands(reader: bus.folder + "/reader")
        for name in ["state", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(bus.folder)/\(name)", withIntermediateDirectories: false)
        }
        try bus.startMock("polkitd", as: "org.freedesktop.PolicyKit1")
        try BusConnection(bus.bus).call(
            BusTarget(
                service: "org.freedesktop.PolicyKit1", path: "/org/freedesktop/PolicyKit1/Authority",
                interface: "org.freedesktop.DBus.Mock"),
            "AllowUnknown", [.boolean(true)])
        try bus.start(
            "/usr/libexec/fprintd", ["-t"], as: Self.interface,
            environment: [
                "FP_VIRTUAL_DEVICE": bus.folder + "/reader", "FP_DRIVERS_WHITELIST": "virtual_device",
                "STATE_DIRECTORY": prints, "RUNTIME_DIRECTORY": bus.folder + "/run",
            ])
    }

    /// What a person does while `body` waits for it, in the words of libfprint's virtual reader, such as
    /// `SCAN finger-a`.
    ///
    /// - Parameter later: What is done when the reader is used once more: what it hears before is lost with the first
    ///   use.
    func whileDoing<Result>(
        _ commands: [String], later: [String] = [], _ body: () throws -> Result
    ) throws -> Result {
        let address = bus.bus
        let hand = Thread { [hands] in
            do {
                let statuses = try BusConnection(address)
                try statuses.listen("type='signal',interface='\(Self.interface).Device',member='VerifyStatus'")
                for (number, command) in commands.enumerated() {
                    // The reader begins anew after each finger. A command that comes before that brings it to a stand.
                    if number > 0, try statuses.nextSignal(from: Self.interface, until: .patience) == nil {
                        throw NothingHappened(expected: "VerifyStatus")
                    }
                    try hands.tell([command], inNextUse: number == 0)
                }
                if !later.isEmpty { try hands.tell(later) }
            } catch {
                Issue.record(error)
            }
        }
        hand.start()
        return try body()
    }

    /// Enrolls `print` as a finger, by touching the reader as often as fprintd asks for it.
    func enroll(_ finger: String, print: String) throws {
        try withDevice { connection, device in
            try connection.call(device, "EnrollStart", [.string(finger)])
            defer { _ = try? connection.call(device, "EnrollStop") }
            var isFirst = true
            while true {
                try hands.tell(["SCAN \(print)"], inNextUse: isFirst)
                isFirst = false
                guard let signal = try connection.nextSignal(from: Self.interface, until: .patience),
                    let result = signal.values.first?.string
                else { throw NothingHappened(expected: "EnrollStatus") }
                if result == "enroll-completed" { return }
                guard signal.values.last?.boolean == false else { throw NothingHappened(expected: result) }
            }
        }
    }

    func forget(_ finger: String) throws {
        try withDevice { try $0.call($1, "DeleteEnrolledFinger", [.string(finger)]) }
    }

    private func withDevice(_ body: (BusConnection, BusTarget) throws -> Void) throws {
        let connection = try BusConnection(bus.bus)
        let manager = BusTarget(
            service: Self.interface, path: "/net/reactivated/Fprint/Manager", interface: Self.interface + ".Manager")
        let path = try connection.call(manager, "GetDefaultDevice").first?.string ?? ""
        let device = BusTarget(service: Self.interface, path: path, interface: Self.interface + ".Device")
        try connection.listen("type='signal',interface='\(device.interface)',member='EnrollStatus'")
        try connection.call(device, "Claim", [.string("")])
        defer { _ = try? connection.call(device, "Release") }
        try body(connection, device)
    }
}

/// What touches the virtual reader.
private final class Hands: Sendable {
    private let path: String
    /// The use in which the reader heard the last command. It goes on to listen for a moment after its end, and loses
    /// what it hears then.
    private let last = Mutex<Use?>(nil)

    /// - Parameter path: The socket on which the reader listens.
    init(reader path: String) { self.path = path }

    /// The socket of one use of the reader, which it makes anew for each.
    private struct Use: Equatable {
        let inode: ino_t
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var information = stat()
            guard stat(path, &information) == 0 else { return nil }
            (inode, seconds, nanoseconds) = (
                information.st_ino, information.st_ctim.tv_sec, information.st_ctim.tv_nsec
            )
        }
    }

    /// Waits until the reader is in use, for it listens only then, and until it has heard the commands.
    ///
    /// - Parameter inNextUse: Whether to wait for a use in which it has heard nothing yet.
    func tell(_ commands: [String], inNextUse: Bool = true) throws {
        var former = inNextUse ? last.withLock { $0 } : nil
        for command in commands {
            try eventually("the virtual reader at \(path) hears '\(command)'") {
                guard let use = Use(path), use != former, isHeard(command, in: use) else { return false }
                last.withLock { $0 = use }
                return true
            }
            former = nil
        }
    }

    private func isHeard(_ command: String, in use: Use) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0, Use(path) == use else { return false }
        let sent = send(descriptor, command, command.utf8.count, Int32(MSG_NOSIGNAL))
        guard sent == command.utf8.count else { return false }
        // It closes the connection when it has heard. One that comes while it still listens to another, or goes out of
        // use, is reset.
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) == 0
    }
}
