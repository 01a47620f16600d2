// People.swift
import Foundation
import GRDB
import SealedFields

struct Person: SealedRecord, PersistableRecord {
    static let fieldSealing = FieldSealing(database: "people", keys: FieldKeys("com.example.people"))
    static let equalityRevealingDigests = ["email": "emailDigest"]

    var id: UUID
    @SealedField var email: String
}

/// Finds a person by the address, which the database has only sealed.
func person(withEmail email: String, in queue: DatabaseQueue) throws -> Person? {
    try queue.read { try Person.filter(sealed: "email", equals: email).fetchOne($0) }
}
