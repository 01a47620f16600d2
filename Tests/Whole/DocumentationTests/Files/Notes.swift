// Notes.swift
import Foundation
import GRDB
import SealedFields

struct Note: SealedRecord, PersistableRecord {
    static let fieldSealing = FieldSealing(database: "notes", keys: FieldKeys("com.example.notes"))

    var id: UUID
    var title: String
    @SealedField var body: String
}

/// Stores a note, and returns those of Monday.
func notesOfMonday(in queue: DatabaseQueue) throws -> [Note] {
    try queue.write { db in
        try db.create(table: "note") {
            $0.column("id", .blob).primaryKey()
            $0.column("title", .text)
            $0.column("body", .blob)
        }
        try Note(id: UUID(), title: "Monday", body: "Dear diary").insert(db)
    }
    return try queue.read { try Note.filter(Column("title") == "Monday").fetchAll($0) }
}
