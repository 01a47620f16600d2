import Access
import Foundation
import KeychainModel
import Presence
import Synchronization
import SystemBus
import TestSupport
import Testing

/// Against the real fprintd.
@Suite struct FingerprintTests {
    @Test func enrolledFingerIsRecognised() throws {
        let bench = try FingerprintBench()
        #expect(bench.reader.availability().failure == .biometryNotEnrolled)
        #expect(bench.reader.availability().state == nil)
        try bench.enroll("right-index-finger", print: "finger-a")
        let available = bench.reader.availability()
        #expect(available.kind == .fingerprint)
        #expect(available.failure == nil)
        #expect(available.state?.count == 32)

        func answer(to commands: String...) throws -> BiometryAnswer {
            try bench.whileDoing(commands) {
                bench.reader.recognize(until: .patience, cancellation: Cancellation())
            }
        }
        #expect(try answer(to: "SCAN finger-a") == .recognized)
        #expect(try answer(to: "SCAN finger-b") == .missed)
        // A finger that was not put well does not count.
        #expect(try answer(to: "RETRY 1", "SCAN finger-a") == .recognized)
        #expect(try answer(to: "ERROR 0") == .failed(.biometryNotAvailable))
    }

    @Test func waitingEndsAtTheDeadlineAndWhenCanceled() throws {
        let bench = try FingerprintBench()
        try bench.enroll("left-thumb", print: "finger-a")
        #expect(bench.reader.recognize(until: .now + .milliseconds(100), cancellation: Cancellation()) == .timedOut)
        let cancellation = Cancellation()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { cancellation.cancel() }
        #expect(bench.reader.recognize(until: .patience, cancellation: cancellation) == .canceled)
        // The reader was given back.
        let answer = try bench.whileDoing(["SCAN finger-a"]) {
            bench.reader.recognize(until: .patience, cancellation: Cancellation())
        }
        #expect(answer == .recognized)
    }

    /// Every program on the bus can send a signal to another one, with any name in it but its own address.
    @Test func signalsOfOtherProgramsAreNoFinger() throws {
        let bench = try FingerprintBench()
        try bench.enroll("left-thumb", print: "finger-a")
        let address = bench.bus.address
        let bus = BusTarget(
            service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
        let isOver = Atomic(false)
        let sent = Atomic(0)
        let forger = Thread {
            do {
                let connection = try BusConnection(.at(address))
                while !isOver.load(ordering: .acquiring) {
                    let names = try connection.call(bus, "ListNames").first?.elements ?? []
                    for name in names.compactMap(\.string) where name.hasPrefix(":") {
                        let child = try Child(
                            "/usr/bin/dbus-send",
                            [
                                "--bus=\(address)", "--type=signal", "--dest=\(name)",
                                "/net/reactivated/Fprint/Device/0", "net.reactivated.Fprint.Device.VerifyStatus",
                                "string:verify-match", "boolean:true",
                            ])
                        if child.wait() == 0 { sent.add(1, ordering: .relaxed) }
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        forger.start()
        #expect(bench.reader.recognize(until: .now + .seconds(1), cancellation: Cancellation()) == .timedOut)
        isOver.store(true, ordering: .releasing)
        #expect(sent.load(ordering: .relaxed) > 10)
    }

    @Test func stateChangesWithTheEnrolment() throws {
        let bench = try FingerprintBench()
        try bench.enroll("right-index-finger", print: "finger-a")
        let first = try #require(bench.reader.availability().state)
        #expect(bench.reader.availability().state == first)
        try bench.enroll("left-index-finger", print: "finger-b")
        let second = try #require(bench.reader.availability().state)
        #expect(second != first)
        try bench.forget("left-index-finger")
        #expect(bench.reader.availability().state == first)
        // Another finger under the name of the first: the names tell nothing, the prints do.
        try bench.forget("right-index-finger")
        try bench.enroll("right-index-finger", print: "finger-c")
        #expect(bench.reader.availability().state != first)
        try bench.forget("right-index-finger")
        #expect(bench.reader.availability().failure == .biometryNotEnrolled)
    }

    @Test func machineWithoutFprintdHasNoReader() throws {
        let bus = try PrivateBus()
        #expect(FingerprintReader(bus: bus.bus).availability().failure == .biometryNotAvailable)
        let absent = FingerprintReader(bus: .at("unix:path=/nonexistent/bus"))
        #expect(absent.availability().kind == .none)
        #expect(
            absent.recognize(until: .patience, cancellation: Cancellation())
                == .failed(.biometryNotAvailable))
    }
}
