import SQLCipherWire

/// A writer of a whole database from another engine, in one transaction.
package final class TransferWriter {
    private let target: any TransferConnection
    package private(set) var summary = TransferSummary()
    private var table: TransferTable?
    private var hasBegun = false
    /// The statements that restore the connection's settings.
    private let settingsBefore: String
    /// The virtual tables and views to check when everything is written.
    private var views: [TransferObject] = []
    private var triggers: [TransferObject] = []

    /// - Parameter target: An empty database, not in a transaction.
    package init(_ target: any TransferConnection) throws {
        guard !target.isInTransaction else { throw TransferError.inTransaction }
        guard try target.integer("SELECT count(*) FROM sqlite_master") == 0 else { throw TransferError.targetNotEmpty }
        self.target = target
        settingsBefore = try ["foreign_keys", "ignore_check_constraints"].map {
            "PRAGMA \($0) = \(try target.integer("PRAGMA \($0)"))"
        }
        .joined(separator: "; ")
    }

    package func receive(_ part: DatabaseTransfer) throws {
        switch part {
        case .settings(let settings): try begin(settings)
        case .table(let table): try make(table)
        case .rows(let rows):
            guard let table else { return }
            try carrying(table.object) { try target.write(rows, table.insertion) }
            summary.rows += rows.rows.count
        case .object(let object):
            try endTable()
            try make(object)
        }
    }

    /// Checks the objects that consist of statements, and commits the received parts.
    package func finish() throws {
        try endTable()
        for view in views {
            try carrying(view) {
                if let error = target.failure(of: "SELECT * FROM \(quoted(view.name))") { throw error }
            }
        }
        for table in Set(triggers.map(\.table)).sorted() { try checkTriggers(of: table) }
        try target.run("COMMIT")
        hasBegun = false
        try target.run(settingsBefore)
    }

    /// Rolls the received parts back.
    package func cancel() {
        guard hasBegun else { return }
        hasBegun = false
        try? target.finishRows()
        try? target.run("ROLLBACK")
        try? target.run(settingsBefore)
    }

    private func begin(_ settings: TransferSettings) throws {
        // Sorting must not write to a disk, and the order of the rows may violate constraints.
        try target.run("PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
        try target.run("PRAGMA encoding = \(quoted(settings.encoding))")
        if try target.integer("PRAGMA auto_vacuum") != settings.autoVacuum {
            // The setting of a file with content changes only when the file is written again.
            try target.run("PRAGMA auto_vacuum = \(settings.autoVacuum); VACUUM")
        }
        try target.run("BEGIN IMMEDIATE")
        hasBegun = true
        try target.run(
            "PRAGMA user_version = \(settings.userVersion); PRAGMA application_id = \(settings.applicationID)")
        let (encoding, vacuum) = (
            try target.rows("PRAGMA encoding").first?.first?.string, try target.integer("PRAGMA auto_vacuum")
        )
        guard encoding == settings.encoding, vacuum == settings.autoVacuum else {
            let name = encoding == settings.encoding ? "auto_vacuum" : settings.encoding
            throw TransferError.cannotCarry(
                kind: "setting", name: name, engine: "\(target.engine)", reason: "the new file has another")
        }
    }

    private func make(_ table: TransferTable) throws {
        try endTable()
        summary.tables += 1
        switch table.kind {
        case .ordinary, .virtual:
            try make(table.object)
        case .shadow:
            if try exists(table.object.name) {
                try carrying(table.object) { try target.run("DELETE FROM \(quoted(table.object.name))") }
            } else {
                try make(table.object)
            }
        case .system:
            guard try makeSystemTable(table.object.name) else {
                summary.omitted.append(table.object.name)
                return
            }
        }
        self.table = table
    }

    /// Makes an empty table that belongs to SQLite itself, which no statement may create.
    ///
    /// - Returns: False for statistics that this SQLite does not support.
    private func makeSystemTable(_ name: String) throws -> Bool {
        switch name.lowercased() {
        case "sqlite_sequence" where try !exists(name):
            // The tables that caused it may no longer exist.
            try target.run("CREATE TABLE \"keychain\" (a INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \"keychain\"")
        case "sqlite_sequence":
            break
        case let statistics where statistics.hasPrefix("sqlite_stat"):
            try target.run("ANALYZE sqlite_master")
            guard try exists(name) else { return false }
        default:
            throw TransferError.cannotCarry(
                kind: "table", name: name, engine: "\(target.engine)", reason: "it is SQLite's own and not known")
        }
        try target.run("DELETE FROM \(quoted(name))")
        return true
    }

    private func make(_ object: TransferObject) throws {
        // A virtual table has already made its indexes.
        if object.kind == .index, try exists(object.name) { return }
        if let reason = object.changedMeaning(in: target.engine) { throw cannotCarry(object, reason) }
        try carrying(object) { try target.run(object.sql) }
        guard try exists(object.name) else { throw cannotCarry(object, "its statement makes something else") }
        if object.kind == .view || object.isVirtual { views.append(object) }
        if object.kind == .trigger { triggers.append(object) }
    }

    private func endTable() throws {
        guard let table else { return }
        self.table = nil
        try carrying(table.object) { try target.finishRows() }
    }

    private func exists(_ name: String) throws -> Bool {
        try !target.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [.string(name)]).isEmpty
    }

    /// Checks triggers: SQLite parses them when they are created, but resolves their names only when they run.
    private func checkTriggers(of table: String) throws {
        let name = quoted(table)
        let columns = try target.rows("PRAGMA table_info(\(name))").compactMap { $0.count > 1 ? $0[1].string : nil }
        let changes = columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
        for statement in ["INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)", "UPDATE \(name) SET \(changes)"]
        {
            // A view without a trigger for this change.
            guard let error = target.failure(of: statement), !"\(error)".contains("cannot modify") else { continue }
            let own = triggers.filter { $0.table == table }.map(\.name).joined(separator: ", ")
            throw TransferError.cannotCarry(
                kind: "trigger", name: own, engine: "\(target.engine)", reason: "\(error)")
        }
    }

    private func cannotCarry(_ object: TransferObject, _ reason: String) -> TransferError {
        .cannotCarry(
            kind: object.kind.rawValue, name: object.name, engine: "\(target.engine)", reason: reason)
    }

    /// Names the object in errors of `body` for its statement.
    private func carrying(_ object: TransferObject, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SQLCipherError where [.statement, .refused].contains(error.code) {
            throw cannotCarry(object, "\(error)")
        } catch let error as SourceStatementError {
            throw cannotCarry(object, "\(error)")
        }
    }
}
