import Foundation
import GRDB

/// Seals the values of a column again that are not sealed with the newest key of the keyring and the current algorithm.
///
/// ```swift
/// try keys.addGeneration()
/// let rotation = FieldRotation(of: Note.self, column: "body")
/// let outcome = try await rotation.run(in: queue) { print("\($0.sealed) of \($0.outdated)") }
/// ```
///
/// It works in batches, and each batch is a short transaction. Other readers and writers can work meanwhile: if another
/// writer changes a value, the rotation keeps that change. After any interruption, another run continues without stored
/// state: values that were sealed again have the new key, and the run finds the rest.
public struct FieldRotation: Sendable {
    /// The table's name.
    public let table: String
    /// The column's name.
    public let column: String
    /// The columns of the row's key; see ``SealedRecord/sealedRowColumns``.
    public let rowColumns: [String]
    /// The name of the table that values are bound to.
    public let boundTable: String
    /// What opens and seals the values.
    public let sealing: FieldSealing
    /// How many values are written in one transaction.
    public let batchSize: Int

    /// - Parameters:
    ///   - record: The record's type.
    ///   - column: The column's name.
    ///   - batchSize: How many values are written in one transaction; more is faster, and makes other writers wait
    ///     longer.
    /// - Throws: What the record's `fieldSealing` throws.
    public init<Record: SealedRecord>(of record: Record.Type, column: String, batchSize: Int = 500) throws {
        self.init(
            table: record.databaseTableName, column: column, rowColumns: record.sealedRowColumns,
            boundTable: record.sealedTableName, sealing: try record.effectiveSealing, batchSize: batchSize)
    }

    /// - Parameters:
    ///   - table: The table's name.
    ///   - column: The column's name.
    ///   - rowColumns: The columns of the row's key, in the order in which values are bound to them.
    ///   - boundTable: The name of the table that values are bound to; nil for the table's own.
    ///   - sealing: What opens and seals the values.
    ///   - batchSize: How many values are written in one transaction.
    public init(
        table: String, column: String, rowColumns: [String] = ["id"], boundTable: String? = nil, sealing: FieldSealing,
        batchSize: Int = 500
    ) {
        self.table = table
        self.column = column
        self.rowColumns = rowColumns
        self.boundTable = boundTable ?? table
        self.sealing = sealing
        self.batchSize = max(1, batchSize)
    }

    /// The progress of a rotation.
    public struct Progress: Sendable, Hashable {
        /// How many values were outdated when it began.
        public var outdated = 0
        /// How many values it has sealed again.
        public var sealed = 0
        /// How many values cannot be opened and stay unchanged: see ``Outcome/unreadable``.
        public var unreadable = 0
    }

    /// The result of a rotation.
    public struct Outcome: Sendable {
        /// A value that cannot be opened.
        public struct Failure: Sendable {
            /// The key of its row.
            public let row: [DatabaseValue]
            /// The reason.
            public let error: SealedFieldsError
        }

        /// How many values it sealed again.
        public var sealed: Int
        /// How many values cannot be opened. They stay unchanged. The key that they name stays too.
        public var unreadable: Int
        /// The first hundred of them.
        public var failures: [Failure]
    }

    /// Seals outdated values again. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - progress: Called after each batch, outside of transactions. What it throws ends the rotation.
    /// - Throws: ``SealedFieldsError/Code/locked`` and other reasons for which no value could be opened; what SQLite
    ///   and `progress` throw.
    public func run(
        in writer: any DatabaseWriter, progress: (Progress) throws -> Void = { _ in }
    ) throws -> Outcome {
        sealing.keys.keyring.lookAgain()
        var pass = try Pass(self, outdated: writer.read { try count(in: $0) })
        while true {
            let batch = try writer.read { try next(after: pass.last, in: $0) }
            guard !batch.isEmpty else {
                guard pass.beginAnother() else { return pass.outcome }
                continue
            }
            let sealed = try pass.seal(batch)
            pass.wrote(try writer.write { try write(sealed, in: $0) })
            try progress(pass.progress)
        }
    }

    /// Seals outdated values again, as the synchronous form does, without blocking a thread.
    ///
    /// - Throws: The errors of the synchronous form, and `CancellationError` between two batches when the task is
    ///   canceled.
    public nonisolated(nonsending) func run(
        in writer: any DatabaseWriter, progress: (Progress) throws -> Void = { _ in }
    ) async throws -> Outcome {
        sealing.keys.keyring.lookAgain()
        var pass = try Pass(self, outdated: await writer.read { try count(in: $0) })
        while true {
            try Task.checkCancellation()
            let last = pass.last
            let batch = try await writer.read { try next(after: last, in: $0) }
            guard !batch.isEmpty else {
                guard pass.beginAnother() else { return pass.outcome }
                continue
            }
            let sealed = try pass.seal(batch)
            pass.wrote(try await writer.write { try write(sealed, in: $0) })
            try progress(pass.progress)
        }
    }

