import DataProtection
import Foundation
import GRDB

/// A document, whose contents are in a protected file of its own.
struct Document: Codable, FetchableRecord, PersistableRecord, Identifiable {
    static let note = belongsTo(Note.self)

    var id = UUID()
    var name: String
    var noteId: UUID?
}

extension PersonalVault {
    private var documents: URL { folder.appending(path: "documents") }

    func file(of document: Document) -> ProtectedFile {
        ProtectedFile(documents.appending(path: document.id.uuidString))
    }

    func add(_ contents: Data, as document: Document) throws {
        try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
        try file(of: document).write(contents, options: .completeFileProtection)
        try store.write { db in try document.insert(db) }
    }

    func remove(_ document: Document) throws {
        _ = try store.write { db in try document.delete(db) }
        try FileManager.default.removeItem(at: documents.appending(path: document.id.uuidString))
    }

    func documents(of note: Note) throws -> [Document] {
        try store.read { db in try note.request(for: Note.documents).fetchAll(db) }
    }
}
