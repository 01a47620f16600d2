import Foundation
import GRDB
import Glibc
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// The examples of Documentation/Use/Databases.md, run, and the check that they are the same.
@Suite struct GuideExamples {
    private struct Note: Codable, PersistableRecord {
        var id: Int64
        var text: String
    }

    @Test func examples() throws {
        let world = try DatabaseUnderTest()
        let path = world.path
        try world.keychain.run {
            let database = try ProtectedDatabase(path: path, key: .keychain(.complete))
            try database.write { db in
                try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
                try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: ["a secret"])
            }
            let notes = try database.read { db in try String.fetchAll(db, sql: "SELECT text FROM note") }
            try database.close()
            #expect(notes == ["a secret"])
        }
    }

    @Test func locked() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .keychain(.complete))
            try database.write { try Notes.fill($0, 1) }
            let note = Note(id: 7, text: "later")
            world.keychain.lock()
            try eventually("the database closes") { database.isLocked }
            var isLater = false
            do {
                try database.write { db in try note.insert(db) }
            } catch ProtectedDatabaseError.Code.locked {
                // Keep it for later, or ask for the passcode; `ProtectedData.events()` tells of the unlock.
                isLater = true
            }
            #expect(isLater)
        }
    }

    @Test func everyExampleIsRun() throws {
        let guide = Repository.file("Documentation/Use/Databases.md")
        let run = Self.words(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let parts = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```")
        let examples = parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            .filter { $0.hasPrefix("swift") }
        #expect(examples.count == 2)
        for example in examples {
            var rest = run[...]
            for line in example.split(separator: "\n").dropFirst() where !line.hasPrefix("import ") && !line.isEmpty {
                let place = try #require(
                    rest.firstRange(of: Self.words(String(line))), "Databases.md has a line that is not run: \(line)")
                rest = rest[place.upperBound...]
            }
        }
    }

    /// The text without its spaces and breaks, which formatting decides on.
    private static func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
