import SQLCipherWire

extension SQLCipherDatabase: TransferConnection {
    package var engine: TransferEngine {
        TransferEngine(name: "SQLCipher \(library.cipherVersion)", sqliteVersion: library.sqliteVersion)
    }

    /// Asks the helper, because SQLite ends a transaction by itself after some errors.
    package var isInTransaction: Bool { (try? execute("SELECT 1"))?.isInTransaction ?? false }

    package func forEachRow(_ sql: String, _ bindings: [SQLValue], _ body: ([SQLValue]) throws -> Void) throws {
        try forEachRow(sql, bindings, columns: { _ in }, body)
    }

    package func write(_ rows: RowBatch, _ sql: String) throws { try executeBatch(sql, rows) }

    package func finishRows() throws { try finishBatches() }
}
