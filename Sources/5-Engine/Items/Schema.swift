import Access
import FoundationEssentials
import KeychainModel
import SystemSQLite

/// The tables of the item store. Documentation/Formats.md specifies them.
enum Schema {
    static let version = 1
    /// "SKIT" as SQLite's application identifier.
    static let applicationID = 0x534B_4954

    static let statements = [
        """
        CREATE TABLE vault (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            keybag BLOB NOT NULL
        )
        """,
        """
        CREATE TABLE item (
            id INTEGER PRIMARY KEY,
            class INTEGER NOT NULL,
            pk BLOB NOT NULL UNIQUE,
            uuid BLOB NOT NULL,
            grp INTEGER NOT NULL,
            pdmn INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            terms BLOB NOT NULL,
            meta BLOB NOT NULL,
            seal BLOB NOT NULL,
            data BLOB NOT NULL
        )
        """,
        """
        CREATE TABLE term (
            term INTEGER NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (term, item)
        ) WITHOUT ROWID
        """,
    ]

    static func keybagIdentifier(in database: SQLConnection) throws -> UUID? {
        let statement = try database.statement("SELECT keybag FROM vault WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return statement.withBlob(0) { UUID(bytes: $0) } ?? nil
    }

    /// Compares the schema as text. An unknown table, index, view or trigger means that another program wrote to the
    /// file.
    static func check(_ database: SQLConnection) throws {
        let found = try database.texts("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        guard found == statements else { throw StoreError.corrupt(reason: "the tables are not those of a vault") }
    }
}

extension ItemStore {
    /// Returns whether the store has no tables.
    package func isEmptyFile() throws(StoreError) -> Bool {
        do {
            return try withConnection { try $0.integer("SELECT count(*) FROM sqlite_master") == 0 }
        } catch {
            throw StoreError(error)
        }
    }

    /// Creates the tables of a new store whose rows will belong to `keybag`.
    package func create(for keybag: UUID) throws(StoreError) {
        do {
            try writer.transaction { database in
                for statement in Schema.statements { try database.execute(statement) }
                let statement = try database.prepare("INSERT INTO vault (id, keybag) VALUES (1, ?)")
                try statement.bind(keybag.bytes, at: 1)
                try statement.run()
                try database.execute(
                    "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.version)")
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Looks at the start of the file before anything is written: an empty file or some other program's database would
    /// get a log of its own.
    package func checkHeader() throws(StoreError) {
        do {
            // The magic of SQLite 3 files, the page size, and 2 and 2 for a database that is written to through a log
            // (SQLite, "Database File Format", section 1.3).
            let header = try withConnection { try $0.start(20) }
            guard header.starts(with: "SQLite format 3\0".utf8), header[18] == 2, header[19] == 2 else {
                throw StoreError.corrupt(reason: "not an item store")
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Checks that this is a store in a known format.
    ///
    /// - Returns: The keybag of its rows.
    package func check() throws(StoreError) -> UUID {
        do {
            return try withConnection { database in
                guard try database.integer("PRAGMA application_id") == Int64(Schema.applicationID) else {
                    throw StoreError.corrupt(reason: "not an item store")
                }
                let version = try database.integer("PRAGMA user_version") ?? 0
                guard version == Schema.version else { throw StoreError.unknownFormat(Int(version)) }
                try Schema.check(database)
                guard let keybag = try Schema.keybagIdentifier(in: database) else {
                    throw StoreError.corrupt(reason: "the store names no keybag")
                }
                return keybag
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Returns whether there are no rows at all, not even tombstones.
    package func isWithoutRows() throws(StoreError) -> Bool {
        do {
            return try withConnection { try $0.integer("SELECT EXISTS (SELECT 1 FROM item)") == 0 }
        } catch {
            throw StoreError(error)
        }
    }

    /// Returns the number of rows of each class in the groups with these digests, without tombstones and rows without a
    /// class, which only a check of all rows reports.
    package func counts(
        for authorization: Authorization, inGroups groups: [Int64]?
    ) throws(StoreError) -> [ItemClass: Int] {
        do {
            return try read(for: authorization) { reader in
                var counts: [ItemClass: Int] = [:]
                let rows = try reader.database.statement(
                    "SELECT class, grp, count(*) FROM item WHERE flags & 2 = 0 GROUP BY class, grp")
                defer { rows.reset() }
                while try rows.step() {
                    guard let code = rows.integer(0).flatMap(UInt8.init(exactly:)),
                        let itemClass = ItemClass(storedCode: code), let group = rows.integer(1),
                        let count = rows.integer(2).flatMap(Int.init(exactly:))
                    else { continue }
                    if groups.map({ $0.contains(group) }) ?? true { counts[itemClass, default: 0] += count }
                }
                return counts
            }
        } catch {
            throw StoreError(error)
        }
    }
}

extension SQLConnection {
    /// Returns the texts in the first column of the rows of `sql`.
    func texts(_ sql: String) throws -> [String] {
        let statement = try statement(sql)
        defer { statement.reset() }
        var texts: [String] = []
        while try statement.step() {
            guard let text = statement.text(0) else { throw StoreError.corrupt(reason: "a column holds no text") }
            texts.append(text)
        }
        return texts
    }
}
