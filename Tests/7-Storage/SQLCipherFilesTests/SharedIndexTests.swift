import CSQLite
import DatabaseVFS
import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@testable import SQLCipherFiles

/// What the connections of a log tell each other through its shared index.
@Suite struct SharedIndexTests {
    /// Memory that can be mapped twice, and memory that cannot.
    enum Memory: CaseIterable { case shared, own }

    /// A part of an index, and two connections that have it mapped.
    private final class Part {
        static let size = 32_768
        let memory: UnsafeMutableRawPointer
        var connections = [SharedIndex(), SharedIndex()]
        private(set) var views: [UnsafeMutableRawPointer] = []

        init(_ kind: Memory) throws {
            let flags = (kind == .shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS
            memory = try #require(mmap(nil, Self.size, PROT_READ | PROT_WRITE, flags, -1, 0))
            try #require(memory != MAP_FAILED)
            for number in connections.indices {
                let view = connections[number].map(0, at: memory)
                views.append(try #require(view))
            }
        }

        deinit { munmap(memory, Self.size) }

        /// Merges what a connection has. The log has `right` as the checksum of every frame.
        @discardableResult
        func merge(_ number: Int, right: UInt64 = Part.right) -> Bool {
            connections[number].merge { _, _ in (Part.salts, LogChecksum(number: right)) }
        }

        static let salts: UInt64 = 0x0102_0304_0506_0708
        static let right: UInt64 = 0xAAAA_AAAA_BBBB_BBBB

        /// Writes a header as SQLite does: one copy before the barrier, one after it.
        func commit(_ number: Int, frame: UInt32, page: UInt32) {
            views[number].storeBytes(of: page, toByteOffset: 132 + 4 * Int(frame), as: UInt32.self)
            let header = Self.header(frame)
            header.withUnsafeBytes { if let base = $0.baseAddress { memcpy(views[number] + 48, base, 48) } }
            merge(number)
            header.withUnsafeBytes { if let base = $0.baseAddress { memcpy(views[number], base, 48) } }
        }

        /// SQLite's header, with a checksum that is not the right one.
        static func header(_ frame: UInt32, checksum: UInt64 = 0x1111_1111_2222_2222) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 48)
            bytes.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: 3_007_000, as: UInt32.self)
                bytes.storeBytes(of: 1, toByteOffset: 12, as: UInt8.self)
                bytes.storeBytes(of: 4096, toByteOffset: 14, as: UInt16.self)
                bytes.storeBytes(of: frame, toByteOffset: 16, as: UInt32.self)
                bytes.storeBytes(of: UInt32(truncatingIfNeeded: checksum >> 32), toByteOffset: 24, as: UInt32.self)
                bytes.storeBytes(of: UInt32(truncatingIfNeeded: checksum), toByteOffset: 28, as: UInt32.self)
                bytes.storeBytes(of: salts.bigEndian, toByteOffset: 32, as: UInt64.self)
                var own = LogChecksum(first: 0, second: 0)
                own.add(UnsafeRawBufferPointer(rebasing: bytes[..<40]), bigEndian: false)
                bytes.storeBytes(of: own.first, toByteOffset: 40, as: UInt32.self)
                bytes.storeBytes(of: own.second, toByteOffset: 44, as: UInt32.self)
            }
            return bytes
        }

        func bytes(_ memory: UnsafeMutableRawPointer, _ range: Range<Int>) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: memory + range.lowerBound, count: range.count))
        }
    }

    @Test(arguments: Memory.allCases)
    func eachConnectionSeesItsOwnChecksum(_ kind: Memory) throws {
        let part = try Part(kind)
        part.commit(0, frame: 1, page: 7)
        let right = Part.header(1, checksum: Part.right)
        #expect(part.bytes(part.memory, 0..<96) == right + right)
        let own = Part.header(1)
        // SQLite does not take it for another connection's commit.
        #expect(!part.merge(0))
        #expect(part.bytes(part.views[0], 0..<96) == own + own)
        #expect(part.merge(1))
        #expect(part.bytes(part.views[1], 0..<96) == right + right)
        #expect(!part.merge(1))
        #expect(part.connections[1].page(inFrame: 1) == 7)
        #expect(part.connections[1].lastFrame(1)?.checksum == LogChecksum(number: Part.right))
        #expect(part.connections[1].lastFrame(2) == nil)

        part.commit(1, frame: 2, page: 9)
        #expect(part.merge(0))
        #expect(part.connections[0].page(inFrame: 2) == 9)
    }

    @Test(arguments: Memory.allCases)
    func countersHaveOneWriterEach(_ kind: Memory) throws {
        let part = try Part(kind)
        part.views[0].storeBytes(of: 5, toByteOffset: 104, as: UInt32.self)
        part.views[1].storeBytes(of: 6, toByteOffset: 108, as: UInt32.self)
        for number in [0, 1, 0] { part.merge(number) }
        for view in part.views + [part.memory] {
            #expect(view.load(fromByteOffset: 104, as: UInt32.self) == 5)
            #expect(view.load(fromByteOffset: 108, as: UInt32.self) == 6)
        }
    }

    /// Frames of a new log count as those that are in the file, if the number is that of the former log.
    @Test(arguments: Memory.allCases)
    func aNewLogHasNothingInTheFile(_ kind: Memory) throws {
        let part = try Part(kind)
        part.commit(0, frame: 3, page: 7)
        part.views[0].storeBytes(of: 3, toByteOffset: 96, as: UInt32.self)
        part.merge(0)
        #expect(part.memory.load(fromByteOffset: 96, as: UInt32.self) == 3)
        part.commit(0, frame: 0, page: 0)
        // A program that is killed here leaves this.
        #expect(part.memory.load(fromByteOffset: 96, as: UInt32.self) == 0)
        part.merge(0)
        #expect(part.memory.load(fromByteOffset: 96, as: UInt32.self) == 0)
    }

    /// SQLite finds by a number after the last frame that a writer ended without a commit.
    @Test(arguments: Memory.allCases)
    func aWriterThatEndedLeavesANumber(_ kind: Memory) throws {
        let part = try Part(kind)
        part.commit(0, frame: 1, page: 7)
        part.connections[0].beginWriting()
        #expect(part.connections[0].page(inFrame: 2) == 0, "there was no such writer before")
        part.merge(1)
        part.connections[1].beginWriting()
        #expect(part.connections[1].page(inFrame: 2) != 0)
        part.commit(1, frame: 2, page: 9)
        #expect(part.memory.load(fromByteOffset: 140, as: UInt32.self) == 9)
        part.merge(0)
        part.connections[0].beginWriting()
        #expect(part.connections[0].page(inFrame: 3) == 0)
    }

    /// Frames of a large transaction that nobody commits are in two parts of the index.
    @Test(arguments: [990, 1_300])
    func aLargeTransactionAfterAKilledOneIsWhole(rows: Int) throws {
        let database = try DatabaseUnderTest.forWorkers("WAL", cipher: .four)
        // A connection keeps the index as the killed writer leaves it.
        let queue = try database.queue(journal: "WAL")
        let insert = "INSERT INTO passing(worker, round, bytes) VALUES(?, ?, zeroblob(3000))"
        try queue.write { try $0.execute(sql: insert, arguments: [0, 0]) }
        let program = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
            .appendingPathComponent("DatabaseWorker").path
        let worker = try Worker([database.path, "WAL", "hold", "1400", "1", "4"], command: program)
        #expect(worker.readLine() == "held")
        worker.kill()
        worker.wait()
        try queue.write { db in for round in 1...rows { try db.execute(sql: insert, arguments: [0, round]) } }
        for round in 0..<10 { try queue.write { try $0.execute(sql: insert, arguments: [2, round]) } }
        for _ in 0..<2 {
            let other = try database.queue()
            #expect(try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM passing") } == rows + 11)
            #expect(try other.integrity() == "ok")
            try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        }
    }

    /// A header whose copies differ is a writer's who was killed. SQLite has to see it.
    @Test(arguments: Memory.allCases)
    func differentCopiesStayDifferent(_ kind: Memory) throws {
        let part = try Part(kind)
        part.commit(0, frame: 1, page: 7)
        part.merge(1)
        Part.header(2).withUnsafeBytes { if let base = $0.baseAddress { memcpy(part.memory + 48, base, 48) } }
        part.merge(1)
        #expect(part.bytes(part.views[1], 0..<96) == part.bytes(part.memory, 0..<96))
    }

    /// All other parts are the shared memory itself.
    @Test func theRestOfTheIndexIsShared() throws {
        let part = try Part(.shared)
        let other = UnsafeMutableRawPointer.allocate(byteCount: Part.size, alignment: 4096)
        defer { other.deallocate() }
        #expect(part.connections[0].map(1, at: other) == other)
        part.views[0].storeBytes(of: 77, toByteOffset: 32_760, as: UInt16.self)
        #expect(part.views[1].load(fromByteOffset: 32_760, as: UInt16.self) == 77)
    }

    // MARK: With SQLite

    private static func misses(_ db: Database) -> Int {
        var (current, highest) = (Int32(0), Int32(0))
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 1)
        return Int(current)
    }

    private static func insert(_ db: Database, _ ids: Range<Int>) throws {
        for id in ids {
            try db.execute(
                sql: "INSERT INTO t VALUES(?, ?)", arguments: [id, String(repeating: "text \(id) ", count: 20)])
        }
    }

    /// Otherwise each commit would cost the next transaction all pages that it needs.
    @Test func sqliteKeepsItsPagesAfterItsOwnCommits() throws {
        let database = try DatabaseUnderTest(cipher: .four)
        let queue = try database.queue(journal: "WAL")
        let sum = "SELECT sum(length(text)) FROM t"
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
            try Self.insert(db, 0..<500)
        }
        for round in 1...5 {
            try queue.write { db in
                _ = try Int.fetchOne(db, sql: sum)
                _ = Self.misses(db)
            }
            try queue.write { try Self.insert($0, round * 1000..<round * 1000 + 1) }
            try queue.read { db in
                _ = try Int.fetchOne(db, sql: sum)
                #expect(Self.misses(db) == 0)
            }
        }
    }

    /// A connection that reads after another one's commits stands in nobody's way, not even for a moment: SQLite's
    /// timeout is off.
    @Test func readersSeeCommitsAtOnceAndTakeNoLockOfWriters() throws {
        let database = try DatabaseUnderTest(cipher: .four)
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        let queues = try (0..<3).map { _ in try DatabaseQueue(path: database.uri, configuration: configuration) }
        try queues[0].writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
        }
        for round in 0..<60 {
            let (writer, other) = (queues[round % 2], queues[1 - round % 2])
            try writer.write { try Self.insert($0, round..<round + 1) }
            // The reader has not seen the commit yet, and a writer is at work.
            try other.inDatabase { db in
                try db.execute(sql: "BEGIN IMMEDIATE")
                try Self.insert(db, 1_000_000 + round..<1_000_001 + round)
                let count = try queues[2].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                #expect(count == round + 1)
                try db.execute(sql: "ROLLBACK")
            }
            if round % 20 == 19 { try writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
        }
        #expect(try queues[2].integrity() == "ok")
    }

    /// Many connections of this process write and read at once; GRDB's pool has readers of its own.
    @Test func manyConnectionsAgree() throws {
        let database = try DatabaseUnderTest(cipher: .four)
        let pools = try (0..<2).map { _ in try database.pool() }
        try pools[0].write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)") }
        let rounds = TestScale.count(150, soak: 5000)
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let pool = pools[number % 2]
            for round in 0..<rounds {
                do {
                    if number < 2 {
                        let id = number * 1_000_000 + round
                        try pool.write { try Self.insert($0, id..<id + 1) }
                        let found = try pool.read { try Int.fetchOne($0, sql: "SELECT id FROM t WHERE id = \(id)") }
                        #expect(found == id)
                    } else if round % 40 == 20 {
                        do {
                            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
                        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                            // It does not wait while another connection checkpoints (sqlite3_wal_checkpoint_v2).
                        }
                    } else {
                        let row = try pool.read { db in
                            try Row.fetchOne(db, sql: "SELECT count(*), count(DISTINCT id) FROM t NOT INDEXED")
                        }
                        #expect(row?[0] as Int? == row?[1] as Int?)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        let count = try pools[1].read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 2 * rounds)
        #expect(try pools[0].integrity() == "ok")
    }
}
