import DataProtection
import Dispatch
import Foundation
import GRDB
import Glibc
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// What somebody can do who may write to a database's folder, and what a conversion may find there.
@Suite struct HostileFolderTests {
    private func make(_ world: DatabaseUnderTest, _ name: String = "app.db", _ count: Int = 10) throws {
        let database = try ProtectedDatabase(path: world.folder.path(of: name))
        try database.write { try Notes.fill($0, count) }
        try database.close()
    }

    private func expect(_ count: Int, at path: String) throws {
        let database = try ProtectedDatabase(path: path, creation: .never)
        #expect(try database.read(Notes.count) == count)
        try database.read(Notes.check)
        try database.close()
    }

    /// Files that look like an unfinished database with the id of one that is in use.
    @Test(arguments: [".new", ".new.lock", ".plain", ".plain.lock"]) func plantedLeftovers(_ ending: String) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            try make(world)
            let id = try #require(try world.file.info().identifier)
            // Beside another database, and beside itself.
            try Data("planted".utf8).write(to: URL(filePath: world.folder.path(of: "other.db-\(id)\(ending)")))
            try make(world, "other.db")
            try expect(10, at: world.path)
            try Data("planted".utf8).write(to: URL(filePath: world.path + "-\(id)\(ending)"))
            try world.file.changeKey()
            try expect(10, at: world.path)
            try expect(10, at: world.folder.path(of: "other.db"))
        }
    }

    /// Somebody decrypted and was killed: the copy in the clear goes with the next conversion.
    @Test func leftoversInTheClear() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            try make(world)
            let id = try #require(try world.file.info().identifier)
            try Data(Notes.canary.utf8).write(to: URL(filePath: world.path + "-\(id).plain"))
            try world.file.changeKey()
            #expect(try world.bytes().range(of: Data(Notes.canary.utf8)) == nil)
        }
    }

    /// What a link leads to is converted, not the link.
    @Test func linksToDatabases() throws {
        let world = try DatabaseUnderTest()
        try world.makePlain(10)
        let link = world.folder.path(of: "link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "app.db")
        try world.keychain.run {
            let file = ProtectedDatabaseFile(path: link)
            try file.encrypt(key: .file())
            #expect(try world.bytes().range(of: Data(Notes.canary.utf8)) == nil)
            try expect(10, at: world.path)
            try expect(10, at: link)
            try file.changeKey(to: .keychain())
            try expect(10, at: world.path)
            try expect(10, at: link)
            try file.setKeyStorage(.file())
            try expect(10, at: world.path)
            try file.decrypt()
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "app.db")
            let plain = try DatabaseQueue(path: world.path)
            #expect(try plain.read(Notes.count) == 10)
            try plain.close()
        }
    }

    /// Another name of the file would keep what is in the clear.
    @Test func otherNamesOfAPlainDatabase() throws {
        let world = try DatabaseUnderTest()
        try world.makePlain(10)
        try #require(link(world.path, world.folder.path(of: "other.db")) == 0)
        try world.keychain.run {
            #expect(throws: ProtectedDatabaseError(.invalidRequest, message: "")) { try world.file.encrypt() }
            unlink(world.folder.path(of: "other.db"))
            try world.file.encrypt()
            try expect(10, at: world.path)
        }
    }

    /// SQLite leaves a journal in the clear beside the file in these modes.
    @Test(arguments: ["PERSIST", "TRUNCATE"]) func journalsThatStay(_ mode: String) throws {
        let world = try DatabaseUnderTest()
        let plain = try DatabaseQueue(path: world.path)
        try plain.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)")
            try Notes.fill(db, 10)
            try db.execute(sql: "UPDATE note SET text = text || '.'")
        }
        try plain.close()
        try #require(FileManager.default.fileExists(atPath: world.path + "-journal"))
        try world.keychain.run {
            try world.file.encrypt()
            #expect(try world.bytes().range(of: Data(Notes.canary.utf8)) == nil)
            try expect(10, at: world.path)
        }
    }

    @Test func emptyFiles() throws {
        let world = try DatabaseUnderTest()
        try Data().write(to: URL(filePath: world.path))
        try world.keychain.run {
            try world.file.encrypt()
            try expect(0, at: world.path, table: false)
        }
    }

    private func expect(_: Int, at path: String, table: Bool) throws {
        let database = try ProtectedDatabase(path: path, creation: .never)
        try database.write { try Notes.fill($0, 3) }
        #expect(try database.read(Notes.count) == 3)
        try database.close()
    }

    /// Pipes, folders and devices in the place of each file: an error, and at once.
    @Test(arguments: ["", "-wal", "-shm", "-journal", "pages", "key"], ["pipe", "folder", "device"])
    func otherThingsThanFiles(_ ending: String, _ thing: String) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            try world.file.create(key: ending == "key" ? .file() : nil)
            let id = try #require(try world.file.info().identifier)
            let name = world.path + (ending == "pages" || ending == "key" ? "-\(id).\(ending)" : ending)
            unlink(name)
            switch thing {
            case "pipe": try #require(mkfifo(name, 0o600) == 0)
            case "folder": try #require(mkdir(name, 0o700) == 0)
            default: try #require(symlink("/dev/full", name) == 0)
            }
            withDeadline("a \(thing) in the place of '\(ending)'") {
                #expect(throws: (any Error).self) {
                    let database = try ProtectedDatabase(path: world.path, connections: .queue, creation: .never)
                    try database.write { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
                    try database.write { try Notes.fill($0, 1) }
                    try database.close()
                    // SQLite goes on without some of them.
                    throw ProtectedDatabaseError(.closed, message: "")
                }
                _ = try? ProtectedDatabaseFile(path: world.path).problems()
                _ = try? ProtectedDatabaseFile(path: world.path).info()
            }
        }
    }

    /// Two that convert at once: one of them does, and nothing that was written afterwards is lost.
    @Test func conversionsAtTheSameTime() throws {
        for _ in 0..<TestScale.count(3, soak: 100) {
            let world = try DatabaseUnderTest()
            try world.makePlain(2_000)
            let keychain = world.keychain
            let codes = Collected<String>()
            DispatchQueue.concurrentPerform(iterations: 3) { _ in
                do {
                    try keychain.run { try ProtectedDatabaseFile(path: world.path).encrypt() }
                    codes.append("encrypted")
                    // In this process the name is the plain file's for as long as one of the others has it open.
                    try eventually("the new database opens") {
                        do {
                            try keychain.run {
                                let database = try ProtectedDatabase(path: world.path, creation: .never)
                                try database.write { try Notes.fill($0, 7) }
                                try database.close()
                            }
                            return true
                        } catch ProtectedDatabaseError.Code.busy {
                            return false
                        }
                    }
                } catch {
                    codes.append((error as? ProtectedDatabaseError)?.code.description ?? "\(error)")
                }
            }
            #expect(codes.all.filter { $0 == "encrypted" }.count == 1, "\(codes.all)")
            #expect(codes.all.allSatisfy { ["encrypted", "busy", "alreadyEncrypted"].contains($0) }, "\(codes.all)")
            try world.keychain.run { try expect(2_007, at: world.path) }
            let names = try world.names.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }
            #expect(names.map { ($0 as NSString).pathExtension } == ["db", "pages"], "\(names)")
        }
    }

    /// One of those that were asked to keep the key elsewhere does so, and the key is never lost.
    @Test func classesAtTheSameTime() throws {
        let world = try DatabaseUnderTest()
        let keychain = world.keychain
        try keychain.run { try make(world) }
        for _ in 0..<TestScale.count(5, soak: 200) {
            let errors = Collected<String>()
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                do {
                    try keychain.run {
                        try ProtectedDatabaseFile(path: world.path).setKeyStorage(
                            number % 3 == 0 ? .file() : number % 3 == 1 ? .enclave() : .keychain())
                    }
                } catch {
                    errors.append((error as? ProtectedDatabaseError)?.code.description ?? "\(error)")
                }
            }
            #expect(errors.all.allSatisfy { $0 == "busy" }, "\(errors.all)")
            try keychain.run { try expect(10, at: world.path) }
        }
        let names = try world.names.filter { $0.contains("lock") || $0.contains("move") }
        #expect(names.isEmpty)
    }

    /// Characters that mean something in a URI, or in a path.
    @Test(arguments: ["a?b=c&vfs=unix", "100%25 #1", "ü 💾", "a//b", "-wal", "x'y\"z"]) func oddNames(_ name: String)
        throws
    {
        let world = try DatabaseUnderTest()
        mkdir(world.folder.path(of: "a"), 0o700)
        try world.keychain.run {
            let path = world.folder.path(of: name)
            try make(world, name)
            try ProtectedDatabaseFile(path: path).changeKey(to: .file())
            try ProtectedDatabaseFile(path: path).setKeyStorage(.keychain())
            try expect(10, at: path)
            try ProtectedDatabaseFile(path: path).decrypt()
            try ProtectedDatabaseFile(path: path).encrypt()
            try expect(10, at: path)
            try ProtectedDatabaseFile(path: path).remove()
            let left = try world.names.filter { $0 != "a" }
            #expect(left.isEmpty, "\(left)")
        }
    }

    /// What SQL can ask for writes nothing in the clear without being told so.
    @Test func statementsThatWriteElsewhere() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, connections: .queue)
            try database.write { try Notes.fill($0, 500) }
            let plain = world.folder.path(of: "plain.db")
            for statement in [
                "VACUUM INTO '\(plain)'", "VACUUM INTO 'file:\(plain)'", "VACUUM INTO 'file:\(plain)?vfs=keychain'",
                "ATTACH '\(plain)' AS other; CREATE TABLE other.note AS SELECT * FROM note",
                "PRAGMA temp_store_directory = '\(world.folder.path)'", "SELECT load_extension('\(plain)')",
                "PRAGMA writable_schema = ON; PRAGMA journal_mode = OFF; PRAGMA secure_delete = OFF; "
                    + "PRAGMA mmap_size = 100000000; PRAGMA temp_store = FILE; "
                    + "CREATE TEMP TABLE t AS SELECT * FROM note; SELECT * FROM note ORDER BY text || random(); "
                    + "UPDATE note SET text = text || '.'; PRAGMA journal_mode = PERSIST; UPDATE note SET text = text || '.'",
            ] {
                _ = try? database.writeWithoutTransaction { try $0.execute(sql: statement) }
                #expect(try world.bytes().range(of: Data(Notes.canary.utf8)) == nil, "\(statement)")
            }
            try database.close()
            try expect(500, at: world.path)
        }
    }
}
