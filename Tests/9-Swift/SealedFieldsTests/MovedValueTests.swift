import Foundation
import GRDB
import KeychainTesting
import SealedFields
import TestSupport
import Testing

/// A value that somebody moved in the database.
@Suite struct MovedValueTests {
    private func store() throws -> (NoteStore, [Note]) {
        let store = try NoteStore()
        let notes = [Note(body: "one", address: "ada"), Note(body: "two", address: "bob")]
        try store.write { db in for note in notes { try note.insert(db) } }
        return (store, notes)
    }

    @Test(arguments: [
        "UPDATE note SET body = (SELECT body FROM note WHERE id = ?2) WHERE id = ?1",
        "UPDATE note SET body = (SELECT address FROM note WHERE id = ?1) WHERE id = ?1",
        "UPDATE note SET id = zeroblob(16) WHERE id = ?1",
    ])
    func withinATable(sql: String) throws {
        let (store, notes) = try store()
        try store.write { db in
            try db.execute(sql: sql, arguments: sql.contains("?2") ? [notes[0].id, notes[1].id] : [notes[0].id])
            expectFailure(.notAuthentic) { try Note.fetchAll(db) }
            #expect(try Note.fetchOne(db, key: notes[1].id) == notes[1])
        }
    }

    struct Other: SealedRecord {
        static let databaseTableName = "other"
        static var fieldSealing: FieldSealing { get throws { throw Note.NoSealing() } }
        var id: UUID
        @SealedField var body: String
    }

    @Test func toAnotherTable() throws {
        let (store, notes) = try store()
        try store.write { db in
            try db.execute(sql: "INSERT INTO other SELECT * FROM note")
            expectFailure(.notAuthentic) { try Other.fetchOne(db, key: notes[0].id) }
        }
    }

    @Test func toAnotherDatabase() throws {
        let (store, _) = try store()
        let another = FieldSealing(database: "notes2", keys: store.keys)
        expectFailure(.notAuthentic) { try another.run { try store.queue.read { try Note.fetchAll($0) } } }
    }

    @Test func toAnotherKeyring() throws {
        let (store, _) = try store()
        let another = FieldSealing(database: "notes", keys: try NoteStore().keys)
        expectFailure(.unknownKey) { try another.run { try store.queue.read { try Note.fetchAll($0) } } }
    }

    @Test func lazily() throws {
        let (store, notes) = try store()
        try store.sealing.run {
            var note = notes[0]
            note.pin = try note.seal("4711", for: "pin")
            let pin = try #require(note.pin)
            expectFailure(.notAuthentic) { try notes[1].open(pin, from: "pin") }
            expectFailure(.notAuthentic) { try note.open(pin, from: "body") }
            #expect(try note.open(pin, from: "PIN") == "4711")
            let asNumber = try SealedColumnValue<Int>(bytes: pin.bytes)
            expectFailure(.undecodableValue) { try note.open(asNumber, from: "pin") }
        }
    }

    /// The bindings of no two places are the same bytes.
    @Test func namesThatRunIntoEachOther() throws {
        let store = try NoteStore()
        let place = FieldPlace(table: "ab", column: "c", row: 1)
        let sealed = try store.sealing.seal("x", at: place)
        for (table, column, row) in [
            ("a", "bc", 1 as RowKey), ("abc", "", 1), ("ab", "c", "1"), ("ab", "c", RowKey(Data([1]))),
            ("ab", "c", try RowKey([1.0])), ("ab", "c", try RowKey([1, 1])), ("äb", "c", 1), ("ab", "c", -1),
        ] {
            expectFailure(.notAuthentic) {
                try store.sealing.open(sealed, at: FieldPlace(table: table, column: column, row: row))
            }
        }
        #expect(try store.sealing.open(sealed, at: FieldPlace(table: "AB", column: "C", row: 1)) == "x")
    }

    @Test func changedBytes() throws {
        let store = try NoteStore()
        var random = SeededGenerator()
        let place = FieldPlace(table: "note", column: "body", row: 1)
        let text = "a value of some length"
        let sealed = try [SealingAlgorithm.chaChaPoly, .aesGCM].map {
            try FieldSealing(database: "notes", keys: store.keys, algorithm: $0).seal(text, at: place).bytes
        }
        for round in 0..<TestScale.count(3_000, soak: 100_000) {
            let original = sealed[round % 2]
            let mutated = random.mutated(original)
            guard mutated != original else { continue }
            do {
                let value = try store.sealing.open(SealedColumnValue<String>(bytes: mutated), at: place)
                Issue.record("\(mutated.count) bytes gave a value of \(value.count), seed \(random.seed)")
            } catch let error as SealedFieldsError {
                #expect([.notAuthentic, .notSealed, .unsupported, .unknownKey].contains(error.code), "\(error)")
            }
        }
    }
}
