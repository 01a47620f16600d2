import Bytes
import FoundationEssentials
import Sealing
import SystemSQLite

/// Identifies the state of a row. A copy of a row is up to date if it has the same state, because every change gives
/// the row a new number.
package struct RowState: Sendable, Hashable {
    /// The number of the row, and, of a former version, the version.
    package struct Place: Sendable, Hashable {
        package static let start = Place(row: .min, version: .min)
        package static let end = Place(row: .max, version: .max)

        package var row: Int64
        package var version: Int64
    }

    package var place: Place
    package var version: Int64
    package var change: Int64
    /// The change that ended a former version; 0 for a row that is in force.
    package var ended: Int64
}

extension ItemStore {
    /// Speeds up filling a new store: transactions do not wait for the disk, and the page cache is larger. After a
    /// crash the store is made again.
    package func beginFilling() throws {
        try file.explaining {
            // Pages that do not fit would be sealed again and again.
            try writer.use { try $0.execute("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -262144") }
        }
    }

    /// Waits until the store is on the disk. Later transactions are durable again.
    package func endFilling() throws {
        try file.explaining {
            try writer.use { database in
                try database.execute("PRAGMA synchronous = FULL; PRAGMA cache_size = -8192")
                // The first column says whether somebody was in the way.
                guard try database.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else { throw StoreError.busy }
            }
        }
    }
}

/// Filling a store whose rows are those of another one, sealed under other keys.
extension ItemStore.Reader {
    // A copy counts versions as people do: a row of version 0 is the first.
    static let rowStates = """
        SELECT id, max(version, 1), change, 0, 0 FROM item WHERE id > ? AND id <= ? ORDER BY id LIMIT ?
        """
    static let formerStates = """
        SELECT id, max(version, 1), change, ended, max(version, 1) FROM former \
        WHERE (id, version) > (?1, ?4) AND (id, version) <= (?2, ?5) ORDER BY id, version LIMIT ?3
        """

    /// Returns the states of rows after one place and up to another, ascending: of those in force, or of former
    /// versions.
    package func states(
        former: Bool, after start: RowState.Place, to end: RowState.Place = .end, limit: Int = .max
    ) throws -> [RowState] {
        let statement = try database.statement(former ? Self.formerStates : Self.rowStates)
        defer { statement.reset() }
        try statement.bind(start.row, at: 1)
        try statement.bind(end.row, at: 2)
        try statement.bind(Int64(limit), at: 3)
        if former {
            try statement.bind(start.version, at: 4)
            try statement.bind(end.version, at: 5)
        }
        var states: [RowState] = []
        while try statement.step() {
            states.append(
                RowState(
                    place: RowState.Place(row: statement.integer(0) ?? 0, version: statement.integer(4) ?? 0),
                    version: statement.integer(1) ?? 0, change: statement.integer(2) ?? 0,
                    ended: statement.integer(3) ?? 0))
        }
        return states
    }

    /// Returns about how many rows there are, with former versions.
    package func countOfRows() throws -> Int {
        Int(try database.integer("SELECT (SELECT count(*) FROM item) + (SELECT count(*) FROM former)") ?? 0)
    }

    static let numberOfKey = "SELECT id FROM item WHERE pk = ?"

    /// Returns the number of the row with this primary key; nil if there is none.
    package func number(ofPrimaryKey digest: Data) throws -> Int64? {
        let statement = try database.statement(Self.numberOfKey)
        defer { statement.reset() }
        try statement.bind(digest, at: 1)
        return try statement.step() ? statement.integer(0) : nil
    }
}

extension ItemStore.Writer {
    /// Stores a copy of a row of another store, with its number and that of its change.
    package func copy(_ row: ItemRow, filedUnder terms: [Int64]) throws {
        try change("INSERT INTO \(Self.columns) \(Self.values)") { try row.run($0, change: row.change) }
        try file(row.binding.rowID, under: terms, in: row.binding.group)
    }

    /// Stores a copy of a former version of another store, with its numbers.
    package func copy(_ former: FormerRow) throws {
        try put(former, change: former.row.change, ended: former.ended)
    }

    /// Removes the copy of a row, and the terms that it may be filed under. Leaves no mark of a deletion.
    package func removeCopy(_ row: RowBinding, filedUnder terms: [Int64]) throws {
        try change("DELETE FROM item WHERE id = ?") { statement in
            try statement.bind(row.rowID, at: 1)
            try statement.run()
        }
        try unfile(row.rowID, from: terms, in: row.group)
    }

    /// Removes the copy of a former version.
    package func removeFormerCopy(_ place: RowState.Place) throws {
        try change("DELETE FROM former WHERE id = ? AND version = ?") { statement in
            try statement.bind(place.row, at: 1)
            try statement.bind(place.version, at: 2)
            try statement.run()
        }
    }

    /// Gives the store, whose copies are complete, what the other store says of itself. The numbers of changes go on
    /// after those of both. A program that asks for changes from an earlier number is told to read everything again,
    /// because marks of deletions name groups under the former keys.
    ///
    /// - Returns: The number of the last change.
    package func completeCopy(of other: ItemStore.Reader) throws -> UInt64 {
        let last = try other.database.integer("SELECT sequence FROM vault WHERE id = 1") ?? 0
        let kept = try other.defaultKept()
        try change("UPDATE vault SET sequence = max(sequence, ?1) + 1, cleared = max(sequence, ?1) + 1 WHERE id = 1") {
            statement in
            try statement.bind(last, at: 1)
            try statement.run()
        }
        try setDefaultKept(kept)
        try copyCircle(of: other.circle)
        return UInt64(clamping: try database.integer("SELECT sequence FROM vault WHERE id = 1") ?? 0)
    }
}
