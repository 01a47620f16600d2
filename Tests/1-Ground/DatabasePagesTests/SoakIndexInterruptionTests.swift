import DatabasePages
import Foundation
import Glibc
import TestSupport
import Testing

/// Processes that are killed, or work on one index at the same time, or find no room.
@Suite(.serialized) struct SoakIndexInterruptionTests {
    /// What was acknowledged is in force, and what was about to be, as a whole or not at all.
    @Test func killedWhileChanging() throws {
        var random = SeededGenerator()
        let test = try IndexUnderTest()
        var files: Set<ino_t> = []
        let rounds = TestScale.count(25, soak: 1_000)
        for round in 0..<(20 * rounds) where round < rounds || files.count < 2 {
            let seed = random.next()
            try test.index.refresh()
            let former = test.index.state
            let worker = try Worker(["change", test.path, "\(seed)"], command: Worker.ofPages)
            #expect(worker.readLine() == "ready")
            // By what it has changed and not by the clock: on a busy machine, too, the file grows until it is
            // compacted.
            worker.waitForOutput(random.int(below: 100))
            usleep(UInt32.random(in: 0...2_000, using: &random))
            worker.kill()
            let acknowledged = worker.readToEnd()
            worker.wait()
            try #require(
                acknowledged.allSatisfy { $0 == UInt8(ascii: ".") }, "\(String(decoding: acknowledged, as: UTF8.self))")

            var script = PageScript(seed: seed, from: former)
            for _ in acknowledged { _ = script.next() }
            let before = script.state
            _ = script.next()
            let found = try test.open().state
            #expect(found == before || found == script.state, "round \(round), seed \(random.seed)")
            try test.index.refresh()
            #expect(test.index.state == found)
            files.insert(try test.identity)
        }
        #expect(files.count > 1, "never compacted")
    }

    /// Four processes and this one.
    @Test func together() throws {
        let test = try IndexUnderTest()
        let workers = try (0..<4).map { try Worker(["share", test.path, "\($0)"], command: Worker.ofPages) }
        for worker in workers { #expect(worker.readLine() == "ready") }
        for worker in workers { worker.cue() }
        for salts in UInt64(1)...100 {
            try test.index.beginWAL(salts: salts, over: test.index.walSalts)
            #expect(try test.open(writing: false).walSalts == salts)
        }
        for worker in workers {
            #expect(worker.remainingLines() == ["done"])
            #expect(worker.wait() == 0)
        }
        try test.index.refresh()
        #expect(test.index.sequence == 1 + 4 * 300 + 100 && test.index.pageCount == 403)
        for page in UInt32(4)...403 {
            #expect(test.index.version(of: page)?.rawValue == UInt64(200 + (page - 4) / 4) << 8 | UInt64(page % 4 + 1))
        }
        #expect(try test.open().state == test.index.state)
    }

    private static func onSmallDisk(_ program: String, _ folder: TemporaryFolder) throws -> (Int32, [String]) {
        let lines = #"mount -t tmpfs -o size=2m,mode=0700 tmpfs "$1"; "# + program
        let worker = try Worker(["-rm", "sh", "-ec", lines, Worker.ofPages, folder.path], command: "unshare")
        let said = worker.remainingLines()
        return (worker.wait(), said)
    }

    private static func canMount() -> Bool {
        guard let folder = try? TemporaryFolder() else { return false }
        return (try? onSmallDisk("true", folder).0) == 0
    }

    /// A page that is noted has its room in the index, whatever fills the disk.
    @Test(.enabled(if: canMount(), "this user may not mount a small file system"))
    func fullDisk() throws {
        let (status, lines) = try Self.onSmallDisk(#""$0" scarce "$1" 0"#, TemporaryFolder())
        #expect(status == 0)
        #expect(lines == ["errno no space", "refused", "whole", "goes on"])
    }
}

extension Worker {
    /// The program `PageWorker`.
    static let ofPages = URL(filePath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("PageWorker").path
}
