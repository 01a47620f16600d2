import DataProtection
import Foundation
import GRDB
import Glibc
import KeychainTesting
import ProcessVault
import ProtectedDatabase
import TestSupport
import Testing
import VaultInterface

/// Encrypting, decrypting, and changing keys and classes.
@Suite struct ConversionTests {
    @Test(arguments: [false, true]) func thereAndBack(wal: Bool) throws {
        let world = try DatabaseUnderTest()
        try world.makePlain(wal: wal)
        chmod(world.path, 0o640)
        try world.keychain.run {
            var steps: [ProtectedDatabaseFile.Progress] = []
            try world.file.encrypt(key: .keychain(.complete)) {
                steps.append($0)
                return true
            }
            #expect(steps.last.map { $0.done == $0.total && $0.total > 0 } == true)
            #expect(try world.bytes().range(of: Data(Notes.canary.utf8)) == nil)
            #expect(throws: ProtectedDatabaseError(.alreadyEncrypted, message: "")) { try world.file.encrypt() }
            var information = stat()
            #expect(stat(world.path, &information) == 0 && information.st_mode & 0o777 == 0o640)
            let first = try world.file.info()
            try use(world, expecting: 500)

            try world.file.changeKey()
            let second = try world.file.info()
            #expect(first.identifier != second.identifier)
            #expect(second.key?.protection == .complete)
            try use(world, expecting: 501)
            let names = try world.names.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }
            #expect(names.map { ($0 as NSString).pathExtension } == ["db", "pages"], "\(names)")

            try world.file.decrypt()
            #expect(try world.names == ["app.db"])
            #expect(throws: ProtectedDatabaseError(.notEncrypted, message: "")) { try world.file.decrypt() }
            let plain = try DatabaseQueue(path: world.path)
            #expect(try plain.read(Notes.count) == 502)
            try plain.read(Notes.check)
            try plain.close()
        }
    }

    private func use(_ world: DatabaseUnderTest, expecting count: Int) throws {
        let database = try ProtectedDatabase(path: world.path, creation: .never)
        #expect(try database.read(Notes.count) == count)
        try database.read(Notes.check)
        try database.write { try Notes.fill($0, 1) }
        try database.close()
    }

    @Test func implicitRowNumbersAndSettingsStay() throws {
        let world = try DatabaseUnderTest()
        let plain = try DatabaseQueue(path: world.path)
        try plain.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA auto_vacuum = FULL; PRAGMA user_version = 7; PRAGMA application_id = 77; VACUUM;
                    CREATE TABLE loose (text TEXT); INSERT INTO loose (rowid, text) VALUES (5, 'five'), (900, 'nine hundred');
                    CREATE VIRTUAL TABLE search USING fts5 (text); INSERT INTO search VALUES ('words to be found');
                    CREATE TABLE kept (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT) STRICT;
                    INSERT INTO kept (text) VALUES ('one'), ('two'); DELETE FROM kept;
                    """)
        }
        try plain.close()
        try world.keychain.run {
            try world.file.encrypt()
            try world.file.changeKey(to: .file())
            let database = try ProtectedDatabase(path: world.path, creation: .never)
            try database.write { db in
                #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM loose ORDER BY rowid") == [5, 900])
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 7)
                #expect(try Int.fetchOne(db, sql: "PRAGMA application_id") == 77)
                #expect(try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 1)
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM search WHERE search MATCH 'found'") == 1)
                try db.execute(sql: "INSERT INTO kept (text) VALUES ('three')")
                #expect(db.lastInsertedRowID == 3)
                try Notes.check(db)
            }
            try database.close()
        }
    }

    @Test func classesAndPlaces() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            try world.file.create()
            let database = try ProtectedDatabase(path: world.path)
            try database.write { try Notes.fill($0, 5) }
            try database.close()
            let id = try world.file.info().identifier
            let steps: [(DatabaseKeyStorage, ProtectedDatabaseFile.KeyInfo.Place, FileProtectionType)] = try [
                (.keychain(.complete), .keychain, .complete),
                (.keychain(.completeUnlessOpen), .keychain, .completeUnlessOpen),
                (.enclave(.complete), .enclave, .complete), (.file(.complete), .file, .complete),
                (.file(FileProtectionType.none), .file, FileProtectionType.none),
                (.enclave(), .enclave, .completeUntilFirstUserAuthentication),
                (.keychain(FileProtectionType.none), .keychain, FileProtectionType.none),
            ]
            for (storage, place, protection) in steps {
                try world.file.setKeyStorage(storage)
                let info = try world.file.info()
                #expect(info.key?.place == place && info.key?.protection == protection && info.identifier == id)
                let database = try ProtectedDatabase(path: world.path, creation: .never)
                #expect(try database.read(Notes.count) == 5)
                try database.close()
            }
            let names = try world.names.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }
            #expect(names.map { ($0 as NSString).pathExtension } == ["db", "pages"], "\(names)")
        }
    }

    /// After the vault's class keys were renewed. A program reads and writes meanwhile.
    @Test func aKeyInAFileIsWrappedAnew() throws {
        let world = try DatabaseUnderTest()
        let renewed = RenewedVault(world.keychain)
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .file(.complete))
            try database.write { try Notes.fill($0, 5) }
            let info = try world.file.info()
            let key = URL(filePath: "\(world.path)-\(try #require(info.identifier)).key")
            let before = try Data(contentsOf: key)
            // Before that, there is nothing to do.
            #expect(try world.file.rewrapKey() == false)
            try database.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM note WHERE id = 1")
                #expect(try VaultSession.$override.withValue(renewed) { try world.file.rewrapKey() } == true)
                try db.execute(sql: "COMMIT")
            }
            let after = try Data(contentsOf: key)
            #expect(after.prefix(4096) != before.prefix(4096) && after.dropFirst(4096) == before.dropFirst(4096))
            #expect(throws: (any Error).self) { try ProtectedFile(key).data() }
            try database.write { try Notes.fill($0, 5) }
            try database.close()
            try VaultSession.$override.withValue(renewed) {
                #expect(try world.file.rewrapKey() == false)
                let database = try ProtectedDatabase(path: world.path, creation: .never)
                #expect(try database.read(Notes.count) == 9)
                try database.read(Notes.check)
                try database.close()
                let found = try world.file.info()
                #expect(found.key?.protection == .complete && found.identifier == info.identifier)
                world.keychain.lock()
                #expect(throws: ProtectedDatabaseError(.locked, message: "")) { try world.file.rewrapKey() }
            }
            #expect(try Data(contentsOf: key) == after)
        }
    }

    /// Keys in items are sealed anew with the other items.
    @Test func keysInItemsAreLeftAlone() throws {
        for storage in try [DatabaseKeyStorage.keychain(.complete), .enclave()] {
            let world = try DatabaseUnderTest()
            try world.keychain.run {
                try world.file.create(key: storage)
                #expect(try world.file.rewrapKey() == nil)
                try world.file.decrypt()
                #expect(throws: ProtectedDatabaseError(.notEncrypted, message: "")) { try world.file.rewrapKey() }
            }
        }
    }

    @Test func canceledAndBusy() throws {
        let world = try DatabaseUnderTest()
        try world.makePlain(20_000)
        try world.keychain.run {
            let before = try world.bytes()
            #expect(throws: ProtectedDatabaseError(.taskCanceled, message: "")) {
                try world.file.encrypt { _ in false }
            }
            #expect(try world.bytes() == before)
            // Somebody is in the middle of reading.
            let other = try DatabaseQueue(path: world.path)
            try other.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN; SELECT count(*) FROM note")
                #expect(throws: ProtectedDatabaseError(.busy, message: "")) { try world.file.encrypt() }
                try db.execute(sql: "COMMIT")
            }
            try other.close()
            #expect(try world.bytes() == before)
            try world.file.encrypt()
        }
    }

    /// Who has the former database open, without being in the middle of anything, reads what it was and writes nothing
    /// more.
    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "WAL"]) func nobodyWritesToTheFormerOne(journal: String) throws {
        let world = try DatabaseUnderTest()
        try world.makePlain(50)
        try world.keychain.run {
            let other = try DatabaseQueue(path: world.path)
            try other.writeWithoutTransaction { db in
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(journal)")
                try Notes.fill(db, 1)
            }
            #expect(try other.read(Notes.count) == 51)
            guard journal != "WAL" else {
                #expect(throws: ProtectedDatabaseError(.busy, message: "")) { try world.file.encrypt() }
                try other.write { try Notes.fill($0, 1) }
                return try other.close()
            }
            try world.file.encrypt()
            #expect(try other.read(Notes.count) == 51)
            #expect(throws: DatabaseError.self) { try other.write { try Notes.fill($0, 1) } }
            try other.close()
            #expect(try world.names.allSatisfy { !$0.hasSuffix("-journal") })
            let database = try ProtectedDatabase(path: world.path, creation: .never)
            #expect(try database.read(Notes.count) == 51)
            try database.close()
        }
    }
}
