import DataProtection
import Foundation
import GRDB
import Glibc
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// Databases whose page index is lost.
@Suite struct RecoveryTests {
    private let world: DatabaseUnderTest
    private var recovered: ProtectedDatabaseFile { ProtectedDatabaseFile(path: world.folder.path(of: "recovered.db")) }

    init() throws { world = try DatabaseUnderTest() }

    private func make(_ count: Int) throws {
        try world.file.create(key: .keychain(.complete))
        let database = try ProtectedDatabase(path: world.path, connections: .queue)
        try database.write { try Notes.fill($0, count) }
        try database.close()
    }

    private func index() throws -> String {
        world.folder.path(of: try #require(world.names.first { $0.hasSuffix(".pages") && $0.hasPrefix("app.db") }))
    }

    private func requireRecovered(_ count: Int) throws {
        let before = try world.bytes()
        try world.file.recover(to: recovered)
        let info = try recovered.info()
        #expect(try info.identifier != world.file.info().identifier && info.key?.protection == .complete)
        #expect(try recovered.problems() == [])
        let database = try ProtectedDatabase(path: recovered.path, creation: .never)
        #expect(try database.read(Notes.count) == count)
        try database.close()
        try recovered.remove()
        for suffix in ["-wal", "-shm"] { unlink(recovered.path + suffix) }
        #expect(try world.bytes() == before)
        #expect(try world.names.allSatisfy { !$0.hasPrefix("recovered") })
    }

    @Test func lostIndex() throws {
        try world.keychain.run {
            try make(300)
            try requireRecovered(300)
            unlink(try index())
            #expect(throws: ProtectedDatabaseError.self) { try ProtectedDatabase(path: world.path, creation: .never) }
            try requireRecovered(300)
            #expect(throws: ProtectedDatabaseError(.fileExists, message: "")) { try world.file.recover(to: world.file) }
        }
    }

    /// The file alone was put back: its index is of later.
    @Test func olderFile() throws {
        try world.keychain.run {
            try make(300)
            let former = try Data(contentsOf: URL(filePath: world.path))
            let database = try ProtectedDatabase(path: world.path, connections: .queue)
            try database.write { try $0.execute(sql: "DELETE FROM note WHERE id % 2 = 0") }
            try database.close()
            try former.write(to: URL(filePath: world.path))
            #expect(throws: (any Error).self) {
                let database = try ProtectedDatabase(path: world.path, creation: .never)
                _ = try database.read(Notes.count)
            }
            try requireRecovered(300)
        }
    }

    /// Killed while it wrote: what was committed is in a log, or what was before is in a journal.
    @Test(arguments: ["pool", "queue"]) func interruptedWriter(mode: String) throws {
        let program = URL(filePath: Worker.executable).deletingLastPathComponent().appending(
            path: "ProtectedDatabaseWorker"
        ).path
        let folder = world.folder
        func start(_ arguments: String...) throws -> Worker {
            try Worker(
                ["KEYCHAIN_HOME=\(folder.path(of: "vault"))", "KEYCHAIN_MODE=embedded", program] + arguments,
                command: "env")
        }
        let writer = try start("insert", world.path, mode)
        var acknowledged = Set<Int>()
        let wanted = TestScale.count(30, soak: 100)
        while acknowledged.count < wanted, let line = writer.readLine() {
            acknowledged.insert(try #require(Int(line), "\(line)"))
        }
        writer.kill()
        acknowledged.formUnion(writer.remainingLines().compactMap { Int($0) })
        writer.wait()
        unlink(try index())
        let recovery = try start("recover", world.path, recovered.path)
        #expect(recovery.remainingLines() == ["done"])
        let rows = try start("rows", recovered.path)
        let found = Set(rows.remainingLines().compactMap { Int($0) })
        #expect(acknowledged.isSubset(of: found))
        #expect(acknowledged.count >= wanted)
    }

    @Test func damagedPages() throws {
        try world.keychain.run {
            try make(3_000)
            unlink(try index())
            var bytes = try Data(contentsOf: URL(filePath: world.path))
            for page in [4, 7] { bytes[4096 * page + 100] ^= 1 }
            // Cut in the middle of the last page.
            bytes.removeLast(100)
            try bytes.write(to: URL(filePath: world.path))
            let error = #expect(throws: ProtectedDatabaseError(.damaged, message: "")) {
                try world.file.recover(to: recovered)
            }
            #expect(error?.message.contains(": 3, the first of them 5, 8, ") == true)
            #expect(try world.names == ["app.db"])
        }
    }

    @Test func pagesThatDoNotFitTogether() throws {
        try world.keychain.run {
            try make(3_000)
            let former = try Data(contentsOf: URL(filePath: world.path))
            let database = try ProtectedDatabase(path: world.path, connections: .queue)
            try database.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM note WHERE id > 100; VACUUM") }
            try database.close()
            var bytes = try Data(contentsOf: URL(filePath: world.path))
            // The first page of now, with what was behind it then.
            bytes = bytes.prefix(4096) + former.dropFirst(4096)
            try bytes.write(to: URL(filePath: world.path))
            unlink(try index())
            #expect(throws: ProtectedDatabaseError(.damaged, message: "")) { try world.file.recover(to: recovered) }
        }
    }

