import DataProtection
import Foundation
import GRDB
import KeychainServices
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// What happens to open databases when the vault is locked.
@Suite struct LockTests {
    private func waitUntilLocked(_ database: ProtectedDatabase) throws {
        try eventually("the database closes") { database.isLocked }
    }

    @Test(arguments: [ProtectedDatabase.Connections.pool, .queue])
    func closesAndOpensAgain(_ kind: ProtectedDatabase.Connections) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .keychain(.complete), connections: kind)
            try database.write { try Notes.fill($0, 10) }
            let former = try database.connection()
            world.keychain.lock()
            try waitUntilLocked(database)
            #expect(throws: ProtectedDatabaseError(.locked, message: "")) { try database.read(Notes.count) }
            #expect(throws: ProtectedDatabaseError(.locked, message: "")) {
                try database.write { try Notes.fill($0, 1) }
            }
            #expect(throws: (any Error).self) { try former.read(Notes.count) }
            #expect(throws: ProtectedDatabaseError(.locked, message: "")) {
                try ProtectedDatabase(path: world.path, creation: .never)
            }
            world.keychain.unlock()
            #expect(try database.read(Notes.count) == 10)
            try database.write { try Notes.fill($0, 1) }
            // And again.
            world.keychain.lock()
            try waitUntilLocked(database)
            world.keychain.unlock()
            #expect(try database.read(Notes.count) == 11)
            try database.close()
        }
    }

    @Test func transactionsInTheMiddleAreRolledBack() throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .keychain(.complete))
            try database.write { try Notes.fill($0, 10) }
            #expect(throws: (any Error).self) {
                try database.write { db in
                    try Notes.fill(db, 5)
                    world.keychain.lock()
                    try waitUntilLocked(database)
                    // Until it is interrupted, or has no key.
                    while true { try Notes.fill(db, 100) }
                }
            }
            world.keychain.unlock()
            #expect(try database.read(Notes.count) == 10)
            try database.read(Notes.check)
            try database.close()
        }
    }

    @Test(arguments: [FileProtectionType.completeUnlessOpen, .completeUntilFirstUserAuthentication, .none])
    func othersStayOpen(_ protection: FileProtectionType) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .keychain(protection))
            try database.write { try Notes.fill($0, 10) }
            world.keychain.lock()
            #expect(try database.read(Notes.count) == 10)
            try database.write { try Notes.fill($0, 1) }
            #expect(!database.isLocked)
            try database.close()
        }
    }

    @Test func observations() async throws {
        let world = try DatabaseUnderTest()
        try await world.keychain.run {
            let database = try ProtectedDatabase(path: world.path, key: .keychain(.complete))
            try await database.write { try Notes.fill($0, 2) }
            var values = ValueObservation.tracking(Notes.count).values(in: database).makeAsyncIterator()
            #expect(try await values.next() == 2)
            try await database.write { try Notes.fill($0, 1) }
            // GRDB may tell of a value twice.
            var value = try await values.next()
            while value == 2 { value = try await values.next() }
            #expect(value == 3)
            world.keychain.lock()
            try waitUntilLocked(database)
            world.keychain.unlock()
            // One that is begun anew goes on.
            var others = ValueObservation.tracking(Notes.count).values(in: database).makeAsyncIterator()
            #expect(try await others.next() == 3)
            try database.close()
        }
    }

    /// Looking asks nobody, opening asks once, and who does not agree gets nothing.
    @Test(arguments: [false, true]) func aPersonIsAsked(forTheEnclave isInEnclave: Bool) throws {
        let world = try DatabaseUnderTest()
        let flags: SecAccessControlCreateFlags = isInEnclave ? [.privateKeyUsage, .userPresence] : .userPresence
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        let storage = DatabaseKeyStorage.item(isInEnclave ? .enclave(control) : .keychain(control))
        try world.keychain.run {
            try world.file.create(key: storage)
            let key = try #require(try world.file.info().key)
            #expect(key.place == (isInEnclave ? .enclave : .keychain))
            #expect(key.control == control)
            let before = world.keychain.prompts.count
            let database = try ProtectedDatabase(path: world.path, creation: .never, prompt: "open the notes")
            #expect(world.keychain.prompts.dropFirst(before) == ["open the notes"])
            try database.write { try Notes.fill($0, 1) }
            try database.close()
            world.keychain.authentication = .userCancel
            #expect(throws: ProtectedDatabaseError(.userCanceled, message: "")) {
                try ProtectedDatabase(path: world.path, creation: .never)
            }
            // Removing asks nobody either.
            try world.file.remove()
            #expect(try world.names == [])
        }
    }

    /// The key goes in time also where somebody holds a connection for longer, in ways that are not counted.
    @Test(arguments: [ProtectedDatabase.Connections.pool, .queue])
    func theKeyGoesInTime(_ kind: ProtectedDatabase.Connections) throws {
        let world = try DatabaseUnderTest()
        try world.keychain.run {
            let database = try DatabaseConnections.$grace.withValue(.milliseconds(100)) {
                try ProtectedDatabase(path: world.path, key: .keychain(.complete), connections: kind)
            }
            try database.write { try Notes.fill($0, 10) }
            let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let holder = Thread {
                database.writeWithoutTransaction { _ in
                    began.signal()
                    goOn.wait()
                }
                goOn.signal()
            }
            holder.start()
            began.wait()
            world.keychain.lock()
            try waitUntilLocked(database)
            world.keychain.unlock()
            // It opens again once the former key is gone.
            withDeadline("the database opens again") { #expect(throws: Never.self) { try database.read(Notes.count) } }
            goOn.signal()
            goOn.wait()
            try database.close()
        }
    }

    /// Locks, uses, closes and ends of life at the same time.
    @Test(arguments: [ProtectedDatabase.Connections.pool, .queue])
    func locksWhileOthersReadWriteAndClose(_ kind: ProtectedDatabase.Connections) throws {
        let world = try DatabaseUnderTest()
        let keychain = world.keychain
        try keychain.run {
            let first = try ProtectedDatabase(path: world.path, key: .keychain(.complete), connections: kind)
            try first.write { try Notes.fill($0, 10) }
            try first.close()
        }
        for _ in 0..<TestScale.count(15, soak: 300) {
            let database = try keychain.run {
                try ProtectedDatabase(path: world.path, connections: kind, creation: .never)
            }
            let other = try keychain.run {
                try ProtectedDatabase(path: world.path, connections: kind, creation: .never)
            }
            withDeadline("all of them end") {
                DispatchQueue.concurrentPerform(iterations: 8) { number in
                    keychain.run {
                        switch number {
                        case 0:
                            keychain.lock()
                            keychain.unlock()
                            keychain.lock()
                        case 1: database.interrupt()
                        case 2:
                            for _ in 0..<200 where (try? database.close()) == nil { usleep(200) }
                        case 3: for _ in 0..<20 { _ = try? other.write { try Notes.fill($0, 1) } }
                        case 4: for _ in 0..<20 { _ = try? other.unsafeReentrantWrite { try Notes.fill($0, 1) } }
                        default: for _ in 0..<20 { _ = try? database.read(Notes.count) }
                        }
                    }
                }
            }
            keychain.unlock()
            try? database.close()
            try keychain.run { try other.read(Notes.check) }
            try? other.close()
        }
    }
}
