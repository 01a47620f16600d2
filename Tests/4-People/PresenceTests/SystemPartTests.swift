import Bytes
import Foundation
import Glibc
import KeychainModel
import Presence
import SystemBus
import SystemLibraries
import TestSupport
import Testing

/// Parts of the system that are absent, silent or strange.
@Suite struct SystemPartTests {
    @Test func missingLibraryIsSaid() throws {
        let error = #expect(throws: SystemLibraryError.self) {
            _ = try SystemLibrary("libnonexistent.so.0", provides: "flying")
        }
        #expect(error?.description == "there is no libnonexistent.so.0 on this machine, which flying needs; install it")
        let library = try SystemLibrary("libc.so.6", provides: "anything")
        #expect(throws: SystemLibraryError.self) {
            let _: @convention(c) () -> Void = try library.function("no_such_function")
        }
        let process: @convention(c) () -> Int32 = try library.function("getpid")
        #expect(process() == getpid())
    }

    @Test func missingBusIsSaid() {
        let error = #expect(throws: BusError.self) { _ = try BusConnection(.at("unix:path=/nonexistent/bus")) }
        guard case .noBus? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// A socket that takes connections and says nothing.
    @Test func silentBusIsGivenUp() throws {
        let path = "/tmp/silent-\(UUID().uuidString)"
        let silent = try ListeningSocket(path: path)
        #expect(throws: BusError.noBus(reason: "it does not answer")) {
            // libsystemd itself waits for 25 s.
            try withDeadline("the silent bus is given up", within: 20) {
                _ = try BusConnection(.at("unix:path=\(path)"), patience: .milliseconds(200))
            }
        }
        withExtendedLifetime(silent) {}
    }

    @Test func absentServiceAndRefusalAreTold() throws {
        let bus = try PrivateBus()
        let connection = try BusConnection(bus.bus)
        let absent = BusTarget(service: "org.example.Absent", path: "/", interface: "org.example.Absent")
        #expect(throws: BusError.noService("org.example.Absent")) { try connection.call(absent, "Do") }
        let itself = BusTarget(
            service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
        let error = #expect(throws: BusError.self) {
            try connection.call(itself, "GetNameOwner", [.boolean(true)])
        }
        guard case .refused("org.freedesktop.DBus.Error.InvalidArgs", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func credentialIsReadOnlyIfItIsPrivate() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/credentials-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try ServiceCredential.passcode(in: folder) == nil)
        let path = folder + "/keychain-passcode"
        try Data("12 34\n".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o400)
        let passcode = try #require(try ServiceCredential.passcode(in: folder))
        #expect(passcode.withUnsafeBytes { $0.elementsEqual("12 34".utf8) })
        chmod(path, 0o444)
        let error = #expect(throws: ServiceCredentialError.self) { try ServiceCredential.passcode(in: folder) }
        #expect(error?.description.contains("12 34") == false)
    }
}