    /// What somebody put beside the file is not followed, and nothing that it leads to is changed.
    @Test(arguments: ["-wal", "-journal"], ["link", "pipe", "folder"])
    func otherThingsThanFiles(_ suffix: String, _ thing: String) throws {
        try world.keychain.run {
            try make(10)
            let victim = world.folder.path(of: "victim")
            try Data().write(to: URL(filePath: victim))
            try #require(chmod(victim, 0o644) == 0)
            let name = world.path + suffix
            switch thing {
            case "link": try #require(symlink(victim, name) == 0)
            case "pipe": try #require(mkfifo(name, 0o600) == 0)
            default: try #require(mkdir(name, 0o700) == 0)
            }
            withDeadline("a \(thing) in the place of '\(suffix)'") {
                let error = #expect(throws: ProtectedDatabaseError(.damaged, message: "")) {
                    try world.file.recover(to: recovered)
                }
                #expect(error?.message.contains(name) == true)
            }
            let mode = try FileManager.default.attributesOfItem(atPath: victim)[.posixPermissions] as? Int
            #expect(mode == 0o644)
            #expect(try world.names.allSatisfy { !$0.hasPrefix("recovered") })
        }
    }

    /// Copies of a file and a log that change meanwhile would be of different times.
    @Test(arguments: [true, false]) func databaseInUse(isPool: Bool) throws {
        try world.keychain.run {
            try make(100)
            let database = try ProtectedDatabase(path: world.path, connections: isPool ? .pool : .queue)
            let isBusy = ProtectedDatabaseError(.busy, message: "")
            try database.write { db in
                try db.execute(sql: "DELETE FROM note WHERE id = 1")
                #expect(throws: isBusy) { try world.file.recover(to: recovered) }
            }
            // A connection that keeps a log has its lock all the time, and does not lose it to the attempt.
            if isPool {
                #expect(throws: isBusy) { try world.file.recover(to: recovered) }
                #expect(throws: isBusy) { try world.file.recover(to: recovered) }
            }
            try database.write { try $0.execute(sql: "DELETE FROM note WHERE id = 2") }
            try database.close()
            try requireRecovered(98)
        }
    }

    /// Nobody has the time to read a file of a terabyte, or the room to copy it, of which almost all is holes.
    @Test func holes() throws {
        try world.keychain.run {
            try make(300)
            try #require(truncate(world.path, 1 << 40) == 0)
            try withDeadline("a terabyte of nothing") { try world.file.recover(to: recovered) }
            let size = try FileManager.default.attributesOfItem(atPath: recovered.path)[.size] as? Int
            #expect(try #require(size) < 1 << 20)
            let database = try ProtectedDatabase(path: recovered.path, creation: .never)
            #expect(try database.read(Notes.count) == 300)
            try database.close()
            try recovered.remove()
            for suffix in ["-wal", "-shm"] { unlink(recovered.path + suffix) }

            // Nor the memory to count them.
            let file = try FileHandle(forWritingTo: URL(filePath: world.path))
            try file.seek(toOffset: 1 << 40)
            try file.write(contentsOf: Data(repeating: 1, count: 4096))
            try file.close()
            #expect(throws: ProtectedDatabaseError(.notDatabase, message: "")) {
                try withDeadline("nothing, and something behind it") { try world.file.recover(to: recovered) }
            }
        }
    }

    @Test func modesStay() throws {
        try world.keychain.run {
            try make(10)
            for mode: mode_t in [0o600, 0o660] {
                chmod(world.path, mode)
                try world.file.recover(to: recovered)
                let index = try #require(world.names.first { $0.hasPrefix("recovered") && $0.hasSuffix(".pages") })
                for path in [recovered.path, world.folder.path(of: index)] {
                    var information = stat()
                    #expect(stat(path, &information) == 0 && information.st_mode & 0o777 == mode)
                }
                try recovered.remove()
            }
        }
    }

    /// What a recovery that was killed leaves goes with the next one; what is not of that kind stays.
    @Test func leftovers() throws {
        try world.keychain.run {
            try make(10)
            let folder = recovered.path + "-0123456789abcdef0123.recovering"
            try #require(mkdir(folder, 0o700) == 0)
            for name in ["database", "database-wal", "database-0123456789abcdef0123.pages"] {
                try Data().write(to: URL(filePath: folder + "/" + name))
            }
            let link = recovered.path + "-0123456789abcdef0124.recovering"
            let other = world.folder.path(of: "other")
            try #require(mkdir(other, 0o700) == 0)
            try Data().write(to: URL(filePath: other + "/database"))
            try #require(symlink(other, link) == 0)
            try world.file.recover(to: recovered)
            #expect(!FileManager.default.fileExists(atPath: folder))
            #expect(FileManager.default.fileExists(atPath: other + "/database"))
        }
    }
}
