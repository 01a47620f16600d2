import Foundation
import GRDB
import KeychainTesting
import SealedFields
import TestSupport
import Testing

@Suite struct DigestTests {
    @Test func search() throws {
        let store = try NoteStore()
        let notes = ["ada", "bob", "ada", nil].map { Note(body: "x", address: $0) }
        try store.write { db in
            for note in notes { try note.insert(db) }
            #expect(try Note.filter(sealed: "address", equals: "ada").fetchCount(db) == 2)
            #expect(try Note.filter(sealed: "address", equals: "bob").fetchAll(db) == [notes[1]])
            #expect(try Note.filter(sealed: "address", equals: String?.none).fetchAll(db) == [notes[3]])
            #expect(try Note.filter(sealed: "address", equals: "eve").isEmpty(db))
            var changed = notes[1]
            changed.address = "eve"
            try changed.update(db)
            #expect(try Note.filter(sealed: "address", equals: "eve").fetchAll(db) == [changed])
            #expect(try Note.filter(sealed: "address", equals: "bob").isEmpty(db))
            expectFailure(.invalidRequest) { try Note.filter(sealed: "body", equals: "x") }
        }
    }

    @Test func boundToItsColumn() throws {
        let (store, other) = (try NoteStore(), try NoteStore())
        let digest = try store.sealing.digest(of: "ada", table: "note", column: "address")
        #expect(try store.sealing.digest(of: "ada", table: "NOTE", column: "address") == digest)
        #expect(digest.bytes.count == 16)
        let others = [
            try store.sealing.digest(of: "ada", table: "note", column: "body"),
            try store.sealing.digest(of: "ada", table: "other", column: "address"),
            try store.sealing.digest(of: "Ada", table: "note", column: "address"),
            try store.sealing.digest(of: Data("ada".utf8), table: "note", column: "address"),
            try FieldSealing(database: "b", keys: store.keys).digest(of: "ada", table: "note", column: "address"),
            try other.sealing.digest(of: "ada", table: "note", column: "address"),
        ]
        #expect(Set(others + [digest]).count == others.count + 1)
        // It stays the same when keys are rotated and read again.
        try store.keys.addGeneration()
        store.keys.discard()
        #expect(try store.sealing.digest(of: "ada", table: "note", column: "address") == digest)
    }

    @Test func onlyOfValuesWithOneForm() throws {
        let store = try NoteStore()
        func digest(_ value: some Codable) throws -> EqualityRevealingDigest {
            try store.sealing.digest(of: value, table: "t", column: "c")
        }
        expectFailure(.invalidRequest) { try digest(Set([1, 2, 3])) }
        expectFailure(.invalidRequest) { try digest(0.0) }
        expectFailure(.invalidRequest) { try digest(Float?.some(0)) }
        #expect(try digest(7) == digest(Int?.some(7)))
        #expect(try digest(7) == digest(Int8(7)))
        #expect(try digest(UUID()) != digest(UUID()))
    }
}
