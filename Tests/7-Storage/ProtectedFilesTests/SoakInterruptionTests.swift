import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// Changes that were interrupted: each is there as a whole, or not at all.
@Suite(.serialized) struct SoakInterruptionTests {
    private static let worker = URL(filePath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("FileWorker").path

    @Test func killedWhileChanging() throws {
        var random = SeededGenerator()
        let file = try FileUnderTest(Data())
        for round in 0..<TestScale.count(25, soak: 1_000) {
            let data = try file.contents()
            let seed = random.next()
            let worker = try Worker(["change", file.path, "\(seed)"], command: Self.worker)
            #expect(worker.readLine() == "ready")
            usleep(UInt32.random(in: 0...15_000, using: &random))
            worker.kill()
            let acknowledged = worker.readToEnd().count
            worker.wait()

            var script = FileScript(seed: seed, data: data, limit: 3 << 20)
            for _ in 0..<acknowledged { _ = script.next() }
            let before = script.data
            _ = script.next()
            // A reader takes the journal into account; a writer carries it out.
            let seen = try file.contents()
            #expect(seen == before || seen == script.data, "round \(round), seed \(random.seed), after \(acknowledged)")
            let open = try file.open(.writing)
            #expect(try open.verify() == file.open().verify())
            #expect(try open.verify().isSound)
            #expect(try file.contents() == seen)
            #expect(try UInt64(file.bytes.count) == FileLayout.size(UInt64(seen.count)))
        }
    }

    @Test func killedWhileReplacing() throws {
        var random = SeededGenerator()
        let count = 2_500_000
        let file = try FileUnderTest(Data(repeating: 0, count: count))
        for round in 0..<TestScale.count(10, soak: 500) {
            let old = try file.contents()[0]
            let worker = try Worker(["replace", file.path, "\(count)"], command: Self.worker)
            worker.waitForOutput()
            usleep(UInt32.random(in: 0...25_000, using: &random))
            worker.kill()
            let acknowledged = worker.readToEnd().count
            worker.wait()
            let contents = try file.contents()
            let possible = [
                acknowledged == 0 ? old : UInt8(truncatingIfNeeded: acknowledged),
                UInt8(truncatingIfNeeded: acknowledged + 1),
            ]
            #expect(possible.contains(contents[0]), "round \(round), seed \(random.seed)")
            #expect(contents == Data(repeating: contents[0], count: count), "round \(round), seed \(random.seed)")
        }
    }

    /// What a worker acknowledged before it was killed at some time within so many microseconds.
    private func acknowledged(
        _ command: String, _ path: String, seed: UInt64, within time: UInt32, _ random: inout SeededGenerator
    ) throws -> Int {
        let worker = try Worker([command, path, "\(seed)"], command: Self.worker)
        #expect(worker.readLine() == "ready")
        usleep(UInt32.random(in: 0...time, using: &random))
        worker.kill()
        let count = worker.readToEnd().count
        worker.wait()
        return count
    }

    /// Protecting, and making plain again: the file is one or the other, and whole.
    @Test func killedWhileConverting() throws {
        var random = SeededGenerator()
        let file = try FileUnderTest()
        let conversion = FileConversion(keys: file.keys)
        let data = random.bytes(1_500_000)
        for round in 0..<TestScale.count(10, soak: 250) {
            try file.put(data)
            let count = try acknowledged("convert", file.path, seed: 0, within: 60_000, &random)
            let isPlain = try file.bytes == data
            if !isPlain { #expect(try file.contents() == data, "round \(round), seed \(random.seed)") }
            // What was acknowledged, or what was about to be.
            #expect([count, count + 1].contains { ($0 % 2 == 0) == isPlain })
            // Between two system calls a whole file has a second name; no other trace is left.
            for name in try FileManager.default.contentsOfDirectory(atPath: file.folder.path) where name != "file" {
                #expect(name.hasPrefix(".new."))
                try FileManager.default.removeItem(atPath: file.folder.path(of: name))
            }
            // Going on from there works.
            if isPlain { try conversion.protect(file.path, .complete) }
            #expect(try file.contents() == data)
            try conversion.unprotect(file.path)
            #expect(try file.bytes == data)
        }
    }

    /// Sealing under a new key: the former file or the new one is there, whole.
    @Test func killedWhileGettingANewKey() throws {
        var random = SeededGenerator()
        let data = random.bytes(1_500_000)
        let file = try FileUnderTest(data)
        let conversion = FileConversion(keys: file.keys)
        for round in 0..<TestScale.count(10, soak: 250) {
            let former = try Int(file.open().fileClass.rawValue)
            let count = try acknowledged("renew-again", file.path, seed: 0, within: 60_000, &random)
            let found = try Int(file.open().fileClass.rawValue)
            // What was acknowledged, or what was about to be.
            #expect(
                [count, count + 1].contains { (former - 1 + $0) % 4 == found - 1 },
                "round \(round), seed \(random.seed)")
            #expect(try file.contents() == data, "round \(round), seed \(random.seed)")
            #expect(try file.open().verify().isSound)
            for name in try FileManager.default.contentsOfDirectory(atPath: file.folder.path) where name != "file" {
                #expect(name.hasPrefix(".new."))
                try FileManager.default.removeItem(atPath: file.folder.path(of: name))
            }
            try conversion.renewKey(file.path)
            #expect(try file.contents() == data)
        }
    }

    /// Whatever was appended and acknowledged is there, and nothing by half.
    @Test func killedWhileAppending() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(10, soak: 250) {
            let file = try FileUnderTest(Data())
            let seed = random.next()
            let count = try acknowledged("append", file.path, seed: seed, within: 40_000, &random)
            var script = SeededGenerator(seed: seed)
            var (expected, left) = (Data(), 0)
            func append(_ number: Int) {
                // As many as the worker appends before it opens the file anew.
                if left == 0 { left = 1 + script.int(below: 8) }
                left -= 1
                expected.append(
                    Data(repeating: UInt8(truncatingIfNeeded: number), count: 1 + script.int(below: 200_000)))
            }
            for number in 0..<count { append(number + 1) }
            let acknowledged = expected.count
            append(count + 1)
            let found = try file.contents()
            #expect(found == expected.prefix(found.count), "round \(round), seed \(random.seed)")
            // A change ends where the next MiB of the file begins.
            #expect([acknowledged, expected.count].contains(found.count) || found.count % (1 << 20) == 0)
            #expect((acknowledged...expected.count).contains(found.count), "round \(round), seed \(random.seed)")
            try file.open(.writing).append(Data("more".utf8))
            #expect(try file.contents() == found + Data("more".utf8))
        }
    }

