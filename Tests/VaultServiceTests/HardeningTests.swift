import Foundation
import Glibc
import TestSupport
import Testing

/// What the daemon does to itself.
@Suite struct HardeningTests {
    /// The process of the daemon that listens at `socket`.
    private func process(of daemon: DaemonUnderTest) throws -> pid_t { try #require(daemon.processNumber) }

    @Test func itHasNoWayToMorePrivilegesAndFiltersItsSystemCalls() throws {
        let daemon = try DaemonUnderTest()
        let status = try String(contentsOfFile: "/proc/\(process(of: daemon))/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
    }

    /// Each thread is filtered, those that were there before included.
    @Test func everyThreadIsFiltered() throws {
        let daemon = try DaemonUnderTest()
        _ = try daemon.connect()
        let folder = "/proc/\(try process(of: daemon))/task"
        var filtered = 0
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            // A thread may have ended since the list was made.
            guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8) else {
                continue
            }
            #expect(status.contains("Seccomp:\t2"))
            filtered += 1
        }
        #expect(filtered > 1)
    }

    @Test func itLeavesNoCoreFile() throws {
        let daemon = try DaemonUnderTest()
        let limits = try String(contentsOfFile: "/proc/\(process(of: daemon))/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).first == "1")
    }

    /// Another process of the same user can neither trace it nor read its memory. Root can.
    @Test func noProcessOfItsUserReadsItsMemory() throws {
        try #require(geteuid() == 0, "the test changes its user, which takes root")
        let daemon = try DaemonUnderTest(as: 65534)
        let number = try process(of: daemon)
        let peeking = try Worker(
            ["--reuid", "65534", "--clear-groups", "head", "-c", "1", "/proc/\(number)/mem"], command: "setpriv")
        #expect(withDeadline(20, "head does not end") { peeking.wait() } != 0)
        let environment = try Worker(
            ["--reuid", "65534", "--clear-groups", "cat", "/proc/\(number)/environ"], command: "setpriv")
        #expect(environment.readToEnd().isEmpty)
        #expect(environment.wait() != 0)
    }
}
