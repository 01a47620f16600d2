import Foundation
import GRDB
import KeychainTesting
import SealedFields
import TestSupport
import Testing

@Suite struct RecordTests {
    @Test(arguments: [SealingAlgorithm.chaChaPoly, .aesGCM])
    func savedAndFetched(algorithm: SealingAlgorithm) throws {
        let store = try NoteStore(algorithm: algorithm)
        var note = Note(body: "Dear diary, a canary", address: "ada@example.com", tags: ["x": .infinity])
        try store.write { db in
            note.pin = try note.seal("4711", for: "pin")
            try note.insert(db)
            let fetched = try #require(try Note.fetchOne(db, key: note.id))
            #expect(fetched == note)
            #expect(try fetched.pin.map { try fetched.open($0, from: "pin") } == "4711")
            #expect(fetched.pin?.algorithm == algorithm)
        }
        for canary in ["canary", "ada@example", "4711"] {
            #expect(try store.bytes().firstRange(of: Data(canary.utf8)) == nil)
        }
    }

    /// A record that a program logs does not tell what is sealed.
    @Test func printingShowsNoValue() throws {
        var note = Note(body: "a canary", address: "a canary", tags: ["canary": 1])
        note.title = "Monday"
        var dumped = ""
        dump(note, to: &dumped)
        for text in ["\(note)", String(reflecting: note), dumped] {
            #expect(text.contains("Monday"))
            #expect(!text.contains("canary"))
        }
    }

    @Test func onlyWhatWasAssignedIsWritten() throws {
        let store = try NoteStore()
        try store.write { db in
            let original = Note(body: "first")
            try original.insert(db)
            let fetched = try #require(try Note.fetchOne(db, key: original.id))
            #expect(try fetched.databaseChanges(from: fetched).isEmpty)
            var changed = fetched
            changed.title = "another"
            #expect(try Set(changed.databaseChanges(from: fetched).keys) == ["title"])
            changed.body = "second"
            #expect(try Set(changed.databaseChanges(from: fetched).keys) == ["title", "body"])
            try changed.updateChanges(db, from: fetched)
            #expect(try Note.fetchOne(db, key: original.id)?.body == "second")
            try changed.save(db)
            try changed.upsert(db)
            #expect(try Note.fetchAll(db) == [changed])
            #expect(try changed.delete(db))
        }
    }

    /// A program that copies a record to another row has it sealed for that one.
    @Test func copies() throws {
        let store = try NoteStore()
        try store.write { db in
            let original = Note(body: "text", address: "ada")
            try original.insert(db)
            var copy = try #require(try Note.fetchOne(db, key: original.id))
            copy.id = UUID()
            try copy.insert(db)
            #expect(try Note.fetchOne(db, key: copy.id) == copy)
        }
    }

    /// Also with the database of another name.
    @Test func copyToAnotherDatabase() throws {
        let (from, to) = (try NoteStore(), try NoteStore())
        let note = Note(body: "text")
        try from.write { try note.insert($0) }
        let fetched = try #require(try from.write { try Note.fetchOne($0, key: note.id) })
        let sealing = FieldSealing(database: "another", keys: to.keys)
        try sealing.run {
            try to.queue.write { try fetched.insert($0) }
            #expect(try to.queue.read { try Note.fetchOne($0, key: note.id) } == note)
        }
    }

    @Test func asynchronously() async throws {
        let store = try NoteStore()
        let note = Note(body: "text")
        try await store.sealing.run {
            try await store.queue.write { try note.insert($0) }
            #expect(try await store.queue.read { try Note.fetchAll($0) } == [note])
        }
    }

    struct Entry: SealedRecord, PersistableRecord, Equatable {
        static let databaseTableName = "Entry"
        static var fieldSealing: FieldSealing { get throws { throw Note.NoSealing() } }
        static let sealedRowColumns = ["book_name", "page_number"]
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase

        var bookName: String
        var pageNumber: Int
        @SealedField var secretNote: Date
    }

    @Test func severalKeyColumnsInSnakeCase() throws {
        let store = try NoteStore()
        try store.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE entry (book_name TEXT, page_number INTEGER, secret_note BLOB,
                        PRIMARY KEY (book_name, page_number)) WITHOUT ROWID
                    """)
            let entry = Entry(bookName: "b", pageNumber: 7, secretNote: Date(timeIntervalSince1970: 1.5))
            try entry.insert(db)
            #expect(try Entry.fetchAll(db) == [entry])
            try db.execute(sql: "UPDATE entry SET page_number = 8")
            expectFailure(.notAuthentic) { try Entry.fetchAll(db) }
            let rotation = try FieldRotation(of: Entry.self, column: "secret_note")
            #expect(rotation.rowColumns == ["book_name", "page_number"])
        }
    }

    struct Numbered: SealedRecord, PersistableRecord {
        static let databaseTableName = "numbered"
        static var fieldSealing: FieldSealing { get throws { throw Note.NoSealing() } }
        var id: Int64?
        @SealedField var body: String
    }

    @Test func keyThatIsNotKnownYet() throws {
        let store = try NoteStore()
        try store.write { db in
            try db.execute(sql: "CREATE TABLE numbered (id INTEGER PRIMARY KEY, body BLOB)")
            expectFailure(.placeUnknown) { try Numbered(body: "x").insert(db) }
            try Numbered(id: 5, body: "x").insert(db)
            #expect(try Numbered.fetchOne(db, key: 5)?.body == "x")
            // The row's key was not selected.
            expectFailure(.placeUnknown) {
                try Numbered.fetchAll(db, sql: "SELECT body FROM numbered")
            }
        }
    }

    struct Nested: SealedRecord, PersistableRecord {
        static let databaseTableName = "numbered"
        static var fieldSealing: FieldSealing { get throws { throw Note.NoSealing() } }
        struct Inner: Codable { @SealedField var secret: String }
        var id: Int64
        var body: Inner
    }

    /// What is inside of a column's JSON has no place.
    @Test func fieldInsideOfAColumn() throws {
        let store = try NoteStore()
        try store.write { db in
            try db.execute(sql: "CREATE TABLE numbered (id INTEGER PRIMARY KEY, body BLOB)")
            expectFailure(.placeUnknown) {
                try Nested(id: 1, body: .init(secret: "x")).insert(db)
            }
            try db.execute(sql: #"INSERT INTO numbered VALUES (1, '{"secret": "AQE="}')"#)
            expectFailure(.placeUnknown) { try Nested.fetchAll(db) }
        }
        expectFailure(.placeUnknown) { try JSONEncoder().encode(Note(body: "x")) }
    }

    @Test func nothingElseIsTakenForAValue() throws {
        let store = try NoteStore()
        let note = Note(body: "text")
        try store.write { db in
            try note.insert(db)
            for wrong in ["NULL", "'text'", "x''", "x'01'", "17", "zeroblob(100)"] {
                try db.execute(sql: "UPDATE note SET address = \(wrong)")
                #expect(throws: SealedFieldsError.self) { try Note.fetchAll(db) }
            }
        }
    }

    @Test func locked() throws {
        let store = try NoteStore()
        let note = Note(body: "text")
        try store.write { try note.insert($0) }
        store.world.lock()
        expectFailure(.locked) { try store.write { try Note.fetchAll($0) } }
        expectFailure(.locked) { try store.write { try Note(body: "x").insert($0) } }
        store.world.unlock()
        #expect(try store.write { try Note.fetchAll($0) } == [note])
    }
}
