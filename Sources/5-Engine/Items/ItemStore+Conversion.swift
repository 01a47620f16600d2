import Bytes
import DatabaseVFS
import FoundationEssentials
import SystemSQLite

extension ItemStore {
    /// What a plain store names as its keybag once its rows are in an encrypted store. Programs of older versions
    /// refuse it, and write nothing to it any more.
    package static let convertedOwner = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// Copies the rows of this plain store of the format before into a new encrypted one, and compares the two. Then
    /// marks this one as converted; its rows stay.
    ///
    /// Nobody else can write to this store meanwhile. After a failure, or a kill at any moment before the mark, this
    /// store is as it was, and the other one is to be removed.
    ///
    /// - Parameters:
    ///   - path: An empty file.
    ///   - keybag: The keybag of the rows.
    ///   - progress: Receives how many rows are copied, and how many there are, from time to time.
    package func convert(
        to path: String, key: SecretBytes, of keybag: UUID, progress: (_ done: Int, _ all: Int) -> Void
    ) throws(StoreError) {
        do {
            guard case .plain(let source) = file else { throw StoreError.corrupt(reason: "it is converted already") }
            let conversion = try StoreConversion(from: source, to: path, key: key)
            try writer.transaction { plain in
                try Schema.check(plain)
                try conversion.copy(Schema.version(of: plain), keybag, progress)
                try conversion.compare()
                let statement = try plain.prepare("UPDATE vault SET keybag = ? WHERE id = 1")
                try statement.bind(Self.convertedOwner.bytes, at: 1)
                try statement.run()
            }
        } catch {
            throw StoreError(error)
        }
    }
}

/// A connection to a new encrypted store, which also reads the plain one.
private struct StoreConversion {
    private let file: StoreFile
    private let source: DatabaseRegistration
    private let database: SQLConnection

    private static let rowsAtOnce: Int64 = 4_096
    private static let columns = "id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data"

    init(from plain: String, to path: String, key: SecretBytes) throws {
        file = try .encrypted(path, key: key)
        do throws(RegistrationError) {
            source = try EncryptingVFS.registerPlain(path: plain)
        } catch {
            throw StoreError.inputOutput(reason: error.description)
        }
        database = try ItemStore.writing(file)
        try ItemStore.startLog(database)
        // Pages that do not fit would be sealed again and again.
        try database.execute("PRAGMA cache_size = -262144")
        let statement = try database.prepare("ATTACH ? AS plain")
        // Without the right to write, so that a transaction here does not wait for the one that keeps writers away.
        try statement.bind(EncryptingVFS.uri(path: source.path, parameters: "mode=ro"), at: 1)
        try statement.run()
    }

    func copy(_ version: Int, _ keybag: UUID, _ progress: (Int, Int) -> Void) throws {
        try file.explaining {
            let all = Int(try database.integer("SELECT count(*) FROM plain.item") ?? 0)
            try database.transaction {
                try Schema.create(in: database, for: keybag)
                var (done, next) = (0, Int64?.some(.min))
                while let first = next {
                    progress(done, all)
                    let statement = try database.statement(
                        """
                        INSERT INTO main.item (\(Self.columns), version, change)
                        SELECT \(Self.columns), 0, 1 FROM plain.item WHERE id >= ? ORDER BY id LIMIT \(Self.rowsAtOnce)
                        """)
                    try statement.bind(first, at: 1)
                    try statement.run()
                    let last = try database.integer("SELECT max(id) FROM main.item")
                    let copied = Int(try database.integer("SELECT changes()") ?? 0)
                    done += copied
                    next = copied > 0 && done < all ? last.flatMap { $0 == .max ? nil : $0 + 1 } : nil
                }
                try database.execute(version == 1 ? Self.filingsOfVersion1 : Self.filings)
                try database.execute("UPDATE main.vault SET sequence = 1")
                progress(all, all)
            }
        }
    }

    private static let filings = "INSERT INTO main.filing SELECT grp, term, item FROM plain.filing"
    private static let filingsOfVersion1 = """
        INSERT OR IGNORE INTO main.filing (grp, term, item)
        SELECT item.grp, term.term, term.item FROM plain.term JOIN plain.item ON item.id = term.item
        """

    /// Makes sure that every row of the plain store is in the other one.
    func compare() throws {
        let same = columns.map { "copy.\($0) IS row.\($0)" }.joined(separator: " AND ")
        let missing = try file.explaining {
            try database.integer(
                """
                SELECT count(*) FROM plain.item AS row
                WHERE NOT EXISTS (SELECT 1 FROM main.item AS copy WHERE copy.id = row.id AND \(same))
                """)
        }
        guard missing == 0 else { throw StoreError.inputOutput(reason: "rows are not what was written") }
    }

    private var columns: [Substring] { Self.columns.split(separator: ",").map { $0.drop { $0 == " " } } }
}
