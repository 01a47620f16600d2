import SQLCipherWire

/// A connection of any engine that a database is copied from or to.
///
/// Rows go from one to the other in memory. Nothing reaches a disk as plaintext that was not there before.
package protocol TransferConnection: AnyObject {
    /// The engine's name in errors, with the version of its SQLite.
    var engine: TransferEngine { get }
    var isInTransaction: Bool { get }
    func forEachRow(_ sql: String, _ bindings: [SQLValue], _ body: ([SQLValue]) throws -> Void) throws
    /// Runs statements without values, and ignores their rows.
    func run(_ script: String) throws
    /// Runs a statement for each of the rows, at the latest when ``finishRows()`` is called.
    func write(_ rows: RowBatch, _ sql: String) throws
    func finishRows() throws
}

extension TransferConnection {
    func rows(_ sql: String, _ bindings: [SQLValue] = []) throws -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        try forEachRow(sql, bindings) { rows.append($0) }
        return rows
    }

    func integer(_ sql: String) throws -> Int64 { try rows(sql).first?.first?.integer ?? 0 }

    /// Returns SQLite's error for a statement without running it; nil if SQLite accepts it.
    func failure(of sql: String) -> (any Error)? {
        do {
            try forEachRow("EXPLAIN " + sql, []) { _ in }
            return nil
        } catch {
            return error
        }
    }
}

/// An engine, as errors name it.
package struct TransferEngine: Sendable, Equatable, CustomStringConvertible {
    package var name: String
    package var sqliteVersion: String

    package var description: String { "\(name) (SQLite \(sqliteVersion))" }

    /// Returns whether its SQLite has at least version 3.`minor`.
    package func isAtLeast(minor: Int) -> Bool {
        let parts = sqliteVersion.split(separator: ".").compactMap { Int($0) }
        guard parts.count >= 2 else { return false }
        return parts[0] > 3 || parts[0] == 3 && parts[1] >= minor
    }
}

/// Quotes a text as an SQL identifier.
func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
