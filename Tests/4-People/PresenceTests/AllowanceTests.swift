import Foundation
import Glibc
import KeychainModel
import Presence
import Synchronization
import SystemLibraries
import TestSupport
import Testing

/// When a fingerprint alone is enough.
@Suite struct AllowanceTests {
    /// The time since a start of a machine.
    final class Machine: Sendable {
        private let time = Mutex((boot: UUID(), uptime: 100.0))
        var clock: BootClock {
            BootClock(
                bootIdentifier: { self.time.withLock { $0.boot } }, uptime: { self.time.withLock { $0.uptime } })
        }
        func advance(_ seconds: Double) { time.withLock { $0.uptime += seconds } }
        func restart() { time.withLock { $0 = (UUID(), 100) } }
    }

    let machine = Machine()
    private let place: TemporaryFolder
    private var folder: String { place.path(of: "allowance") }

    init() throws { place = try TemporaryFolder() }

    /// One that lives in memory, and one that several objects and processes share.
    private func allowances() -> [BiometryAllowance] {
        [BiometryAllowance(clock: machine.clock), BiometryAllowance(folder: folder, clock: machine.clock)]
    }

    @Test func asksForThePasscodeOnceAfterAStart() {
        for allowance in allowances() {
            #expect(allowance.lockout == .restarted)
            allowance.wasRecognized()
            allowance.wasMissed()
            #expect(allowance.lockout == .restarted)
            allowance.passcodeWasGiven()
            #expect(allowance.lockout == nil)
        }
        machine.restart()
        #expect(BiometryAllowance(folder: folder, clock: machine.clock).lockout == .restarted)
    }

    @Test func asksForThePasscodeEvery48Hours() {
        for allowance in allowances() {
            allowance.passcodeWasGiven()
            machine.advance(48 * 3_600 - 1)
            #expect(allowance.lockout == nil)
            machine.advance(1)
            #expect(allowance.lockout == .passcodeTooLongAgo)
            allowance.passcodeWasGiven()
            #expect(allowance.lockout == nil)
            // Time that runs backwards is no time to trust.
            machine.advance(-10)
            #expect(allowance.lockout == .passcodeTooLongAgo)
            machine.advance(10)
        }
    }

    @Test func asksForThePasscodeAfterFiveMisses() {
        for allowance in allowances() {
            allowance.passcodeWasGiven()
            for _ in 0..<4 { allowance.wasMissed() }
            #expect(allowance.lockout == nil)
            allowance.wasRecognized()
            for _ in 0..<4 { allowance.wasMissed() }
            #expect(allowance.lockout == nil)
            allowance.wasMissed()
            #expect(allowance.lockout == .misses)
            allowance.wasRecognized()
            #expect(allowance.lockout == .misses)
            allowance.passcodeWasGiven()
            #expect(allowance.lockout == nil)
        }
    }

    @Test func processesShareTheCount() {
        let (first, second) = (
            BiometryAllowance(folder: folder, clock: machine.clock),
            BiometryAllowance(folder: folder, clock: machine.clock)
        )
        first.passcodeWasGiven()
        #expect(second.lockout == nil)
        for index in 0..<5 { (index.isMultiple(of: 2) ? first : second).wasMissed() }
        #expect(first.lockout == .misses)
        #expect(second.lockout == .misses)
    }

    @Test func damagedOrOpenFileAllowsNothing() throws {
        let allowance = BiometryAllowance(folder: folder, clock: machine.clock)
        allowance.passcodeWasGiven()
        let file = folder + "/biometry-allowance"
        let good = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o666) == 0)
        #expect(allowance.lockout == .unknown)
        #expect(chmod(file, 0o600) == 0)
        #expect(allowance.lockout == nil)
        try Data(good.dropLast(3)).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o600) == 0)
        #expect(allowance.lockout == .unknown)
        allowance.passcodeWasGiven()
        #expect(allowance.lockout == nil)
    }

    @Test func machineThatTellsNoTimeAllowsNothing() {
        let allowance = BiometryAllowance(clock: BootClock(bootIdentifier: { nil }, uptime: { 100 }))
        allowance.passcodeWasGiven()
        #expect(allowance.lockout == .unknown)
    }

    @Test func systemTellsTheTimeSinceItsStart() throws {
        let clock = BootClock.system
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(try #require(clock.bootIdentifier()).uuidString.lowercased() == boot.dropLast())
        let (first, second) = (clock.uptime(), clock.uptime())
        #expect(first > 0)
        #expect(first <= second)
    }
}
