import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing

@testable import DatabasePages

@Suite struct IndexTests {
    @Test func setAndFlush() throws {
        let test = try IndexUnderTest()
        let (index, other) = (test.index, try test.open())
        #expect(index.sequence == 1 && index.pageCount == 0 && index.version(of: 1) == nil)
        try index.set(1...3, to: 5)
        #expect(index.hasPending && index.version(of: 3)?.rawValue == 5 && index.version(of: 4) == nil)
        #expect(try !other.refresh())
        #expect(other.version(of: 3) == nil)
        try index.flush(pageCount: 2, durably: false)
        #expect(!index.hasPending && index.sequence == 2 && index.pageCount == 2)
        #expect(try other.refresh())
        #expect(try !other.refresh())
        #expect(other.version(of: 2)?.rawValue == 5 && other.version(of: 3) == nil && other.state == index.state)
        // Nothing new is no batch.
        try index.flush(pageCount: 2, durably: true)
        try index.flush(pageCount: nil, durably: true)
        #expect(index.sequence == 2)
        try index.set([4], to: 6)
        index.discardPending()
        #expect(index.version(of: 4) == nil)
        try other.flush(pageCount: 1, durably: true)
        try index.refresh()
        #expect(index.sequence == 3 && index.version(of: 2) == nil && index.version(of: 1)?.rawValue == 5)
        #expect(throws: PageIndexError.pageOutOfRange(page: 0)) { try index.set([0], to: 1) }
    }

    /// Two connections append without having read what the other appended.
    @Test func appendingInTurn() throws {
        let test = try IndexUnderTest()
        let (one, other) = (test.index, try test.open())
        try one.set([1], to: 1)
        try other.set([2], to: 2)
        try one.flush(pageCount: nil, durably: false)
        #expect(other.version(of: 2)?.rawValue == 2)
        try other.flush(pageCount: nil, durably: false)
        try one.beginWAL(salts: 7, over: 0)
        try one.refresh()
        #expect(one.version(of: 1)?.rawValue == 1 && one.version(of: 2)?.rawValue == 2)
        #expect(try test.open().state == one.state)
    }

    @Test func logs() throws {
        let test = try IndexUnderTest()
        let (index, other) = (test.index, try test.open())
        #expect(index.standing(ofWAL: 0) == .foreign)
        try index.beginWAL(salts: 7, over: 0)
        try index.set([1], to: 1)
        try index.flush(pageCount: 1, walFrames: 4, durably: false)
        try index.flush(pageCount: 1, walFrames: 2, durably: false)
        #expect(index.standing(ofWAL: 7) == .current && index.walFrames == 4)
        #expect(throws: PageIndexError.foreign(path: test.path)) { try other.beginWAL(salts: 8, over: 6) }
        try other.beginWAL(salts: 8, over: 7)
        #expect(other.standing(ofWAL: 8) == .current && other.standing(ofWAL: 7) == .finished && other.walFrames == 0)
        // Killed before the header of 8 was written, and once more before that of 9: the file still has 7.
        try other.beginWAL(salts: 9, over: 7)
        #expect(other.standing(ofWAL: 7) == .finished && other.standing(ofWAL: 8) == .foreign)
        try index.endWAL()
        try other.endWAL()
        #expect(other.walSalts == 0 && other.standing(ofWAL: 9) == .finished && other.standing(ofWAL: 0) == .foreign)
        #expect(try test.open().state == other.state)
    }

