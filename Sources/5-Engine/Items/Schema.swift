import Access
import Bytes
import FoundationEssentials
import KeychainModel
import Synchronization
import SystemSQLite

/// The tables of the item store. Documentation/Specify/Formats/ItemStore.md specifies them.
enum Schema {
    static let version = 3
    /// "SKIT" as SQLite's application identifier.
    static let applicationID = 0x534B_4954

    /// The tables of each version that this software reads.
    static let tables = [
        1: [plainVault, plainItem, term], 2: [plainVault, plainItem, filing],
        version: present, CircleTables.version: present + CircleTables.all,
    ]

    private static let present = [
        vault, item, itemChange, itemOld, filing, former, formerGroup, formerKey, deletion, trail,
    ]

    /// `owner` is the identifier of the keybag that the rows belong to. `sequence` is the number of the last change,
    /// `cleared` that of the last change that removed all rows, and `keep` how many former versions of an item are kept
    /// that does not say it itself.
    private static let vault =
        """
        CREATE TABLE vault (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            owner BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            cleared INTEGER NOT NULL,
            keep INTEGER NOT NULL
        )
        """

    /// The short columns come first: SQLite reads a row up to the last column that it is asked for.
    private static let item =
        """
        CREATE TABLE item (
            id INTEGER PRIMARY KEY,
            class INTEGER NOT NULL,
            pk BLOB NOT NULL UNIQUE,
            uuid BLOB NOT NULL,
            grp INTEGER NOT NULL,
            pdmn INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            version INTEGER NOT NULL,
            change INTEGER NOT NULL,
            terms BLOB NOT NULL,
            meta BLOB NOT NULL,
            seal BLOB NOT NULL,
            data BLOB NOT NULL
        )
        """

    /// The group comes first, so that changes in one group are a range without those of others.
    private static let itemChange = "CREATE INDEX item_change ON item (grp, change)"

    /// The rows that earlier software wrote, until they get digests under another key.
    private static let itemOld = "CREATE INDEX item_old ON item (id) WHERE version = 0"

    /// Former versions of items. `ended` is the number of the change that ended the version, and `deleted` is 1 if that
    /// deleted the item.
    private static let former =
        """
        CREATE TABLE former (
            id INTEGER NOT NULL,
            class INTEGER NOT NULL,
            pk BLOB NOT NULL,
            uuid BLOB NOT NULL,
            grp INTEGER NOT NULL,
            pdmn INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            version INTEGER NOT NULL,
            change INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            terms BLOB NOT NULL,
            meta BLOB NOT NULL,
            seal BLOB NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (id, version)
        )
        """

    private static let formerGroup = "CREATE INDEX former_group ON former (grp, deleted, id)"

    private static let formerKey = "CREATE INDEX former_key ON former (pk, ended, version)"

    /// Which items left a group, and when. The oldest are dropped.
    private static let deletion =
        """
        CREATE TABLE deletion (
            grp INTEGER NOT NULL,
            change INTEGER NOT NULL,
            uuid BLOB NOT NULL,
            class INTEGER NOT NULL,
            PRIMARY KEY (grp, change, uuid)
        ) WITHOUT ROWID
        """

    /// How many deletions of a group are known, and the number of the last change of which one was dropped.
    private static let trail =
        """
        CREATE TABLE trail (
            grp INTEGER PRIMARY KEY,
            marks INTEGER NOT NULL,
            dropped INTEGER NOT NULL
        )
        """

    // MARK: Tables of older versions

    private static let plainVault =
        """
        CREATE TABLE vault (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            keybag BLOB NOT NULL
        )
        """

