import Foundation
import TestSupport
import Testing
import VaultInterface
import VaultService

/// What a daemon and its client have in memory after everything was read and the vault was locked.
@Suite(.serialized) struct SoakDaemonMemoryTests {
    private static let items = TestScale.count(100, soak: 1000)

    @Test func nothingIsLeftAfterTheLock() throws {
        try #require(geteuid() == 0, "only root reads the memory of a daemon, which is not dumpable")
        for round in 0..<TestScale.count(1, soak: 20) {
            let daemon = try DaemonUnderTest(rules: [
                #"{"executable": "\#(DaemonUnderTest.ownExecutable)", "groups": ["*"], "rights": ["list", "administer"]}"#,
                #"{"executable": "\#(Worker.executable)", "groups": ["TEAM.app"], "rights": ["unlock"]}"#,
            ])
            let canaries = try MemoryCanaries(items: Self.items, path: daemon.home)
            try canaries.fill(daemon.connect())
            let secrets = try canaries.secrets()
            let client = try Worker(["forget-remote", daemon.socket])
            client.send(Array(canaries.passcode.utf8) + [0x0A])
            client.send(Array((try canaries.wrappedFileKeys() + "\n").utf8))
            #expect(client.readLine() == "unlocked \(Self.items) and 20")
            let served = ProcessMemory(of: try #require(daemon.processNumber))
            // The search finds what is there: the keys of an unlocked vault are.
            let before = try served.search(for: secrets)
            #expect(before.found.contains { $0.needle == "class key ak" }, "round \(round)")
            client.cue()
            #expect(client.readLine() == "locked")
            for (name, memory) in [("daemon", served), ("client", client.memory)] {
                let after = try memory.search(for: secrets)
                #expect(after.found.isEmpty, "\(name), round \(round): \(after.found)")
                #expect(after.bytes > 1_000_000)
            }
            client.cue()
            #expect(client.wait() == 0)
        }
    }
}