    /// A change of class is another header and nothing else: the data are read under the former class or the next.
    @Test func killedWhileChangingTheClass() throws {
        var random = SeededGenerator()
        let data = random.bytes(300_000)
        let file = try FileUnderTest(data)
        for round in 0..<TestScale.count(10, soak: 250) {
            // As who opens it finds it: a change that waits in the journal counts.
            let former = try Int(file.open().fileClass.rawValue)
            let count = try acknowledged("class", file.path, seed: 0, within: 20_000, &random)
            #expect(try file.contents() == data, "round \(round), seed \(random.seed)")
            let found = try Int(file.open().fileClass.rawValue)
            #expect([count, count + 1].map { (former - 1 + $0) % 4 + 1 }.contains(found), "round \(round)")
        }
    }

    /// So is another wrapping of the key: the file opens with the former keys or with the next.
    @Test func killedWhileWrappingTheKeyAnew() throws {
        var random = SeededGenerator()
        let data = random.bytes(300_000)
        let file = try FileUnderTest(data)
        var generation: UInt64 = 0
        for round in 0..<TestScale.count(10, soak: 250) {
            let count = try acknowledged("rewrap", file.path, seed: generation, within: 20_000, &random)
            let known = generation + UInt64(count)
            let found = try #require(
                [known, known + 1].first { generation in
                    (try? SealedFile(file.path, .reading, keys: MemoryFileKeys(generation: generation))) != nil
                }, "round \(round), seed \(random.seed)")
            if known > 0 {
                let former = MemoryFileKeys(generation: known - 1)
                #expect(throws: SealedFileError.self) { try SealedFile(file.path, .reading, keys: former) }
            }
            let open = try SealedFile(file.path, .reading, keys: MemoryFileKeys(generation: found))
            #expect(try open.read(400_000, at: 0) == data && open.fileClass == .complete, "round \(round)")
            generation = found
        }
    }

    /// Readers see the file as it was before a change or after, whatever another process is about.
    @Test func readWhileAnotherProcessChanges() throws {
        let file = try FileUnderTest(Data(repeating: 1, count: 2_000_000))
        let reader = try file.open()
        var random = SeededGenerator()
        let worker = try Worker(["change", file.path, "\(random.next())"], command: Self.worker)
        #expect(worker.readLine() == "ready")
        var lengths = Set<UInt64>()
        var left = TestScale.count(400, soak: 100_000)
        // At least until the other process has changed the length under the reader.
        let end = ContinuousClock.Instant.patience
        while left > 0 || (lengths.count < 2 && .now < end) {
            left -= 1
            let length = try reader.length
            lengths.insert(length)
            _ = try reader.read(300_000, at: UInt64.random(in: 0...length, using: &random))
        }
        // One for each change that has returned.
        worker.waitForOutput(2)
        worker.kill()
        #expect(worker.readToEnd().count > 1)
        #expect(lengths.count > 1)
    }

    /// Every state a loss of power can leave: parts of the change in their places or not, the header half written.
    @Test func journalOfAnInterruptedChange() throws {
        var random = SeededGenerator()
        let old = random.bytes(9 << 20)
        let file = try FileUnderTest(old)
        let new = random.bytes(200_000)
        var changed = old
        let place = (8 << 20) - 100_000
        changed.replaceSubrange(place..<(place + new.count), with: new)
        let before = try file.bytes
        let record = try file.interrupt(new, at: place)
        let noted = try file.bytes
        #expect(record.parts.count >= 5)
        #expect(try file.contents() == changed)

        for round in 0..<TestScale.count(20, soak: 2_000) {
            var bytes = noted
            for part in record.parts where random.int(below: 2) == 0 {
                let count = random.int(below: part.range.count + 1)
                bytes.replaceSubrange(
                    Int(part.offset)..<(Int(part.offset) + count),
                    with: record.bytes[part.range.lowerBound..<(part.range.lowerBound + count)])
            }
            for sector in 0..<8 where random.int(below: 3) == 0 {
                bytes.replaceSubrange(
                    sector * 512..<(sector + 1) * 512, with: record.bytes[sector * 512..<(sector + 1) * 512])
            }
            try file.put(bytes)
            #expect(try file.contents() == changed, "round \(round), seed \(random.seed)")
            #expect(try file.bytes == bytes, "a reader changes nothing")
            _ = try file.open(.writing)
            #expect(try file.contents() == changed, "round \(round), seed \(random.seed)")
            #expect(try file.bytes.count == before.count)
        }
        // A journal that was not finished counts for nothing.
        for _ in 0..<TestScale.count(20, soak: 500) {
            try file.put(noted.prefix(before.count + random.int(below: noted.count - before.count)))
            #expect(try file.contents() == old)
            _ = try file.open(.writing)
            #expect(try file.bytes == before)
        }
        // Nor does one that somebody changed.
        for _ in 0..<TestScale.count(20, soak: 2_000) {
            var bytes = noted
            bytes[random.int(below: noted.count - before.count) + before.count] ^= 1 << UInt8(random.int(below: 8))
            try file.put(bytes)
            let found = try file.contents()
            // The gap before the record belongs to nothing.
            #expect(found == old || found == changed, "seed \(random.seed)")
        }
        // Nor does one that belongs to another state of the file.
        try file.put(before)
        let open = try file.open(.writing)
        try open.write(Data("another change".utf8), at: 5)
        changed = old
        changed.replaceSubrange(5..<19, with: Data("another change".utf8))
        try file.put(file.bytes + noted.dropFirst(try file.bytes.count))
        #expect(try file.contents() == changed)
    }

    private static let canMount: Bool = {
        let trial = try? Worker(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], command: "unshare")
        return trial?.wait() == 0
    }()

    @Test(.enabled(if: canMount, "this user may not mount a small file system"))
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        let script =
            "mount -t tmpfs -o size=1m,mode=0700 tmpfs \"$1\" && \"$0\" fill \"$1/file\" 500000 && ls -A \"$1\""
        let worker = try Worker(["-rm", "sh", "-c", script, Self.worker, folder.path], command: "unshare")
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0)
        #expect(
            lines == [
                "append full", "append kept", "overwrite full", "overwrite kept", "replace full", "replace kept",
                "shortened",
                "file",
            ])
    }
}
