import Foundation
import GRDB
import KeychainModel
import SystemSQLite
import TestSupport
import Testing
import Vault
import VaultInterface

/// A vault whose item store is a plain database is taken over when it is opened: all of it, or nothing.
@Suite(.serialized) struct StoreConversionTests {
    private let folder: TemporaryFolder
    private let path: String
    private let items = 200

    private static let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/many")

    private var plain: String { path + "/items.db" }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        try restore()
    }

    private func restore() throws { try FolderContents(of: Self.example.path).restore(to: path) }

    /// Turns the store of version 2 into what version 1 would have written.
    private func downgrade() throws {
        let connection = try SQLConnection(plain, .readWrite)
        try connection.execute(
            """
            BEGIN;
            CREATE TABLE term (
                term INTEGER NOT NULL,
                item INTEGER NOT NULL,
                PRIMARY KEY (term, item)
            ) WITHOUT ROWID;
            INSERT INTO term SELECT term, item FROM filing;
            DROP TABLE filing;
            PRAGMA user_version = 1;
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
        try connection.close()
    }

    private func sql<Value: DatabaseValueConvertible>(
        _ sql: String, in store: String, of type: Value.Type
    ) throws -> [Value] {
        let database = try DatabaseQueue(path: store)
        defer { try? database.close() }
        return try database.inDatabase { try Value.fetchAll($0, sql: sql) }
    }

    /// Checks that everything is there and found, in the encrypted store alone.
    private func expectSoundVault(_ place: SourceLocation = #_sourceLocation) throws {
        let vault = try EmbeddedVault.open(at: path)
        let report = try vault.verify(as: .owner)
        #expect(report.problems.isEmpty && report.validItems >= items, sourceLocation: place)
        let found = try vault.items(.password("old", limit: nil))
        #expect(Set(found.map(\.accountName)) == Set((0..<items).map { "\($0)" }), sourceLocation: place)
        #expect(try vault.items(.password("old", "7")).map(\.value) == [Data("value 7".utf8)], sourceLocation: place)
        var shared = ItemQuery(itemClass: .genericPassword, limit: nil)
        shared.accessGroup = "TEAM.shared"
        #expect(try vault.items(shared).count == 10, sourceLocation: place)
        vault.close()
        try expectSoundStore(in: path)
        #expect(!FileManager.default.fileExists(atPath: plain), sourceLocation: place)
    }

    @Test(arguments: [1, 2]) func everyRowAndEveryFilingIsTakenOver(_ version: Int) throws {
        if version == 1 { try downgrade() }
        // The digests, and the attributes that are sealed to them, are renewed.
        let rows = "SELECT hex(id || uuid || seal || data) FROM item"
        let before = try sql(rows, in: plain, of: String.self)
        let filings = try sql(
            version == 2
                ? "SELECT grp || '/' || item FROM filing"
                : "SELECT grp || '/' || item FROM term JOIN item ON item.id = term.item",
            in: plain, of: String.self)
        #expect(before.count == items && filings.count > 3 * items)
        try expectSoundVault()
        let store = try ItemStoreFile.uri(inVault: path)
        #expect(try Set(sql(rows, in: store, of: String.self)) == Set(before))
        let after = try sql("SELECT grp || '/' || item FROM filing", in: store, of: String.self)
        #expect(after.sorted() == filings.sorted())
        try expectSoundVault()
    }

    @Test func programsThatOpenItAtOnce() throws {
        let workers = try (0..<6).map { _ in try Worker(["reopen", path]) }
        for worker in workers {
            #expect(worker.remainingLines() == ["reopened 0"])
            #expect(worker.wait() == 0)
        }
        try expectSoundVault()
    }

    /// Programs of older versions compare the keybag that the store names with their own before each write.
    @Test func aProgramOfAnOlderVersionThatHasItOpenIsStopped() throws {
        let old = try SQLConnection(plain, .readWrite)
        #expect(try old.integer("SELECT keybag <> zeroblob(16) FROM vault") == 1)
        try expectSoundVault()
        #expect(try old.integer("SELECT keybag = zeroblob(16) FROM vault") == 1)
    }

    @Test(arguments: ["CREATE TABLE other (a)", "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END"])
    func aStoreWithOtherTablesStaysAsItIs(_ change: String) throws {
        let connection = try SQLConnection(plain, .readWrite)
        try connection.execute(change)
        try connection.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: plain))
        let error = #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        guard case .corruptVault = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: plain)) == before)
    }

    @Test func aStoreOfAnotherKeybagStaysAsItIs() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: plain))
        let other = folder.path(of: "other")
        try FolderContents(of: Self.example.deletingLastPathComponent().appendingPathComponent("v2").path)
            .restore(to: other)
        for name in ["keybag", "device-secret"] {
            try FileManager.default.removeItem(atPath: path + "/" + name)
            try FileManager.default.copyItem(atPath: other + "/" + name, toPath: path + "/" + name)
        }
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: plain)) == before)
    }

    @Test func anUnknownVersionIsNamed() throws {
        let connection = try SQLConnection(plain, .readWrite)
        try connection.execute("PRAGMA user_version = 99")
        try connection.close()
        let error = #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(error?.description.contains("format version 99") == true)
    }

    /// Once the keybag says that the store is encrypted, nothing leads back to a plain one.
    @Test func aPlainStoreThatIsPutBackIsNotRead() throws {
        let copy = try Data(contentsOf: URL(fileURLWithPath: plain))
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.put(.password("old", "7", "new"), as: .app)
        vault.close()
        try FolderContents.write(copy, to: plain)
        #expect(
            try EmbeddedVault.open(at: path).items(.password("old", "7")).map(\.value) == [Data("new".utf8)])
    }

    /// Killed after the keybag was replaced, a conversion leaves the plain store.
    @Test func aConvertedPlainStoreIsRemoved() throws {
        let copy = try FolderContents(of: path)
        try EmbeddedVault.open(at: path).close()
        try FolderContents.write(#require(copy["items.db"]), to: plain)
        let connection = try SQLConnection(plain, .readWrite)
        try connection.execute("UPDATE vault SET keybag = zeroblob(16)")
        try connection.close()
        try expectSoundVault()
    }

    @Test func withoutRoomTheStoreStaysAsItIs() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: plain))
        let worker = try Worker(["reopen-limited", path, "65536"])
        let lines = worker.remainingLines()
        #expect(worker.wait() == 1)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("error ") == true && lines.first?.contains("item store") == true, "\(lines)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: plain)) == before)
        try expectSoundVault()
    }

    @Test(.enabled(if: ScarceDiskTests.canMount, "this user may not mount a small file system"))
    func onAFullDiskTheErrorSaysSo() throws {
        // Room for the index of the log and a part of the log.
        let script = """
            mkdir "$1/disk" && mount -t tmpfs -o size=800k,mode=0700 tmpfs "$1/disk" && cp -a "$1/vault" "$1/disk" &&
            { dd if=/dev/zero of="$1/disk/rest" bs=4k 2>/dev/null; truncate -s -96K "$1/disk/rest"; } &&
            { "$0" reopen "$1/disk/vault"; cmp "$1/disk/vault/items.db" "$1/vault/items.db" && echo same; } &&
            rm "$1/disk/rest" && "$0" reopen "$1/disk/vault"
            """
        let worker = try Worker(["-rm", "sh", "-c", script, Worker.executable, folder.path], command: "unshare")
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0)
        #expect(lines.first?.hasPrefix("error no space left on the disk for the item store") == true, "\(lines)")
        #expect(lines.dropFirst() == ["same", "reopened 0"], "\(lines)")
    }

    @Test func aKilledConversionLosesNothing() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(10, soak: 200) {
            if round > 0 { try restore() }
            if round % 2 == 1 { try downgrade() }
            let worker = try Worker(["create", path])
            #expect(worker.readLine() == "ready")
            usleep(UInt32.random(in: 0...30_000, using: &random))
            worker.kill()
            worker.wait()
            try expectSoundVault()
            let vault = try EmbeddedVault.open(at: path)
            if try !vault.items(.password("created")).isEmpty {
                #expect(try vault.delete(.password("created"), as: .app) == 1)
            }
            vault.close()
        }
    }
}
