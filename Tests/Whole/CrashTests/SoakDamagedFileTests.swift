import Foundation
import TestSupport
import Testing
import VaultInterface

/// Each file of a vault in turn holds random bytes or is damaged.
@Suite(.serialized) struct SoakDamagedFileTests {
    private let target: FuzzTarget

    init() throws {
        target = try FuzzTarget()
    }

    /// The undamaged files open, or the other tests would prove nothing.
    @Test func theOriginalsOpen() throws {
        for contents in [target.closed, target.open] {
            try contents.restore(to: target.path)
            #expect(try target.probe("the original") == .items(target.originals.count))
        }
    }

    @Test(arguments: ["keybag", "device-secret"]) func keyFiles(_ name: String) throws {
        var random = SeededGenerator()
        let original = try #require(target.closed[name])
        for round in 0..<TestScale.count(30, soak: 10_000) {
            for bytes in [random.bytes(random.int(below: 600)), random.mutated(original)] where bytes != original {
                var contents = target.closed
                contents[name] = bytes
                try contents.restore(to: target.path)
                let answer = try target.probe("\(name), round \(round), seed \(random.seed)")
                guard case .refused = answer else {
                    Issue.record("\(name) was accepted: round \(round), seed \(random.seed)")
                    continue
                }
                // The damaged file is evidence: nothing may be put in its place.
                #expect(try FolderContents(of: target.path)[name] == bytes)
            }
        }
    }

    @Test func store() throws {
        var random = SeededGenerator()
        let original = try #require(target.closed[target.store])
        for round in 0..<TestScale.count(100, soak: 10_000) {
            var contents = target.closed
            contents[target.store] = random.mutated(original)
            try contents.restore(to: target.path)
            try target.probe("the store, round \(round), seed \(random.seed)")
            if round % 4 == 0 || TestScale.isSoak {
                contents[target.store] =
                    (round % 8 == 0 ? original.prefix(100) : Data()) + random.bytes(random.int(below: 20_000))
                try contents.restore(to: target.path)
                try target.probe("random store, round \(round), seed \(random.seed)")
            }
        }
    }

    @Test func pageIndex() throws {
        var random = SeededGenerator()
        let name = try #require(target.closed.entries.keys.first { $0.hasSuffix(".pages") })
        let original = try #require(target.closed[name])
        for round in 0..<TestScale.count(60, soak: 10_000) {
            var contents = target.closed
            contents[name] = round % 10 == 0 ? random.bytes(random.int(below: 5_000)) : random.mutated(original)
            try contents.restore(to: target.path)
            try target.probe("page index, round \(round), seed \(random.seed)")
        }
    }

    /// Damage where it does the most: in the pages' headers and cell pointers. Somebody with the key of the store
    /// sealed them.
    @Test func storeStructure() throws {
        var random = SeededGenerator()
        try target.closed.restore(to: target.path)
        let original = try ItemStoreFile.openedPages(inVault: target.path)
        for round in 0..<TestScale.count(60, soak: 10_000) {
            var bytes = original
            for _ in 0...random.int(below: 4) {
                let page = random.int(below: original.count / 4096)
                // A sealed first page cannot have another magic, page size or number of reserved bytes.
                let place = page * 4096 + (page > 0 ? 0 : random.int(below: 2) == 0 ? 21 : 100)
                bytes[place + random.int(below: 60)] = UInt8(truncatingIfNeeded: random.next())
            }
            try target.closed.restore(to: target.path)
            try ItemStoreFile.seal(bytes, inVault: target.path)
            try target.probe("structure of the store, round \(round), seed \(random.seed)")
        }
    }

    @Test func log() throws {
        var random = SeededGenerator()
        let original = try #require(target.open[target.store + "-wal"])
        for round in 0..<TestScale.count(60, soak: 10_000) {
            var contents = target.open
            contents[target.store + "-shm"] =
                random.int(below: 3) == 0 ? random.mutated(contents[target.store + "-shm"] ?? Data()) : nil
            contents[target.store + "-wal"] =
                round % 10 == 0 ? random.bytes(random.int(below: 20_000)) : random.mutated(original)
            try contents.restore(to: target.path)
            try target.probe("log, round \(round), seed \(random.seed)", mayBeOld: true)
        }
    }
}
