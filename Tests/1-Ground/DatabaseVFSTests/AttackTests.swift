import DatabasePages
import DatabaseVFS
import Foundation
import GRDB
import TestSupport
import Testing

/// Somebody who can change the files: errors, and never another row's data.
@Suite struct SoakDatabaseAttackTests {
    private static let rows = 400

    /// A closed database in which each row says what it is.
    private func prepared(_ folder: TemporaryFolder? = nil, version: Int = 0) throws -> DatabaseUnderTest {
        let database = try DatabaseUnderTest(in: folder)
        let queue = try database.queue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
            for id in 1...Self.rows {
                try db.execute(sql: "INSERT INTO t VALUES(?, ?)", arguments: [id, Self.text(id, version)])
            }
        }
        try queue.close()
        return database
    }

    private static func text(_ id: Int, _ version: Int) -> String {
        "row \(id) of version \(version) " + String(repeating: "\(id % 10)", count: 200)
    }

    private func change(_ database: DatabaseUnderTest, to version: Int, journal: String = "DELETE") throws {
        let queue = try database.queue(journal: journal)
        try queue.write { db in
            for id in 1...Self.rows {
                try db.execute(sql: "UPDATE t SET text = ? WHERE id = ?", arguments: [Self.text(id, version), id])
            }
        }
        try queue.close()
    }

    /// What the rows say: all of one version, or nothing because of an error.
    private func outcome(_ database: DatabaseUnderTest) -> Result<Int, any Error> {
        Result {
            let queue = try database.queue()
            defer { try? queue.close() }
            let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT id, text FROM t ORDER BY id") }
            let versions = Set(
                (0..<10).filter { version in
                    rows.enumerated().allSatisfy {
                        $0.element[0] == $0.offset + 1 && $0.element[1] == Self.text($0.offset + 1, version)
                    }
                })
            let version = try #require(
                rows.count == Self.rows ? versions.first : nil, "rows of several versions, or too few")
            return version
        }
    }

    private func isFailure(_ result: Result<Int, any Error>) -> Bool {
        if case .failure(let error) = result { error is DatabaseError } else { false }
    }

    @Test func flippedBitsAreErrors() throws {
        var generator = SeededGenerator()
        let database = try prepared()
        let files = try database.files()
        let names = files.keys.sorted()
        for _ in 0..<TestScale.count(120, soak: 100_000) {
            let name = generator.int(below: 8) == 0 ? names[generator.int(below: names.count)] : "test.db"
            let mutated = generator.mutated(files[name] ?? Data())
            guard mutated != files[name] else { continue }
            try database.write(mutated, name)
            switch outcome(database) {
            case .success(let version): #expect(version == 0)
            case .failure(let error):
                #expect(error is DatabaseError, "\(error), seed \(generator.seed)")
            }
            try database.restore(files)
        }
    }

    @Test func olderPagesAreRefused() throws {
        let database = try prepared()
        let old = try database.bytes()
        try change(database, to: 1)
        let new = try database.bytes()
        #expect(old.count == new.count)
        for page in 0..<new.count / 4096 {
            let range = page * 4096..<(page + 1) * 4096
            guard old[range] != new[range] else { continue }
            var mixed = new
            mixed.replaceSubrange(range, with: old[range])
            try database.write(mixed)
            #expect(isFailure(outcome(database)))
            guard case .stalePage(UInt32(page + 1)) = database.registration.takeFailure() else {
                Issue.record("page \(page + 1)")
                continue
            }
        }
        // The whole of it, too.
        try database.write(old)
        #expect(isFailure(outcome(database)))
        try database.write(new)
        #expect(try outcome(database).get() == 1)
    }

    @Test func pagesOfOtherPlacesAreRefused() throws {
        let database = try prepared()
        let other = try prepared()
        let (bytes, foreign) = (try database.bytes(), try other.bytes())
        for (first, second) in [(1, 2), (3, 5), (2, 7)] {
            let (one, two) = (first * 4096..<(first + 1) * 4096, second * 4096..<(second + 1) * 4096)
            var swapped = bytes
            swapped.replaceSubrange(one, with: bytes[two])
            swapped.replaceSubrange(two, with: bytes[one])
            try database.write(swapped)
            #expect(isFailure(outcome(database)))
            var mixed = bytes
            mixed.replaceSubrange(one, with: foreign[one])
            try database.write(mixed)
            #expect(isFailure(outcome(database)))
            #expect(database.registration.takeFailure() == .page(.damaged(page: UInt32(first + 1))))
        }
        try database.write(foreign)
        #expect(isFailure(outcome(database)))
    }

    @Test func missingPartsAreErrors() throws {
        let database = try prepared()
        let files = try database.files()
        let bytes = try database.bytes()
        for count in [1, 10, 100, 4096, 5000, bytes.count / 2, bytes.count - 4096, bytes.count - 1] {
            try database.write(bytes.prefix(count))
            #expect(isFailure(outcome(database)), "\(count)")
            #expect(try database.bytes().prefix(count) == bytes.prefix(count))
        }
        for name in files.keys where name.hasSuffix(".pages") {
            try database.restore(files)
            try FileManager.default.removeItem(atPath: database.folder.path(of: name))
            #expect(isFailure(outcome(database)))
            guard case .index(.missing) = database.registration.takeFailure() else {
                Issue.record("not told")
                continue
            }
        }
        try database.restore(files)
        #expect(try outcome(database).get() == 0)
    }

    /// The files of a database whose process was killed after it changed every row.
    private func killed(_ database: DatabaseUnderTest, version: Int) throws -> [String: Data] {
        let queue = try database.queue { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        }
        try queue.write { db in
            for id in 1...Self.rows {
                try db.execute(sql: "UPDATE t SET text = ? WHERE id = ?", arguments: [Self.text(id, version), id])
            }
        }
        var files = try database.files()
        files["test.db-shm"] = nil
        try queue.close()
        return files
    }

    @Test func logsOfOtherTimesAreRefused() throws {
        let database = try prepared()
        let first = try killed(database, version: 1)
        let second = try killed(database, version: 2)
        let third = try killed(database, version: 3)
        let final = try database.files()
        for (files, version) in [(first, 1), (second, 2), (third, 3)] {
            try database.restore(files)
            #expect(try outcome(database).get() == version)
        }
        // The log of a database that was closed since, and of one that has another.
        for log in [first, second, third].compactMap({ $0["test.db-wal"] }) {
            var files = final
            files["test.db-wal"] = log
            try database.restore(files)
            switch outcome(database) {
            case .success(let version): #expect(version == 3)
            case .failure(let error): #expect(error is DatabaseError)
            }
        }
        for log in [first, second].compactMap({ $0["test.db-wal"] }) {
            var files = third
            files["test.db-wal"] = log
            try database.restore(files)
            #expect(isFailure(outcome(database)))
            #expect(database.registration.takeFailure() == .foreignLog(path: database.path + "-wal"))
        }
        let other = try prepared()
        var files = third
        files["test.db-wal"] = try killed(other, version: 5)["test.db-wal"]
        try database.restore(files)
        #expect(isFailure(outcome(database)))
        #expect(database.registration.takeFailure() == .foreignLog(path: database.path + "-wal"))
    }

    @Test func damagedLogsGiveWholeTransactions() throws {
        var generator = SeededGenerator()
        let database = try prepared()
        let files = try killed(database, version: 1)
        let log = try #require(files["test.db-wal"])
        for _ in 0..<TestScale.count(60, soak: 20_000) {
            try database.restore(files)
            try database.write(generator.mutated(log), "test.db-wal")
            switch outcome(database) {
            case .success(let version): #expect([0, 1].contains(version), "seed \(generator.seed)")
            case .failure(let error): #expect(error is DatabaseError, "\(error), seed \(generator.seed)")
            }
        }
    }

    @Test func logsThatTheFileDependsOnMustBeWhole() throws {
        let database = try prepared()
        let pool = try database.pool()
        try pool.write { try $0.execute(sql: "UPDATE t SET text = 'x' || text WHERE id < 300") }
        // A reader keeps the checkpoint from taking all of it.
        let files = try pool.read { _ in
            try pool.write { try $0.execute(sql: "UPDATE t SET text = 'y' || text WHERE id > 200") }
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
            return try database.files()
        }
        try pool.close()
        var whole = files
        whole["test.db-shm"] = nil
        try database.restore(whole)
        let expected = try database.queue().read { try String.fetchAll($0, sql: "SELECT text FROM t") }
        #expect(expected[250].hasPrefix("yx"))
        let log = try #require(whole["test.db-wal"])
        for count in [0, 32, 4000, log.count / 3] {
            var cut = whole
            cut["test.db-wal"] = log.prefix(count)
            try database.restore(cut)
            #expect(isFailure(outcome(database)), "\(count)")
            guard case .incompleteLog = database.registration.takeFailure() else {
                Issue.record("not told")
                continue
            }
        }
    }

    /// The files of a database whose process was killed while it changed every row.
    private func interrupted(
        _ database: DatabaseUnderTest, version: Int, journal: String = "DELETE"
    ) throws -> [String: Data] {
        let queue = try database.queue { db in
            try db.execute(sql: "PRAGMA journal_mode = \(journal); PRAGMA cache_size = 5; PRAGMA cache_spill = 5")
        }
        var files: [String: Data] = [:]
        try queue.inTransaction { db in
            for id in 1...Self.rows {
                try db.execute(sql: "UPDATE t SET text = ? WHERE id = ?", arguments: [Self.text(id, version), id])
            }
            files = try database.files()
            return .rollback
        }
        try queue.close()
        return files
    }

    @Test func journalsAreRolledBackOnceAndOnlyByTheirOwnDatabase() throws {
        let database = try prepared()
        let first = try interrupted(database, version: 1)
        let journal = try #require(first["test.db-journal"])
        #expect(first["test.db"] != nil && journal.count > 50_000)
        try database.restore(first)
        #expect(try outcome(database).get() == 0)
        #expect(!FileManager.default.fileExists(atPath: database.path + "-journal"))
        try change(database, to: 2)
        // A journal of a transaction that is over changes nothing.
        try database.write(journal, "test.db-journal")
        #expect(try outcome(database).get() == 2)
        // One of another database is refused.
        let other = try prepared()
        let foreign = try #require(try interrupted(other, version: 3)["test.db-journal"])
        let files = try interrupted(database, version: 4)
        var mixed = files
        mixed["test.db-journal"] = foreign
        try database.restore(mixed)
        #expect(isFailure(outcome(database)))
        #expect(database.registration.takeFailure() == .foreignJournal(path: database.path + "-journal"))
        try database.restore(files)
        #expect(try outcome(database).get() == 2)
    }

    @Test func damagedJournalsAreErrors() throws {
        var generator = SeededGenerator()
        let database = try prepared()
        let files = try interrupted(database, version: 1)
        let journal = try #require(files["test.db-journal"])
        for _ in 0..<TestScale.count(60, soak: 20_000) {
            try database.restore(files)
            try database.write(generator.mutated(journal), "test.db-journal")
            switch outcome(database) {
            case .success(let version): #expect(version == 0, "seed \(generator.seed)")
            case .failure(let error): #expect(error is DatabaseError, "\(error), seed \(generator.seed)")
            }
        }
    }

    /// Pages that were free are not in the journal when they are used again; what was written to them counts for
    /// nothing.
    @Test(arguments: ["DELETE", "PERSIST", "TRUNCATE"])
    func freePagesSurviveARollback(journal: String) throws {
        let database = try DatabaseUnderTest()
        let queue = try database.queue { db in
            try db.execute(
                sql:
                    "PRAGMA journal_mode = \(journal); PRAGMA cache_size = 5; PRAGMA cache_spill = 5; PRAGMA auto_vacuum = 0; PRAGMA secure_delete = 0"
            )
        }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, bytes BLOB)")
            for id in 1...100 { try db.execute(sql: "INSERT INTO t VALUES(?, zeroblob(9000))", arguments: [id]) }
        }
        try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id > 30") }
        var files: [String: Data] = [:]
        try queue.inTransaction { db in
            for id in 200...240 { try db.execute(sql: "INSERT INTO t VALUES(?, zeroblob(9000))", arguments: [id]) }
            files = try database.files()
            return .rollback
        }
        try queue.close()
        try database.restore(files)
        let again = try database.queue()
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 30)
        #expect(try again.integrity() == "ok")
        let copy = try DatabaseUnderTest("copy.db", in: database.folder).queue()
        #expect(throws: Never.self, "\(database.registration.takeFailure()?.description ?? "")") {
            try again.backup(to: copy)
        }
        #expect(try copy.integrity() == "ok")
        try again.write { db in
            for id in 200...240 { try db.execute(sql: "INSERT INTO t VALUES(?, zeroblob(9000))", arguments: [id]) }
        }
        #expect(try again.integrity() == "ok")
    }
}
