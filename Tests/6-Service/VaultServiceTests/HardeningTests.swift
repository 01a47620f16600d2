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

    /// Whatever is found in it can write nowhere else, and cannot see which file its callers run.
    @Test func confinedItServesByUser() throws {
        let daemon = try DaemonUnderTest(["--landlock"], rules: [#"{"uid": \#(geteuid()), "groups": ["TEAM"]}"#])
        let program = try daemon.program("program")
        #expect(try daemon.says(program, "groups") == "TEAM")
        #expect(try daemon.says(program, "put", "treasure") == "stored in TEAM")
        #expect(try daemon.says(program, "get") == "treasure")
        try daemon.setRules([#"{"uid": \#(geteuid()), "groups": ["OTHER"]}"#])
        try eventually("the rules are read again") { (try? daemon.says(program, "groups")) == "OTHER" }
        #expect(daemon.stop() == 0)
        #expect(access(daemon.socket, F_OK) != 0)
    }

    @Test func itLeavesNoCoreFile() throws {
        let daemon = try DaemonUnderTest()
        let limits = try String(contentsOfFile: "/proc/\(process(of: daemon))/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).first == "1")
    }

    /// An intruder who has taken over a front process can send and receive on its sockets, and nothing else.
    @Test func aFrontCanDoNothingButTalk() throws {
        #expect(try String(decoding: Worker(["front", "-"]).readToEnd(), as: UTF8.self) == "it talks\n")
        try #require(geteuid() == 0, "the test changes its user, which takes root")
        let other = try Worker(
            ["--reuid", "65534", "--clear-groups", Worker.executable, "front", "-"], command: "setpriv")
        #expect(String(decoding: other.readToEnd(), as: UTF8.self) == "it talks\n")
    }

    /// Another process of the same user can neither trace it nor read its memory. Root can.
    @Test func noProcessOfItsUserReadsItsMemory() throws {
        try #require(geteuid() == 0, "the test changes its user, which takes root")
        let daemon = try DaemonUnderTest(as: 65534)
        let number = try process(of: daemon)
        let peeking = try Worker(
            ["--reuid", "65534", "--clear-groups", "head", "-c", "1", "/proc/\(number)/mem"], command: "setpriv")
        #expect(peeking.wait() != 0)
        let environment = try Worker(
            ["--reuid", "65534", "--clear-groups", "cat", "/proc/\(number)/environ"], command: "setpriv")
        #expect(environment.readToEnd().isEmpty)
        #expect(environment.wait() != 0)
    }
}
