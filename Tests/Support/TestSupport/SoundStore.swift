import GRDB
import Testing

/// Checks the store's file with SQLite alone: its structure, and that every row is filed and nothing
/// else is.
package func expectSoundStore(in path: String) throws {
    let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: path))
    func answer(_ sql: String) throws -> [String] { try database.read { try String.fetchAll($0, sql: sql) } }
    #expect(try answer("PRAGMA integrity_check") == ["ok"])
    #expect(try answer("SELECT item FROM filing WHERE item NOT IN (SELECT id FROM item)") == [])
    #expect(try answer("SELECT id FROM item WHERE id NOT IN (SELECT item FROM filing)") == [])
    try database.close()
}
