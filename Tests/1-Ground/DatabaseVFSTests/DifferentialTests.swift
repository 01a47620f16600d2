import DatabaseVFS
import Foundation
import GRDB
import SQLCipherFiles
import TestSupport
import Testing

/// The same statements on a plain and on an encrypted database have the same results.
@Suite struct SoakDatabaseDifferentialTests {
    /// A connection without GRDB's own ideas of transactions.
    private final class Connection {
        let queue: DatabaseQueue

        init(_ path: String, pageSize: Int, autoVacuum: Int) throws {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            configuration.prepareDatabase { db in
                // A small cache, so that pages are read again, and written before their time.
                try db.execute(
                    sql:
                        "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(autoVacuum); PRAGMA cache_size = 30; PRAGMA cache_spill = 20"
                )
            }
            queue = try DatabaseQueue(path: path, configuration: configuration)
        }

        func result(_ sql: String) -> String {
            do {
                return try queue.inDatabase { db in
                    try Row.fetchAll(db, sql: sql).map(\.description).joined(separator: "\n")
                }
            } catch {
                return "\((error as? DatabaseError)?.extendedResultCode.rawValue ?? -1)"
            }
        }
    }

    struct Case: CustomTestStringConvertible {
        let pageSize: Int
        let autoVacuum: Int
        /// Nil for the format of this library.
        var cipher: CipherFormat.Version?

        var testDescription: String {
            "\(pageSize), \(autoVacuum), \(cipher.map { "SQLCipher \($0.rawValue)" } ?? "own")"
        }
    }

    @Test(arguments: [
        Case(pageSize: 4096, autoVacuum: 0), Case(pageSize: 1024, autoVacuum: 1), Case(pageSize: 4096, autoVacuum: 2),
        Case(pageSize: 16_384, autoVacuum: 0), Case(pageSize: 4096, autoVacuum: 0, cipher: .four),
        Case(pageSize: 1024, autoVacuum: 1, cipher: .three), Case(pageSize: 512, autoVacuum: 2, cipher: .one),
        Case(pageSize: 65_536, autoVacuum: 0, cipher: .two),
    ])
    func resultsAreThoseOfPlainDatabases(_ test: Case) throws {
        let (pageSize, autoVacuum) = (test.pageSize, test.autoVacuum)
        let generator = SeededGenerator()
        let database = try DatabaseUnderTest(cipher: test.cipher)
        let path = database.folder.path(of: "plain")
        var statements = RandomStatements(generator: generator)
        func open() throws -> (Connection, Connection) {
            (
                try Connection(path, pageSize: pageSize, autoVacuum: autoVacuum),
                try Connection(database.uri, pageSize: pageSize, autoVacuum: autoVacuum)
            )
        }
        var (plain, encrypted) = try open()
        for connection in [plain, encrypted] {
            try connection.queue.inDatabase { try $0.execute(sql: RandomStatements.schema) }
        }
        for number in 0..<TestScale.count(250, soak: 25_000) {
            let sql = statements.next()
            let (expected, found) = (plain.result(sql), encrypted.result(sql))
            // Sizes of logs and checkpoints differ with the room in pages.
            guard !sql.hasPrefix("PRAGMA wal_checkpoint"), !sql.contains("incremental_vacuum") else { continue }
            try #require(
                expected == found,
                "\(sql), number \(number), seed \(generator.seed), \(database.registration.takeFailure()?.description ?? "")"
            )
            if number % 500 == 499 {
                let states = [plain, encrypted].map { $0.queue.inDatabase { $0.isInsideTransaction } }
                #expect(states[0] == states[1])
                guard !states[0] else { continue }
                try plain.queue.close()
                try encrypted.queue.close()
                (plain, encrypted) = try open()
                #expect(encrypted.result("PRAGMA integrity_check") == plain.result("PRAGMA integrity_check"))
            }
        }
        _ = plain.result("COMMIT")
        _ = encrypted.result("COMMIT")
        #expect(encrypted.result("PRAGMA integrity_check").contains("ok"))
        for table in ["a", "w"] {
            #expect(
                plain.result("SELECT * FROM \(table) ORDER BY 1")
                    == encrypted.result("SELECT * FROM \(table) ORDER BY 1"))
        }
    }
}
