import Foundation
import GRDB
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// A store file as Core Data lays it out, encrypted here and read with GRDB's records.
@Suite struct CoreDataStoreTests {
    /// The tables of Core Data for two entities, `Note` and `Tag`, with a relationship to many in both directions, and
    /// of a subentity, which shares the table of `Note`. The layout is the one that Xcode 15's Core Data makes.
    private static let layout = """
        PRAGMA journal_mode = WAL;
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISDONE INTEGER, ZFOLDER INTEGER,
            ZCREATED TIMESTAMP, ZPRICE DECIMAL, ZNAME VARCHAR, ZDATA BLOB, ZID BLOB);
        CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        CREATE TABLE Z_2TAGS (Z_2NOTES INTEGER, Z_4TAGS INTEGER, PRIMARY KEY (Z_2NOTES, Z_4TAGS));
        CREATE INDEX ZNOTE_ZFOLDER_INDEX ON ZNOTE (ZFOLDER);
        CREATE INDEX Z_2TAGS_Z_4TAGS_INDEX ON Z_2TAGS (Z_4TAGS, Z_2NOTES);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Folder', 0, 1), (2, 'Note', 0, 3), (3, 'Recipe', 2, 0), (4, 'Tag', 0, 2);
        INSERT INTO Z_METADATA VALUES (1, '5A2C7E5E-9C4B-4C64-8B43-6C8F5A2B7D10', x'62706C697374303000');
        INSERT INTO ZFOLDER VALUES (1, 1, 1, 'Home');
        INSERT INTO ZTAG VALUES (1, 4, 1, 'red'), (2, 4, 1, 'blue');
        INSERT INTO ZNOTE VALUES
            (1, 2, 1, 0, 1, 757382400.5, 12.5, 'Milk', x'010102', x'00112233445566778899AABBCCDDEEFF'),
            (2, 2, 3, 1, NULL, NULL, NULL, 'Grüße', NULL, NULL),
            (3, 3, 1, 0, 1, 0, 0.1, 'Bread', x'02' || CAST('9F1B0C2D-0000-4000-8000-000000000001' AS BLOB) || x'00', NULL);
        INSERT INTO Z_2TAGS VALUES (1, 1), (1, 2), (3, 2);
        """

    struct StoredNote: FetchableRecord, TableRecord {
        static let databaseTableName = "ZNOTE"

        let key: Int64
        let name: String
        let created: Date?
        let isDone: Bool
        let id: UUID?
        let folder: Int64?

        init(row: Row) {
            key = row["Z_PK"]
            name = row["ZNAME"]
            created = (row["ZCREATED"] as Double?).map { Date(timeIntervalSinceReferenceDate: $0) }
            isDone = row["ZISDONE"]
            id = row["ZID"]
            folder = row["ZFOLDER"]
        }
    }

    private func tags(of note: StoredNote, _ store: ProtectedDatabase) throws -> [String] {
        try store.read { db in
            let sql = "SELECT ZNAME FROM ZTAG JOIN Z_2TAGS ON Z_4TAGS = Z_PK WHERE Z_2NOTES = ? ORDER BY ZNAME"
            return try String.fetchAll(db, sql: sql, arguments: [note.key])
        }
    }

    @Test func storesAreRead() throws {
        let world = try DatabaseUnderTest()
        let path = world.folder.path(of: "Model.sqlite")
        let made = try ProgramStart(["sqlite3", "-bail", path]).run(input: Data(Self.layout.utf8))
        try #require(made.status == 0, "\(made.errors)")
        try world.keychain.run {
            try ProtectedDatabaseFile(path: path).encrypt()
            var configuration = Configuration()
            configuration.readonly = true
            let store = try ProtectedDatabase(path: path, configuration: configuration, creation: .never)
            let notes = try store.read { db in
                // A subentity's rows are in the table of its parent; Z_PRIMARYKEY has the numbers of entities.
                let entity = try Int.fetchOne(db, sql: "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'")
                return try StoredNote.filter(Column("Z_ENT") == entity).order(Column("Z_PK")).fetchAll(db)
            }
            #expect(notes.map(\.name) == ["Milk", "Grüße"])
            #expect(notes[0].created == Date(timeIntervalSince1970: 978_307_200 + 757_382_400.5))
            #expect(notes[1].created == nil && notes[1].isDone && !notes[0].isDone)
            #expect(notes[0].id == UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
            #expect(notes[0].folder == 1 && notes[1].folder == nil)
            #expect(try tags(of: notes[0], store) == ["blue", "red"])
            #expect(throws: (any Error).self) { try store.write { try $0.execute(sql: "DELETE FROM ZNOTE") } }
            try store.close()
            #expect(try ProtectedDatabaseFile(path: path).problems() == [])
        }
    }

    /// What CoreData.md shows is what ran here.
    @Test func theGuideIsRun() throws {
        let here = URL(filePath: #filePath)
        let guide = Repository.file("Documentation/Use/CoreData.md")
        func words(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }
        let run = words(try String(contentsOf: here, encoding: .utf8))
        let text = try String(contentsOf: guide, encoding: .utf8)
        let blocks = text.components(separatedBy: "```").filter { $0.hasPrefix("swift store\n") }
        #expect(blocks.count == 2)
        for block in blocks { #expect(run.contains(words(block.dropFirst("swift store\n".count))), "\(block)") }
    }
}
