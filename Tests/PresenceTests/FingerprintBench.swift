import Foundation
import Glibc
import Presence
import SystemBus
import TestSupport
import Testing

/// The real fprintd with libfprint's virtual reader, and the fingers that touch it.
final class FingerprintBench {
    private static let interface = "net.reactivated.Fprint"

    let bus: PrivateBus
    private var socketPath: String { bus.folder + "/reader" }
    var prints: String { bus.folder + "/state" }
    /// Empty, for fprintd, is the user who asks.
    var reader: FingerprintReader { FingerprintReader(bus: bus.bus, prints: prints) }

    init() throws {
        bus = try PrivateBus()
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
                "FP_VIRTUAL_DEVICE": socketPath, "FP_DRIVERS_WHITELIST": "virtual_device",
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
        let path = socketPath
        let hand = Thread {
            var use: Use?
            for command in commands { use = try? Self.tell(command, path) }
            for command in later { _ = try? Self.tell(command, path, after: use) }
        }
        hand.start()
        return try body()
    }

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

    /// Waits until the reader is in use, for it listens only then, and until it has heard the command.
    @discardableResult
    private static func tell(_ command: String, _ path: String, after former: Use? = nil) throws -> Use? {
        var use: Use?
        try eventually("the virtual reader at \(path) hears '\(command)'") {
            use = Use(path)
            guard use != nil, use != former else { return false }
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
            // It closes the connection when it has heard. One that comes while it still listens to another, or goes out
            // of use, is reset.
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, 0) == 0
        }
        return use
    }

    /// Enrolls `print` as a finger, by touching the reader as often as fprintd asks for it.
    func enroll(_ finger: String, print: String) throws {
        try withDevice { connection, device in
            try connection.call(device, "EnrollStart", [.string(finger)])
            defer { _ = try? connection.call(device, "EnrollStop") }
            while true {
                try Self.tell("SCAN \(print)", socketPath)
                guard let signal = try connection.nextSignal(until: .patience),
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