    private static let plainItem =
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
        """

    private static let term =
        """
        CREATE TABLE term (
            term INTEGER NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (term, item)
        ) WITHOUT ROWID
        """

    /// The group comes first, so that a search for a term in one group never compares it with terms of another.
    private static let filing =
        """
        CREATE TABLE filing (
            grp INTEGER NOT NULL,
            term INTEGER NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (grp, term, item)
        ) WITHOUT ROWID
        """

    /// Creates the tables of a store whose rows will belong to `keybag`, in a transaction.
    ///
    /// - Parameter sequence: The number of the last change before, from which on all rows are gone.
    static func create(in database: SQLConnection, for keybag: UUID, after sequence: UInt64 = 0) throws {
        for statement in tables[version] ?? [] { try database.execute(statement) }
        let statement = try database.prepare(
            "INSERT INTO vault (id, owner, sequence, cleared, keep) VALUES (1, ?1, ?2, ?2, 0)")
        try statement.bind(keybag.bytes, at: 1)
        try statement.bind(Int64(clamping: sequence), at: 2)
        try statement.run()
        try database.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    static func version(of database: SQLConnection) throws -> Int {
        Int(try database.integer("PRAGMA user_version") ?? 0)
    }

    /// Returns the keybag of the rows, and the number of the last change; 0 in older versions.
    static func vault(in database: SQLConnection) throws -> (owner: UUID?, sequence: Int64) {
        // The column of the keybag has another name in older versions, and is the second in all.
        let statement = try database.statement("SELECT * FROM vault WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step() else { return (nil, 0) }
        return (statement.withBlob(1) { UUID(bytes: $0) } ?? nil, statement.integer(2) ?? 0)
    }

    /// Compares the schema as text. An unknown table, index, view or trigger means that another program wrote to the
    /// file.
    static func check(_ database: SQLConnection) throws {
        let version = try version(of: database)
        guard let tables = tables[version] else { throw StoreError.unknownFormat(version) }
        let found = try database.texts("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        guard found == tables else { throw StoreError.corrupt(reason: "the tables are not those of a vault") }
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
    ///
    /// - Parameter sequence: The number of the last change of the store that this one takes the place of; 0 for none.
    package func create(for keybag: UUID, after sequence: UInt64 = 0) throws(StoreError) {
        do {
            try file.explaining { try writer.transaction { try Schema.create(in: $0, for: keybag, after: sequence) } }
        } catch {
            throw StoreError(error)
        }
    }

    /// Looks at the start of a plain file before anything is written: an empty file or some other program's database
    /// would get a log of its own. An encrypted file says at the first page that it is a store.
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

    /// Checks that this is a store in a known format, of this version or an older one.
    ///
    /// - Returns: The keybag of its rows.
    package func check() throws(StoreError) -> UUID { try reading(Self.checkedVault).owner }

    /// What a program has to know of a store before it uses it.
    package struct Standing: Sendable {
        /// The keybag of the rows.
        package var owner: UUID
        /// The number of the last change.
        package var sequence: UInt64
    }

    /// Checks what ``check()`` does, of a store in the present format, in one read transaction.
    package func standing() throws(StoreError) -> Standing {
        try reading { database in
            let (owner, sequence) = try Self.checkedVault(database)
            let reader = Reader(database: database, keybag: nil, floor: 0, newest: nil)
            hadOldRows.store(try !reader.oldRows(after: .min, limit: 1).isEmpty, ordering: .relaxed)
            return Standing(owner: owner, sequence: try Self.checked(sequence))
        }
    }

    /// Returns the number of the last change.
    package func sequence() throws(StoreError) -> UInt64 {
        try reading { try Self.checked(Schema.vault(in: $0).sequence) }
    }

    /// Runs `body` in a read transaction. Without one, SQLite would take and release its locks for each statement.
    private func reading<Result>(_ body: (SQLConnection) throws -> Result) throws(StoreError) -> Result {
        do {
            return try withConnection { database in try database.reading { try body(database) } }
        } catch {
            throw StoreError(error)
        }
    }

    private static func checkedVault(_ database: SQLConnection) throws -> (owner: UUID, sequence: Int64) {
        guard try database.integer("PRAGMA application_id") == Int64(Schema.applicationID) else {
            throw StoreError.corrupt(reason: "not an item store")
        }
        try Schema.check(database)
        let (owner, sequence) = try Schema.vault(in: database)
        guard let owner else { throw StoreError.corrupt(reason: "the store names no keybag") }
        return (owner, sequence)
    }

    private static func checked(_ sequence: Int64) throws(StoreError) -> UInt64 {
        guard let number = UInt64(exactly: sequence) else {
            throw .corrupt(reason: "the store does not say how far it has come")
        }
        return number
    }

    /// Returns whether there are no rows at all, not even tombstones.
    package func isWithoutRows() throws(StoreError) -> Bool {
        do {
            return try withConnection { try $0.integer("SELECT EXISTS (SELECT 1 FROM item)") == 0 }
        } catch {
            throw StoreError(error)
        }
    }

    /// Returns the number of rows of each class, without tombstones and rows without a class, which only a check of all
    /// rows reports.
    ///
    /// - Parameter listings: Counts only rows that are filed under these, by their class, and visits no others; nil to
    ///   count all rows.
    package func counts(
        for authorization: Authorization, filedUnder listings: [ItemClass: [Filing]]?
    ) throws(StoreError) -> [ItemClass: Int] {
        do {
            return try read(for: authorization) { reader in
                guard let listings else { return try reader.counts() }
                var counts: [ItemClass: Int] = [:]
                for (itemClass, filings) in listings {
                    let count = try filings.reduce(0) { try $0 + reader.count(filedUnder: $1) }
                    if count > 0 { counts[itemClass] = count }
                }
                return counts
            }
        } catch {
            throw StoreError(error)
        }
    }
}

extension ItemStore.Reader {
    static let liveRows = """
        SELECT count(*) FROM filing JOIN item ON item.id = filing.item \
        WHERE filing.grp = ? AND filing.term = ? AND flags & 2 = 0
        """

    fileprivate func count(filedUnder filing: Filing) throws -> Int {
        let statement = try database.statement(Self.liveRows)
        defer { statement.reset() }
        try statement.bind(filing.group, at: 1)
        try statement.bind(filing.term, at: 2)
        return try statement.step() ? statement.integer(0).flatMap(Int.init(exactly:)) ?? 0 : 0
    }

    /// Returns the number of rows of each class in the classes of protection that `isCounted` accepts. Reads stores of
    /// older versions, too.
    package func counts(where isCounted: (ProtectionClass) -> Bool) throws -> [ItemClass: Int] {
        if keybag != nil { try checkVault() }
        let rows = try database.statement("SELECT class, pdmn, count(*) FROM item GROUP BY class, pdmn")
        defer { rows.reset() }
        var counts: [ItemClass: Int] = [:]
        while try rows.step() {
            guard let itemClass = rows.integer(0).flatMap(UInt8.init(exactly:)).flatMap(ItemClass.init(storedCode:)),
                let protection = rows.integer(1).flatMap(UInt8.init(exactly:)).flatMap(
                    ProtectionClass.init(storedCode:)),
                isCounted(protection), let count = rows.integer(2).flatMap(Int.init(exactly:))
            else { continue }
            counts[itemClass, default: 0] += count
        }
        return counts
    }

    fileprivate func counts() throws -> [ItemClass: Int] {
        var counts: [ItemClass: Int] = [:]
        let rows = try database.statement("SELECT class, count(*) FROM item WHERE flags & 2 = 0 GROUP BY class")
        defer { rows.reset() }
        while try rows.step() {
            guard let code = rows.integer(0).flatMap(UInt8.init(exactly:)),
                let itemClass = ItemClass(storedCode: code), let count = rows.integer(1).flatMap(Int.init(exactly:))
            else { continue }
            counts[itemClass, default: 0] += count
        }
        return counts
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
