import SQLCipherWire

/// A reader of a whole database for another engine.
package struct TransferReader {
    private let source: any TransferConnection

    package init(_ source: any TransferConnection) { self.source = source }

    /// Passes the database to `sink`, part by part, as it is at one moment.
    ///
    /// - Parameter progress: Called about every 64 KiB. If it throws, the transfer ends.
    package func send(
        progress: (TransferProgress) throws -> Void = { _ in }, to sink: (DatabaseTransfer) throws -> Void
    ) throws {
        let ownsTransaction = !source.isInTransaction
        if ownsTransaction { try source.run("BEGIN") }
        do {
            try sendAll(progress, sink)
        } catch {
            if ownsTransaction { try? source.run("ROLLBACK") }
            throw error
        }
        if ownsTransaction { try source.run("COMMIT") }
    }

    private func sendAll(
        _ progress: (TransferProgress) throws -> Void, _ sink: (DatabaseTransfer) throws -> Void
    ) throws {
        // First, because this read takes the lock on the database.
        let objects = try self.objects()
        try sink(
            .settings(
                TransferSettings(
                    encoding: source.rows("PRAGMA encoding").first?.first?.string ?? "UTF-8",
                    autoVacuum: source.integer("PRAGMA auto_vacuum"),
                    userVersion: source.integer("PRAGMA user_version"),
                    applicationID: source.integer("PRAGMA application_id"))))
        let size = try source.integer("PRAGMA page_count") * source.integer("PRAGMA page_size")
        var state = TransferProgress(table: "", totalBytes: Int(clamping: size))
        for table in try tables(of: objects) {
            try sink(.table(table))
            guard table.kind != .virtual else { continue }
            state.table = table.object.name
            try sendRows(of: table, &state, progress, sink)
        }
        for kind in [TransferObject.Kind.index, .view, .trigger] {
            for object in objects where object.kind == kind { try sink(.object(object)) }
        }
    }

    private func sendRows(
        of table: TransferTable, _ state: inout TransferProgress, _ progress: (TransferProgress) throws -> Void,
        _ sink: (DatabaseTransfer) throws -> Void
    ) throws {
        var batch = RowBatch(columns: table.places.count)
        func flush(_ state: inout TransferProgress) throws {
            guard !batch.rows.isEmpty else { return }
            let full = batch.take()
            state.rows += full.rows.count
            state.bytes += full.size
            try sink(.rows(full))
            try progress(state)
        }
        try source.forEachRow(table.selection, []) { row in
            batch.append(row)
            if batch.isFull { try flush(&state) }
        }
        try flush(&state)
    }

    /// Returns the schema in the order of its creation. Objects without SQL come from those with SQL.
    private func objects() throws -> [TransferObject] {
        try source.rows("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").map
        {
            row in
            let texts = row.map { $0.string ?? "" }
            guard let kind = TransferObject.Kind(rawValue: texts[0]) else {
                throw TransferError.cannotCarry(
                    kind: texts[0], name: texts[1], engine: "any engine",
                    reason: "SQLite has no such kind of object")
            }
            return TransferObject(kind: kind, name: texts[1], table: texts[2], sql: texts[3])
        }
    }

    /// Returns ordinary tables, then virtual ones, which may use them, then the tables that virtual ones create.
    private func tables(of objects: [TransferObject]) throws -> [TransferTable] {
        let tables = objects.filter { $0.kind == .table }
        let virtual = Set(tables.filter(\.isVirtual).map { $0.name.lowercased() })
        var found: [TransferTable] = []
        for object in tables {
            let kind: TransferTable.Kind =
                if object.isVirtual {
                    .virtual
                } else if object.name.lowercased().hasPrefix("sqlite_") {
                    .system
                } else if object.isShadow(of: virtual) {
                    .shadow
                } else {
                    .ordinary
                }
            found.append(try table(object, kind))
        }
        return [.ordinary, .virtual, .shadow, .system].flatMap { kind in found.filter { $0.kind == kind } }
    }

    private func table(_ object: TransferObject, _ kind: TransferTable.Kind) throws -> TransferTable {
        guard kind != .virtual else { return TransferTable(object: object, kind: kind, columns: [], rowid: nil) }
        let name = quoted(object.name)
        // table_xinfo also shows generated columns, but the oldest supported SQLite does not have it.
        var columns = try source.rows("PRAGMA table_xinfo(\(name))")
        if columns.isEmpty { columns = try source.rows("PRAGMA table_info(\(name))") }
        let names = columns.compactMap { $0.count > 1 ? $0[1].string : nil }
        let stored = columns.filter { $0.count < 7 || $0[6] == .integer(0) }.compactMap { $0[1].string }
        let taken = Set(names.map { $0.lowercased() })
        // A table without rowids does not have these names. If columns have all three names, the rowid is not visible.
        var rowid: String? = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
        if let unused = rowid, source.failure(of: "SELECT \(unused) FROM \(name)") != nil { rowid = nil }
        return TransferTable(object: object, kind: kind, columns: stored, rowid: kind == .system ? nil : rowid)
    }
}

extension TransferObject {
    var isVirtual: Bool {
        let words = sql.split(maxSplits: 2) { $0.isWhitespace }.prefix(2).map { $0.lowercased() }
        return words == ["create", "virtual"]
    }

    /// Returns whether a table holds the contents of a virtual table. FTS3 to FTS5 and R*Tree name it after that table.
    func isShadow(of virtual: Set<String>) -> Bool {
        let suffixes = [
            "content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "rowid", "parent",
        ]
        let name = name.lowercased()
        return suffixes.contains { name.hasSuffix("_" + $0) && virtual.contains(String(name.dropLast($0.count + 1))) }
    }
}
