import Foundation
import GRDB
import Glibc
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// The examples of Documentation/Use/Databases.md, run, and the check that they are the same.
@Suite struct GuideExamples {
    private struct Note: Codable, PersistableRecord {
        var id: Int64
        var text: String
    }

    @Test func locked() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .keychain(.complete))
            try database.write { try Notes.fill($0, 1) }
            let note = Note(id: 7, text: "later")
            world.keychain.lock()
            try eventually("the database closes") { database.isLocked }
            var isLater = false
            do {
                try database.write { db in try note.insert(db) }
            } catch ProtectedDatabaseError.Code.locked {
                // Keep it for later, or ask for the passcode; `ProtectedData.events()` tells of the unlock.
                isLater = true
            }
            #expect(isLater)
        }
    }

    @Test func newKeys() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            try world.makePlain(3)
            let file = world.file
            try file.encrypt(key: .keychain(.none))
            let first = try file.info()
            try file.changeKey()
            #expect(try file.info().identifier != first.identifier)
            try file.changeKey(to: .keychain(.complete)) { _ in !Task.isCancelled }
            let database = try ProtectedDatabase(path: world.path, key: .keychain(.complete))
            #expect(try database.read { try Notes.count($0) } == 3)
            try database.close()
        }
    }

    @Test func everyExampleIsRun() throws {
        #expect(try Guide("Use/Databases.md").linesMissing(in: #filePath) == [])
    }
}
