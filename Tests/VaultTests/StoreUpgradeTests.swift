import Foundation
import GRDB
import KeychainModel
import SystemSQLite
import TestSupport
import Testing
import Vault
import VaultInterface

/// A store of version 1 becomes one of version 2 when it is opened: all of it, or nothing.
@Suite(.serialized) struct StoreUpgradeTests {
    private let folder: TemporaryFolder
    private let path: String
    private let items = 200

    /// Makes a vault whose store has version 1.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        let vault = try EmbeddedVault.open(at: path)
        for number in 0..<items {
            var item = NewItem.password("old", "\(number)", "value \(number)")
            item.accessGroup = number < 190 ? "TEAM.app" : "TEAM.shared"
            _ = try vault.add(item, as: .app)
        }
        vault.close()
        try Self.downgrade(path)
    }

    /// Turns the store into what version 1 would have written.
    private static func downgrade(_ path: String) throws {
        let database = try DatabaseQueue(path: path + "/items.db")
        try database.inDatabase { database in
            try database.execute(
                sql: """
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
        }
        try database.close()
    }

    private func sql<Value: DatabaseValueConvertible>(_ sql: String, of type: Value.Type) throws -> [Value] {
        let database = try DatabaseQueue(path: path + "/items.db")
        defer { try? database.close() }
        return try database.inDatabase { try Value.fetchAll($0, sql: sql) }
    }

    private func version() throws -> Int? { try sql("PRAGMA user_version", of: Int.self).first }

    /// Checks that everything is there and found.
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
        #expect(try version() == 2, sourceLocation: place)
    }

    @Test func everyRowIsFiledInItsGroup() throws {
        let before = try sql(
            "SELECT hex(term.term) || grp || '/' || item FROM term JOIN item ON item.id = term.item", of: String.self)
        #expect(before.count > 3 * items)
        try expectSoundVault()
        let after = try sql("SELECT hex(term) || grp || '/' || item FROM filing", of: String.self)
        #expect(Set(before) == Set(after) && before.count == after.count)
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

    /// What a program of version 1 that has the store open does with it later, with statements of its own.
    @Test func aProgramOfTheOldVersionFailsAndChangesNothing() throws {
        let old = try SQLConnection(path + "/items.db", .readWrite)
        old.setBusyTimeout(milliseconds: 10_000)
        let statements = [
            "INSERT OR IGNORE INTO term (term, item) VALUES (?, ?)", "DELETE FROM term WHERE term = ? AND item = ?",
            "DELETE FROM term WHERE item = ?", "DELETE FROM term",
            "SELECT item.id FROM term JOIN item ON item.id = term.item WHERE term.term = ? AND term.item > ?",
        ]
        struct Undo: Error {}
        for sql in statements {
            #expect(throws: Undo.self) {
                try old.transaction {
                    _ = try old.statement(sql).step()
                    throw Undo()
                }
            }
        }
        try expectSoundVault()
        for sql in statements {
            let error = #expect(throws: SQLiteError.self) {
                try old.transaction {
                    try old.execute("UPDATE item SET flags = 0")
                    _ = try old.statement(sql).step()
                }
            }
            #expect(error?.message.contains("no such table") == true)
        }
        // It looks at the version when it opens a store, and before it erases one.
        #expect(try old.integer("PRAGMA user_version") == 2)
        try old.close()
        try expectSoundVault()
    }

    @Test(arguments: ["CREATE TABLE other (a)", "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END"])
    func aStoreWithOtherTablesStaysAsItIs(_ change: String) throws {
        let connection = try SQLConnection(path + "/items.db", .readWrite)
        try connection.execute(change)
        try connection.close()
        let error = #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        guard case .corruptVault = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try version() == 1)
    }

    @Test func aStoreOfAnotherKeybagStaysAsItIs() throws {
        let other = folder.path(of: "other")
        try EmbeddedVault.open(at: other).close()
        for name in ["keybag", "device-secret"] {
            try FileManager.default.removeItem(atPath: path + "/" + name)
            try FileManager.default.copyItem(atPath: other + "/" + name, toPath: path + "/" + name)
        }
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(try version() == 1)
    }

    @Test func anUnknownVersionIsNamed() throws {
        let connection = try SQLConnection(path + "/items.db", .readWrite)
        try connection.execute("PRAGMA user_version = 3")
        try connection.close()
        let error = #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(error?.description.contains("format version 3") == true)
    }

    /// The log reaches its limit within the upgrade: the index of the log takes 32 KiB.
    @Test func withoutRoomTheStoreStaysAsItIs() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: path + "/items.db"))
        let worker = try Worker(["reopen-limited", path, "36864"])
        let lines = worker.remainingLines()
        #expect(worker.wait() == 1)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("error ") == true && lines.first?.contains("items.db") == true, "\(lines)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/items.db")) == before)
        #expect(try version() == 1)
        try expectSoundVault()
    }

    @Test(.enabled(if: ScarceDiskTests.canMount, "this user may not mount a small file system"))
    func onAFullDiskTheErrorSaysSo() throws {
        // Room for the index of the log and a part of the log.
        let script = """
            mkdir "$1/disk" && mount -t tmpfs -o size=600k,mode=0700 tmpfs "$1/disk" && cp -a "$1/vault" "$1/disk" &&
            { dd if=/dev/zero of="$1/disk/rest" bs=4k 2>/dev/null; truncate -s -48K "$1/disk/rest"; } &&
            { "$0" reopen "$1/disk/vault"; cmp "$1/disk/vault/items.db" "$1/vault/items.db" && echo same; } &&
            rm "$1/disk/rest" && "$0" reopen "$1/disk/vault"
            """
        let worker = try Worker(["-rm", "sh", "-c", script, Worker.executable, folder.path], command: "unshare")
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0)
        #expect(lines.first?.hasPrefix("error no space left on the disk for items.db") == true, "\(lines)")
        #expect(lines.dropFirst() == ["same", "reopened 0"], "\(lines)")
    }

    @Test func aKilledUpgradeLeavesTheOldOrTheNew() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(10, soak: 200) {
            if round > 0 { try Self.downgrade(path) }
            let worker = try Worker(["create", path])
            #expect(worker.readLine() == "ready")
            usleep(UInt32.random(in: 0...15_000, using: &random))
            worker.kill()
            worker.wait()
            #expect([1, 2].contains(try version()), "round \(round), seed \(random.seed)")
            try expectSoundVault()
            let vault = try EmbeddedVault.open(at: path)
            if try !vault.items(.password("created")).isEmpty {
                #expect(try vault.delete(.password("created"), as: .app) == 1)
            }
            vault.close()
        }
    }
}
