import DataProtection
import Foundation
import GRDB
import Glibc
import KeychainModel
import KeychainServices
import KeychainTesting
import ProcessVault
import ProtectedDatabase
import TestSupport
import Testing
import VaultInterface

/// Databases from their making to their end.
@Suite struct LifeTests {
    static let storages: [(String, @Sendable () throws -> DatabaseKeyStorage)] = [
        ("keychain", { try .keychain() }), ("keychain complete", { try .keychain(.complete) }),
        ("enclave", { try .enclave() }), ("file", { try .file(.complete) }),
    ]

    /// With Apple's API, a program may delete the items of a key by mistake. What this package removes is gone.
    @Test func aKeyThatAProgramDeletesComesBack() throws {
        let world = try DatabaseUnderTest()
        let services = ["encrypted-database", "encrypted-database/keys"]
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path)
            try database.write { try Notes.fill($0, 3) }
            try database.close()
            for service in services {
                let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
                #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            }
            #expect(throws: ProtectedDatabaseError.self) { try ProtectedDatabase(path: world.path) }
            func restore(_ service: String) throws {
                let query = ItemQuery(itemClass: .genericPassword, attributes: [.service: .string(service)])
                _ = try VaultSession.current().perform(RestoreVersion(query, version: nil))
            }
            for service in services { try restore(service) }
            let again = try ProtectedDatabase(path: world.path)
            #expect(try again.read(Notes.count) == 3)
            try again.close()
            try world.file.remove()
            for service in services { #expect(throws: VaultError.itemNotFound) { try restore(service) } }
        }
    }

    @Test(arguments: storages, [ProtectedDatabase.Connections.pool, .queue])
    func madeUsedAndOpenedAgain(
        _ storage: (String, @Sendable () throws -> DatabaseKeyStorage), _ kind: ProtectedDatabase.Connections
    ) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            do {
                let database = try ProtectedDatabase(path: world.path, key: try storage.1(), connections: kind)
                try database.write { try Notes.fill($0, 100) }
                #expect(try database.read(Notes.count) == 100)
                #expect(try world.bytes().range(of: Data(Notes.canary.utf8)) == nil)
                try database.close()
            }
            let again = try ProtectedDatabase(path: world.path, connections: kind, creation: .never)
            #expect(try again.read(Notes.count) == 100)
            try again.read(Notes.check)
            try again.close()
            #expect(throws: ProtectedDatabaseError(.closed, message: "")) { try again.read(Notes.count) }
            #expect(try world.file.problems() == [])
            let info = try world.file.info()
            #expect(info.isEncrypted && info.pageSize == 4096 && info.key != nil)
            try world.file.remove()
            #expect(try world.names == [])
            #expect(throws: ProtectedDatabaseError(.fileNotFound, message: "")) {
                try ProtectedDatabase(path: world.path, creation: .never)
            }
        }
    }

    /// GRDB closes its readers last, and a connection that only reads cannot remove the log.
    @Test func aClosedDatabaseLeavesAnEmptyLog() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path)
            try database.write { try Notes.fill($0, 100) }
            #expect(try database.read(Notes.count) == 100)
            let log = world.path + "-wal"
            func size() throws -> Int { try Data(contentsOf: URL(filePath: log)).count }
            #expect(try size() > 0)
            try database.close()
            #expect(try !FileManager.default.fileExists(atPath: log) || size() == 0)
        }
    }

    @Test func aPlainDatabaseIsRefused() throws {
        let world = try DatabaseUnderTest()
        try world.makePlain(3)
        try world.keychain.run {
            #expect(throws: ProtectedDatabaseError(.notEncrypted, message: "")) {
                try ProtectedDatabase(path: world.path)
            }
            #expect(try !world.file.info().isEncrypted)
            try Data("no database at all, but long enough to be one".utf8).write(to: URL(filePath: world.path))
            #expect(throws: ProtectedDatabaseError(.notDatabase, message: "")) {
                try ProtectedDatabase(path: world.path)
            }
        }
    }

    @Test func theKeyIsTheKeychains() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run { try world.file.create() }
        let other = try TestKeychain()
        _ = other.run {
            #expect(throws: ProtectedDatabaseError(.keyNotFound, message: "")) {
                try ProtectedDatabase(path: world.path)
            }
        }
        try world.keychain.run {
            #expect(throws: ProtectedDatabaseError(.fileExists, message: "")) { try world.file.create() }
            try world.file.remove()
            // Nothing of it is left in the keychain.
            var result: CFTypeRef?
            let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll]
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecItemNotFound)
        }
    }

    @Test(arguments: [1024, 4096, 16_384, 65_536]) func pageSizes(_ size: Int) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            try world.file.create(pageSize: size)
            let database = try ProtectedDatabase(path: world.path)
            try database.write { try Notes.fill($0, 300) }
            #expect(try database.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == size)
            try database.read(Notes.check)
            try database.close()
            #expect(try world.file.info().pageSize == size)
        }
    }

    @Test(arguments: [0, 512, 1000, 131_072]) func pageSizesThatAreNone(_ size: Int) throws {
        let world = try DatabaseUnderTest()
        _ = world.keychain.run {
            #expect(throws: ProtectedDatabaseError(.invalidRequest, message: "")) {
                try world.file.create(pageSize: size)
            }
        }
        #expect(try world.names == [])
    }

    @Test func copies() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path)
            try database.write { try Notes.fill($0, 50) }
            let target = ProtectedDatabaseFile(path: world.folder.path(of: "copy.db"))
            try world.file.copy(to: target)
            try database.write { try Notes.fill($0, 1) }
            let copy = try ProtectedDatabase(path: target.path, creation: .never)
            #expect(try copy.read(Notes.count) == 50)
            #expect(try target.info().identifier != world.file.info().identifier)
            #expect(throws: ProtectedDatabaseError(.fileExists, message: "")) { try world.file.copy(to: target) }
            try copy.close()
            // GRDB's own, page by page.
            let backup = try ProtectedDatabase(path: world.folder.path(of: "backup.db"), connections: .queue)
            try database.backup(to: backup)
            #expect(try backup.read(Notes.count) == 51)
            try backup.close()
            try database.close()
        }
    }
}
