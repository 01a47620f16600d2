import Foundation
import Glibc
import SystemBus
import TestSupport
import Testing

/// A message bus of its own, with the real dbus-daemon.
final class PrivateBus {
    private let temporary: TemporaryFolder
    var folder: String { temporary.path }
    let address: String
    private var daemon: Child
    private var services: [Child] = []

    var bus: BusAddress { .at(address) }
    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": address] }

    init() throws {
        temporary = try TemporaryFolder()
        let folder = temporary.path
        address = "unix:path=\(folder)/bus"
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/><allow own="*"/>
                <allow send_type="method_call"/><allow send_type="signal"/>
                <allow send_requested_reply="true" send_type="method_return"/>
                <allow send_requested_reply="true" send_type="error"/>
                <allow receive_type="method_call"/><allow receive_type="signal"/>
                <allow receive_type="method_return"/><allow receive_type="error"/>
                <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
              </policy>
            </busconfig>
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/bus.conf"))
        daemon = try Self.start(folder)
    }

    deinit {
        services = []
        daemon.end()
    }

    /// Returns when it listens.
    private static func start(_ folder: String) throws -> Child {
        let ready = Pipe()
        let daemon = try Child(
            "/usr/bin/dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile", "--print-address"],
            output: ready)
        let said = withDeadline("the bus starts", ending: daemon.killer) {
            ready.fileHandleForReading.availableData
        }
        guard !said.isEmpty else { throw NothingHappened(expected: "a bus") }
        return daemon
    }

    func stop() {
        services = []
        daemon.end()
        unlink(folder + "/bus")
    }

    func restart() throws {
        daemon = try Self.start(folder)
    }

    /// Starts a service and waits until it has its name.
    func start(
        _ program: String, _ arguments: [String], as name: String, environment: [String: String] = [:]
    ) throws {
        let connection = try BusConnection(bus)
        try connection.listen("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'")
        services.append(
            try Child(program, arguments, environment: self.environment.merging(environment) { $1 }))
        guard try connection.nextSignal(from: name, until: .patience) != nil else {
            throw NothingHappened(expected: "\(name) on the bus")
        }
    }

    func startMock(_ template: String, as name: String) throws {
        try start("/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", template], as: name)
    }

    /// Ends the services, in the order in which they were started, and leaves the bus.
    func stopServices() {
        services = []
    }
}
