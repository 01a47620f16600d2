import SystemBus
import Foundation
import Glibc
import Presence

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
    func whileDoing<Result>(_ commands: [String], _ body: () throws -> Result) throws -> Result {
        let path = socketPath
        let hand = Thread { for command in commands { try? Self.tell(command, path) } }
        hand.start()
        return try body()
    }

    /// Waits until the reader is in use: it listens only then.
    private static func tell(_ command: String, _ path: String) throws {
        for _ in 0..<5_000 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let connected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if connected == 0 {
                _ = write(descriptor, command, command.utf8.count)
                shutdown(descriptor, Int32(SHUT_WR))
                return
            }
            usleep(2_000)
        }
        throw NothingHappened(expected: "the virtual reader at \(path)")
    }

    /// Enrolls `print` as a finger, by touching the reader as often as fprintd asks for it.
    func enroll(_ finger: String, print: String) throws {
        try withDevice { connection, device in
            try connection.call(device, "EnrollStart", [.string(finger)])
            defer { _ = try? connection.call(device, "EnrollStop") }
            while true {
                try Self.tell("SCAN \(print)", socketPath)
                guard let signal = try connection.nextSignal(until: .now + .seconds(10)),
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