    // MARK: SQL

    private struct Found: Sendable {
        let row: [DatabaseValue]
        let value: DatabaseValue
    }

    private struct Replacement: Sendable {
        let found: Found
        let sealed: Data
    }

    private var columnSQL: String { column.quotedDatabaseIdentifier }
    private var tableSQL: String { table.quotedDatabaseIdentifier }

    private func names(_ suffix: String = "") -> String {
        rowColumns.map { $0.quotedDatabaseIdentifier + suffix }.joined(separator: ", ")
    }

    private var outdatedSQL: String {
        "\(columnSQL) IS NOT NULL AND substr(\(columnSQL), 1, \(SealedForm.headerCount)) IS NOT ?"
    }

    private func header() throws -> Data {
        SealedForm.header(sealing.algorithm, try sealing.keys.keyring.sealingKey().id)
    }

    private func count(in db: Database) throws -> Int {
        try Int.fetchOne(
            db, sql: "SELECT count(*) FROM \(tableSQL) WHERE \(outdatedSQL)", arguments: [try header()]) ?? 0
    }

    private func next(after last: [DatabaseValue]?, in db: Database) throws -> [Found] {
        var (condition, arguments): (String, StatementArguments) = (outdatedSQL, [try header()])
        if let last {
            condition += " AND (\(names())) > (\(last.map { _ in "?" }.joined(separator: ", ")))"
            arguments += StatementArguments(last)
        }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(names()), \(columnSQL) FROM \(tableSQL) WHERE \(condition)
                ORDER BY \(names()) LIMIT \(batchSize)
                """, arguments: arguments)
        var found: [Found] = []
        while let row = try rows.next() {
            found.append(
                Found(row: (0..<rowColumns.count).map { row[$0] }, value: row[rowColumns.count]))
        }
        return found
    }

    /// - Returns: How many values were still what had been read.
    private func write(_ replacements: [Replacement], in db: Database) throws -> Int {
        let condition = rowColumns.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: " AND ")
        let update = try db.cachedStatement(
            sql: "UPDATE \(tableSQL) SET \(columnSQL) = ? WHERE \(condition) AND \(columnSQL) = ?")
        var count = 0
        for replacement in replacements {
            let values = [replacement.sealed.databaseValue] + replacement.found.row + [replacement.found.value]
            try update.execute(arguments: StatementArguments(values))
            count += db.changesCount
        }
        return count
    }

    private func sealedAnew(_ found: Found) throws -> Data {
        let place = FieldPlace(table: boundTable, column: column, row: try RowKey(found.row))
        guard case .blob(let bytes) = found.value.storage else { throw SealedFieldsError.notSealed(place.subject) }
        return try sealing.open(bytes, at: place) { plaintext in
            try sealing.seal(encoded: plaintext, at: place)
        }
    }

    // MARK: State

    /// One run: it passes over the table until a pass finds no value that it can seal again.
    private struct Pass {
        private let rotation: FieldRotation
        private(set) var progress = Progress()
        private(set) var last: [DatabaseValue]?
        private var failures: [Outcome.Failure] = []
        private var readable = 0

        init(_ rotation: FieldRotation, outdated: Int) {
            self.rotation = rotation
            progress.outdated = outdated
        }

        var outcome: Outcome {
            Outcome(sealed: progress.sealed, unreadable: progress.unreadable, failures: failures)
        }

        /// Another writer may have written behind this one's back; whether there is to be another pass.
        mutating func beginAnother() -> Bool {
            guard readable > 0 else { return false }
            (last, readable, failures, progress.unreadable) = (nil, 0, [], 0)
            return true
        }

        mutating func wrote(_ count: Int) { progress.sealed += count }

        /// Seals the values of a batch again. No transaction is open meanwhile.
        mutating func seal(_ batch: [Found]) throws -> [Replacement] {
            var sealed: [Replacement] = []
            for found in batch {
                do {
                    sealed.append(Replacement(found: found, sealed: try rotation.sealedAnew(found)))
                } catch let error as SealedFieldsError where error.isOfOneValue {
                    progress.unreadable += 1
                    if failures.count < 100 { failures.append(Outcome.Failure(row: found.row, error: error)) }
                }
            }
            readable += sealed.count
            last = batch.last?.row
            return sealed
        }
    }
}

extension SealedFieldsError {
    /// Whether other values may be readable all the same.
    fileprivate var isOfOneValue: Bool {
        [.notAuthentic, .notSealed, .unsupported, .unknownKey, .placeUnknown].contains(code)
    }
}
