import Foundation
import GRDB
import Glibc
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// A folder with databases, and a keychain of its own.
struct DatabaseUnderTest {
    let folder: TemporaryFolder
    let keychain: TestKeychain

    init() throws {
        folder = try TemporaryFolder()
        keychain = try TestKeychain()
    }

    var path: String { folder.path(of: "app.db") }
    var file: ProtectedDatabaseFile { ProtectedDatabaseFile(path: path) }

    /// A plain database with a table of notes, each of which has the canary in it.
    func makePlain(_ count: Int = 500, wal: Bool = false) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            if wal { _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") }
        }
        try queue.write { try Notes.fill($0, count) }
        try queue.close()
    }

    /// All bytes that are in the folder.
    func bytes() throws -> Data {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().reduce(into: Data()) {
            $0.append(try Data(contentsOf: URL(filePath: folder.path(of: $1))))
        }
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }
}

/// A table, and what is looked for on the disk.
enum Notes {
    static let canary = "a canary that sings in the clear"

    static func fill(_ db: Database, _ count: Int) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        for number in 0..<count {
            try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: ["\(canary) \(number)"])
        }
    }

    static func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM note WHERE text LIKE '\(canary) %'") ?? 0
    }

    static func check(_ db: Database) throws {
        #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
    }
}
