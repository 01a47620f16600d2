import Foundation
import TestSupport
import Testing
import Vault

/// What a process that was unlocked, read everything and was locked again still has in its memory.
@Suite(.serialized) struct SoakMemoryTests {
    private static let items = TestScale.count(100, soak: 1000)

    @Test func nothingIsLeftAfterTheLock() throws {
        for round in 0..<TestScale.count(1, soak: 20) {
            let place = try MemoryCanaries(items: Self.items)
            try place.fill(EmbeddedVault.open(at: place.path))
            let secrets = try place.secrets()
            let worker = try Worker(["forget", place.path])
            worker.send(Array(place.passcode.utf8) + [0x0A])
            worker.send(Array((try place.wrappedFileKeys() + "\n").utf8))
            #expect(worker.readLine() == "unlocked \(Self.items) and 20")
            let before = try worker.memory.search(for: secrets)
            // The search finds what is there: the keys of an unlocked vault are.
            #expect(before.found.contains { $0.needle == "class key ak" }, "round \(round): \(before)")
            worker.cue()
            #expect(worker.readLine() == "locked")
            let after = try worker.memory.search(for: secrets)
            #expect(after.found.isEmpty, "round \(round): \(after.found)")
            #expect(after.bytes > 1_000_000)
            worker.cue()
            #expect(worker.wait() == 0)
        }
    }
}
