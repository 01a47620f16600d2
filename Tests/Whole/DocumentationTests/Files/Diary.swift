// Diary.swift
import Foundation
import GRDB
import ProtectedDatabase

/// Opens the encrypted database at the path, and writes and reads in it.
func secrets(at path: String) throws -> [String] {
    let database = try ProtectedDatabase(path: path, key: .keychain(.complete))
    try database.write { db in
        try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: ["a secret"])
    }
    let notes = try database.read { db in try String.fetchAll(db, sql: "SELECT text FROM note") }
    try database.close()
    return notes
}