    @Test func refusals() throws {
        let test = try IndexUnderTest()
        let path = test.path
        #expect(throws: PageIndexError.alreadyExists(path: path)) {
            try PageIndex.create(path, database: .ofTests, key: .ofTests())
        }
        #expect(try test.index.state == test.open().state)
        let key = try SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: 8) }
        #expect(throws: PageIndexError.wrongKey(path: path)) {
            try PageIndex.open(path, database: .ofTests, key: key)
        }
        #expect(throws: PageIndexError.foreign(path: path)) {
            try PageIndex.open(path, database: DatabaseID(), key: .ofTests())
        }
        let reader = try test.open(writing: false)
        #expect(throws: PageIndexError.readOnly(path: path)) { try reader.set([1], to: 1) }
        #expect(throws: PageIndexError.readOnly(path: path)) { try reader.endWALForced() }
        symlink(path, path + "-link")
        #expect(throws: PageIndexError.foreign(path: path + "-link")) {
            try PageIndex.open(path + "-link", database: .ofTests, key: .ofTests())
        }
        #expect(throws: PageIndexError.foreign(path: test.folder.path)) {
            try PageIndex.open(test.folder.path, database: .ofTests, key: .ofTests(), writing: false)
        }
        try PageIndex.remove(path)
        #expect(throws: PageIndexError.missing(path: path)) { try test.open() }
        #expect(throws: PageIndexError.missing(path: path)) { try test.index.refresh() }
        try PageIndex.remove(path)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: test.folder.path) == [
                "db-01010101010101010101.pages-link"
            ])
    }

    /// Random changes by two connections in turn, with a third that looks on, through compactions.
    @Test func randomChanges() throws {
        var random = SeededGenerator()
        let test = try IndexUnderTest()
        let connections = [test.index, try test.open()]
        let reader = try test.open(writing: false)
        var script = PageScript(seed: random.next())
        var files: Set<ino_t> = []
        for round in 0..<TestScale.count(1_500, soak: 30_000) {
            let connection = connections[random.int(below: 2)]
            try connection.perform(script.next())
            #expect(
                connection.version(of: 1)?.rawValue == script.state.versions[1], "round \(round), seed \(random.seed)")
            guard random.int(below: 50) == 0 else { continue }
            try reader.refreshIfLonger()
            for state in [try test.open().state, reader.state, connection.state] {
                try #require(state == script.state, "round \(round), seed \(random.seed)")
            }
            files.insert(try test.identity)
            // Of 3,000 pages.
            #expect(try test.bytes.count < 2 * (3_000 * 12 + 104) + 65_536 + 40_000)
        }
        #expect(files.count > 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder.path).count == 1)
    }

    /// By a process of its own, as the umask is the whole process's.
    @Test func modes() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "index")
        let worker = try Worker(["mode", path, "\(0o640)"], command: Worker.ofPages)
        #expect(worker.remainingLines() == ["2001"])
        #expect(worker.wait() == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try #require(attributes[.size] as? Int) < 90_000)
    }

    /// More pages than one batch has.
    @Test func manyPages() throws {
        let test = try IndexUnderTest()
        let reader = try test.open()
        try test.index.set(1...70_000, to: 3)
        try test.index.flush(pageCount: nil, durably: false)
        try test.index.set(140_001...140_010, to: 4)
        try test.index.flush(pageCount: nil, durably: false)
        try reader.refresh()
        #expect(reader.sequence == 3 && reader.state == test.index.state && reader.state.versions.count == 70_010)
        // A group of batches of which the last is not there does not count, and is overwritten.
        let bytes = try test.bytes
        try test.put(bytes.prefix(32 + 72 + 72 + 12 * IndexBatch.usualCount))
        let cut = try test.open()
        #expect(cut.sequence == 1 && cut.pageCount == 0)
        try cut.set([1], to: 9)
        try cut.flush(pageCount: nil, durably: false)
        #expect(try test.bytes.count == 32 + 72 + 84)
        // Many batches' worth of pages, compacted.
        let other = try IndexUnderTest()
        for version in UInt64(1)...4 {
            try other.index.set(1...70_000, to: version)
            try other.index.flush(pageCount: nil, durably: false)
        }
        #expect(try other.bytes.count < 2 * 70_000 * 12 + 70_000)
        #expect(try other.open().state == other.index.state)
    }

    /// Batches of the most entries that the format allows, which this software reads and does not write.
    @Test(arguments: [IndexBatch.usualCount - 1, 4_200, 10_000, IndexBatch.maximumCount]) func largeBatches(_ size: Int)
        throws
    {
        let test = try IndexUnderTest()
        let entries = (1...UInt32(150_000)).map { PageVersionEntry(page: $0, version: UInt64($0) * 3) }
        let state = IndexState(sequence: 7, pageCount: 150_000)
        let seal = try IndexSeal(.ofTests(), .ofTests)
        var (bytes, tag) = (seal.header, IndexSeal.firstTag)
        for batch in IndexBatch.spread(entries, state, by: size) { bytes += try seal.seal(batch, after: &tag) }
        try test.put(Data(bytes))
        let opened = try test.open()
        #expect(opened.sequence == 7 && opened.pageCount == 150_000)
        #expect((1...UInt32(150_000)).allSatisfy { opened.version(of: $0)?.rawValue == UInt64($0) * 3 })
    }
}

extension PageIndex {
    /// Without a log there is nothing to end, and nothing to refuse.
    fileprivate func endWALForced() throws {
        try endWAL()
        try beginWAL(salts: 1, over: 0)
    }
}

extension IndexUnderTest {
    var identity: ino_t {
        get throws {
            var status = stat()
            guard stat(path, &status) == 0 else { throw POSIXError(.ENOENT) }
            return status.st_ino
        }
    }
}
