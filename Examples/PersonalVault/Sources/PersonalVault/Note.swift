import Foundation
import GRDB
import SealedFields

/// A note, whose text and tags are sealed besides being in an encrypted database.
struct Note: SealedRecord, PersistableRecord, Identifiable {
    static let fieldSealing = FieldSealing(database: PersonalVault.identifier, keys: PersonalVault.fieldKeys)
    static let documents = hasMany(Document.self)

    var id = UUID()
    var title: String
    var created = Date()
    @SealedField var body: String
    @SealedField var tags: [String]
}

extension PersonalVault {
    func add(_ note: Note) throws {
        try store.write { db in try note.insert(db) }
    }

    func notes(titled title: String) throws -> [Note] {
        try store.read { db in
            try Note.filter(Column("title") == title).order(Column("created").desc).fetchAll(db)
        }
    }

    func rename(_ id: UUID, to title: String) throws {
        try store.write { db in
            guard var note = try Note.fetchOne(db, key: id) else { return }
            note.title = title
            try note.update(db)
        }
    }
}
