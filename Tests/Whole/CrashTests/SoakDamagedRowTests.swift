import Foundation
import GRDB
import TestSupport
import Testing
import VaultInterface

/// Columns of rows hold other bytes, other types, or nothing. SQLite gives columns no fixed type, so a
/// file that was written to by somebody else may hold anything anywhere.
@Suite(.serialized) struct SoakDamagedRowTests {
    @Test func columns() throws {
        let target = try FuzzTarget()
        try target.closed.restore(to: target.path)
        let columns = try loosenSchema(target)
        let loose = try FolderContents(of: target.path)
        var random = SeededGenerator()
        for round in 0..<TestScale.count(80, soak: 10_000) {
            try loose.restore(to: target.path)
            let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: target.path))
            var damaged: [String] = []
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = OFF")
                let ids = try Int64.fetchAll(database, sql: "SELECT id FROM item")
                for _ in 0...random.int(below: 2) {
                    let id = ids[random.int(below: ids.count)]
                    let column = columns[random.int(below: columns.count)]
                    let old = try DatabaseValue.fetchOne(
                        database, sql: "SELECT \(column) FROM item WHERE id = ?", arguments: [id])
                    let new = random.value(insteadOf: old ?? .null)
                    // A key that is taken already, or no integer for a row number: another round, then.
                    try? database.execute(
                        sql: "UPDATE item SET \(column) = ? WHERE id = ?", arguments: [new, id])
                    damaged.append(column)
                }
                if random.int(below: 5) == 0 {
                    try? database.execute(
                        sql:
                            "UPDATE \(["term", "item"][random.int(below: 2)]) SET \(["item", "term"][random.int(below: 2)]) = ?",
                        arguments: [random.value(insteadOf: .null)])
                }
                if random.int(below: 10) == 0 {
                    try database.execute(
                        sql: "UPDATE vault SET owner = ?", arguments: [random.value(insteadOf: .null)])
                }
                try restoreSchema(database)
            }
            try database.close()
            try target.probe("\(damaged), round \(round), seed \(random.seed)")
        }
    }

    /// Takes NOT NULL out of the schema, so that a test can store what they forbid.
    ///
    /// - Returns: The columns of the item table.
    private func loosenSchema(_ target: FuzzTarget) throws -> [String] {
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: target.path))
        let columns = try database.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '         ')
                        WHERE name IN ('item', 'vault');
                    """)
            return try database.columns(in: "item").map(\.name)
        }
        try database.close()
        return columns
    }

    private func restoreSchema(_ database: Database) throws {
        try database.execute(
            sql: """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = replace(sql, '         ', ' NOT NULL')
                    WHERE name IN ('item', 'vault');
                """)
    }
}

extension SeededGenerator {
    /// A value of any SQLite type; often one that resembles `old`.
    fileprivate mutating func value(insteadOf old: DatabaseValue) -> DatabaseValue {
        if int(below: 2) == 0 {
            switch old.storage {
            case .blob(let bytes): return mutated(bytes).databaseValue
            case .int64(let number): return (number ^ (1 << Int64(int(below: 63)))).databaseValue
            default: break
            }
        }
        switch int(below: 9) {
        case 0: return .null
        case 1: return "text".databaseValue
        case 2: return "12345678901234567890".databaseValue
        case 3: return 1.5.databaseValue
        case 4: return 1e300.databaseValue
        case 5: return [Int64.min, .max, -1, 0, 256, 1 << 32][int(below: 6)].databaseValue
        case 6: return Data().databaseValue
        case 7: return bytes(int(below: 2_000)).databaseValue
        default: return bytes([8, 16, 68][int(below: 3)]).databaseValue
        }
    }
}
