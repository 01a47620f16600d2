import Foundation
import GRDB
import KeychainServices
import KeychainTesting
import SealedFields
import TestSupport
import Testing

/// What the second example's keys are under.
private let control = SecAccessControlCreateWithFlags(
    nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil)!

/// The examples of Documentation/Use/SealedFields.md, run. ``GuideTests`` checks that they are the same.
@Suite struct GuideExamples {
    private let place: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        place = try TemporaryFolder()
        queue = try DatabaseQueue(path: place.path(of: "database"))
    }

    @Test func records() throws {
        struct Note: SealedRecord, PersistableRecord {
            static let fieldSealing = FieldSealing(database: "notes", keys: FieldKeys("com.example.notes"))

            var id: UUID
            var title: String
            @SealedField var body: String
        }
        try withTestKeychain { _ in
            try queue.write { db in
                try db.create(table: "note") {
                    $0.column("id", .blob).primaryKey()
                    $0.column("title", .text)
                    $0.column("body", .blob)
                }
                try Note(id: UUID(), title: "Monday", body: "Dear diary").insert(db)
            }
            let notes = try queue.read { try Note.filter(Column("title") == "Monday").fetchAll($0) }
            #expect(notes.map(\.body) == ["Dear diary"])
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT length(body) FROM note") } == 10 + 1 + 38)

            let keys = FieldKeys("com.example.notes")
            let sealing = FieldSealing(database: "notes/alice", keys: keys)
            try sealing.run {
                try queue.write { try Note(id: UUID(), title: "Tuesday", body: "Dear diary").insert($0) }
            }
        }
    }

    @Test func rotation() async throws {
        struct Note: SealedRecord, PersistableRecord {
            static let databaseTableName = "note"
            static var fieldSealing: FieldSealing {
                get throws { throw SealedFieldsError(.invalidRequest, message: "") }
            }
            var id: UUID
            @SealedField var body: String
        }
        try await withTestKeychain { _ in
            let keys = FieldKeys("com.example.notes")
            let sealing = FieldSealing(database: "notes", keys: keys)
            let queue = queue
            try await queue.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, body BLOB)") }
            try await sealing.run {
                try await queue.write { try Note(id: UUID(), body: "Dear diary").insert($0) }
                try keys.addGeneration()
                let rotation = try FieldRotation(of: Note.self, column: "body")
                let outcome = try await rotation.run(in: queue) { print("\($0.sealed) of \($0.outdated)") }
                #expect(outcome.sealed == 1)
            }
            expectFailure(.keyInUse) {
                let old = try keys.generations()[0]
                try keys.removeGeneration(old, checking: [.database(queue, sealing: sealing)])
            }
        }
    }

    @Test func accessControl() throws {
        let control = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil)!
        #expect(SecAccessControlGetTypeID() == CFGetTypeID(control))
    }

    @Test func asking() throws {
        struct Card: SealedRecord, PersistableRecord {
            static let fieldSealing = FieldSealing(
                database: "cards",
                keys: FieldKeys("com.example.cards", protection: .enclave(control), prompt: "see your cards"))

            var id: String
            var pin: SealedColumnValue<String>?
        }
        try withTestKeychain { world in
            try queue.write { try $0.execute(sql: "CREATE TABLE card (id TEXT PRIMARY KEY, pin BLOB)") }
            var card = Card(id: "bank")
            card.pin = try card.seal("4711", for: "pin")
            try queue.write { try card.insert($0) }
            Card.fieldSealing.keys.discard()
            let asked = world.prompts.count

            let found = try queue.read { try Card.fetchOne($0, key: "bank") }
            #expect(world.prompts.count == asked)
            let pin = try found?.pin.map { try found?.open($0, from: "pin") }  // asks
            #expect(pin == "4711")
            #expect(world.prompts.count == asked + 1)
            #expect(world.prompts.last == "see your cards")
        }
    }

    @Test func search() throws {
        struct Person: SealedRecord, PersistableRecord {
            static let fieldSealing = FieldSealing(database: "people", keys: FieldKeys("com.example.people"))
            static let equalityRevealingDigests = ["email": "emailDigest"]

            var id: UUID
            @SealedField var email: String
        }
        try withTestKeychain { _ in
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE person (id BLOB PRIMARY KEY, email BLOB, emailDigest BLOB)")
                try Person(id: UUID(), email: "ada@example.com").insert(db)
                try Person(id: UUID(), email: "bob@example.com").insert(db)
            }
            let ada = try queue.read { try Person.filter(sealed: "email", equals: "ada@example.com").fetchOne($0) }
            #expect(ada?.email == "ada@example.com")
        }
    }

    @Test func transformer() throws {
        try withTestKeychain { _ in
            let keys = FieldKeys("com.example.notes")
            let name = SealedValueTransformer.Name("NoteTransformer")
            SealedValueTransformer.setValueTransformer(SealedValueTransformer(keys: keys, for: name), forName: name)

            let transformer = SealedValueTransformer(forName: name)
            let sealed = transformer?.transformedValue("Dear diary")
            let text = transformer?.reverseTransformedValue(sealed) as? String
            #expect(sealed is Data)
            #expect(text == "Dear diary")
        }
    }
}
