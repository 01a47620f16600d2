import Foundation
import GRDB
import KeychainServices
import KeychainTesting
import TestSupport
import Testing

@testable import SealedFields

@Suite struct KeyTests {
    private let place = FieldPlace(table: "t", column: "c", row: 1)

    private func control(
        _ flags: SecAccessControlCreateFlags, _ accessible: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    ) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, accessible, flags, nil))
    }

    @Test func generations() throws {
        let store = try NoteStore()
        #expect(try store.keys.generations().isEmpty)
        let old = try store.sealing.seal("old", at: place)
        #expect(try store.keys.generations().map(\.id) == [1])
        let second = try store.keys.addGeneration()
        #expect(second.id == 2)
        let new = try store.sealing.seal("new", at: place)
        #expect(old.bytes.prefix(10) != new.bytes.prefix(10))
        // A keyring opened later has both.
        let later = FieldSealing(database: "notes", keys: store.world.run { FieldKeys("com.example.notes") })
        #expect(try later.open(old, at: place) == "old")
        #expect(try later.open(new, at: place) == "new")
        // Of another name, none.
        let other = FieldSealing(database: "notes", keys: store.world.run { FieldKeys("com.example.other") })
        expectFailure(.unknownKey) { try other.open(old, at: place) }
    }

    /// A value under a key that another program added meanwhile.
    @Test func generationOfAnotherProgram() throws {
        let store = try NoteStore()
        _ = try store.sealing.seal("x", at: place)
        let other = FieldSealing(database: "notes", keys: store.world.run { FieldKeys("com.example.notes") })
        try other.keys.addGeneration()
        let sealed = try other.seal("new", at: place)
        #expect(try store.sealing.open(sealed, at: place) == "new")
    }

    /// Threads that all make the first key end up with one.
    @Test func madeAtTheSameTime() async throws {
        let store = try NoteStore()
        let sealings = (0..<8).map { _ in
            FieldSealing(database: "notes", keys: store.world.run { FieldKeys("com.example.notes") })
        }
        let sealed = try await withThrowingTaskGroup(of: SealedColumnValue<Int>.self) { group in
            for (number, sealing) in sealings.enumerated() {
                group.addTask { try sealing.seal(number, at: place) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try store.keys.generations().count == 1)
        #expect(try Set(sealed.map { try store.sealing.open($0, at: place) }) == Set(0..<8))
    }

    @Test func lockTakesKeysAway() throws {
        for (accessibility, stays) in [
            (KeychainAccessibility.whenUnlockedThisDeviceOnly, false), (.afterFirstUnlockThisDeviceOnly, true),
        ] {
            let store = try NoteStore(protection: .keychain(accessibility))
            let sealed = try store.sealing.seal("x", at: place)
            store.world.lock()
            if stays {
                #expect(try store.sealing.open(sealed, at: place) == "x")
                store.keys.discard()
                #expect(try store.sealing.open(sealed, at: place) == "x")
            } else {
                expectFailure(.locked) { try store.sealing.open(sealed, at: place) }
            }
        }
    }

    /// The class that a key has counts, and not the one that a program would give a new key.
    @Test func classOfAKeyThatIsThere() throws {
        let store = try NoteStore()
        let sealed = try store.sealing.seal("x", at: place)
        let keys = store.world.run {
            FieldKeys("com.example.notes", protection: .keychain(.afterFirstUnlockThisDeviceOnly))
        }
        let lenient = FieldSealing(database: "notes", keys: keys)
        #expect(try lenient.open(sealed, at: place) == "x")
        store.world.lock()
        expectFailure(.locked) { try lenient.open(sealed, at: place) }
    }

    @Test func personIsAskedOnce() throws {
        let store = try NoteStore(protection: .keychain(control(.userPresence)))
        let sealed = try store.sealing.seal("x", at: place)
        #expect(try store.sealing.open(sealed, at: place) == "x")
        #expect(store.world.prompts == ["open your notes"])
        store.keys.discard()
        #expect(try store.sealing.open(sealed, at: place) == "x")
        #expect(store.world.prompts.count == 2)
        store.keys.discard()
        store.world.authentication = .userCancel
        expectFailure(.authenticationFailed) { try store.sealing.open(sealed, at: place) }
    }

    @Test func enclave() throws {
        let store = try NoteStore(protection: .enclave(control([.privateKeyUsage, .userPresence])))
        let sealed = try store.sealing.seal("x", at: place)
        #expect(try store.keys.generations().map(\.isInEnclave) == [true])
        #expect(try store.sealing.open(sealed, at: place) == "x")
        #expect(store.world.prompts == ["open your notes"])
        // What the keychain item has is not the key: without the enclave's, it is of no use.
        store.keys.discard()
        #expect(store.world.run { SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) } == errSecSuccess)
        expectFailure(.damagedKey) { try store.sealing.open(sealed, at: place) }
    }

    @Test func enclaveWithoutAPerson() throws {
        let store = try NoteStore(protection: .enclave(.afterFirstUnlockThisDeviceOnly))
        let sealed = try store.sealing.seal("x", at: place)
        store.keys.discard()
        store.world.lock()
        #expect(try store.sealing.open(sealed, at: place) == "x")
        #expect(store.world.prompts.isEmpty)
        try store.keys.addGeneration()
        #expect(try store.keys.generations().count == 2)
    }

    /// Keys are not taken for one another, whoever changes the keychain's items.
    @Test func exchangedItems() throws {
        let store = try NoteStore()
        let sealed = try store.sealing.seal("x", at: place)
        try store.keys.addGeneration()
        let keys = try store.keys.generations().map(\.key)
        let second = try #require(try store.keys.keyring.items.key(keys[1]))
        store.world.run {
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "sealed-fields/com.example.notes/keys",
                kSecAttrAccount: keys[0].id.description,
            ]
            #expect(SecItemUpdate(query as CFDictionary, [kSecValueData: second] as CFDictionary) == errSecSuccess)
        }
        store.keys.discard()
        expectFailure(.damagedKey) { try store.sealing.open(sealed, at: place) }
    }

    @Test func destroyed() throws {
        let store = try NoteStore(protection: .enclave(control(.privateKeyUsage)))
        let sealed = try store.sealing.seal("x", at: place)
        try store.keys.destroy()
        expectFailure(.unknownKey) { try store.sealing.open(sealed, at: place) }
        #expect(try store.keys.generations().isEmpty)
        var found: CFTypeRef?
        #expect(
            store.world.run { SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, &found) }
                == errSecItemNotFound)
    }

    /// A keyring that is made once for all, as static properties are, has nothing of one test in another.
    @Test func keyringOfSeveralKeychains() throws {
        let (first, second) = (try TestKeychain(), try TestKeychain())
        let keys = FieldKeys("com.example.shared")
        let sealing = FieldSealing(database: "notes", keys: keys)
        let sealed = try first.run { try sealing.seal("x", at: place) }
        try second.run {
            expectFailure(.unknownKey) { try sealing.open(sealed, at: place) }
            #expect(try keys.generations().isEmpty)
            _ = try sealing.seal("y", at: place)
            #expect(try keys.keyring.databases() == ["notes"])
        }
        first.lock()
        expectFailure(.locked) { try first.run { try sealing.open(sealed, at: place) } }
    }

    // MARK: Removal

    @Test func removedOnlyWhenUnused() throws {
        let store = try NoteStore()
        let notes = [Note(body: "one", address: "ada"), Note(body: "two")]
        try store.write { db in for note in notes { try note.insert(db) } }
        let first = try #require(try store.keys.generations().first)
        let check = [FieldKeys.Check.database(store.queue, sealing: store.sealing)]
        func remove(_ checks: [FieldKeys.Check], settledFor: Double = 0) throws {
            try store.keys.removeGeneration(first, checking: checks, settledFor: settledFor)
        }
        expectFailure(.keyInUse) { try remove(check) }
        try store.keys.addGeneration()
        expectFailure(.keyInUse) { try store.keys.removeGeneration(first, checking: check) }
        expectFailure(.keyInUse) { try remove([]) }
        for column in ["body", "address", "tags"] {
            expectFailure(.keyInUse) { try remove(check) }
            let rotation = FieldRotation(table: "note", column: column, sealing: store.sealing)
            #expect(try rotation.run(in: store.queue).sealed == 2)
        }
        // Another database that the keyring was used for.
        _ = try FieldSealing(database: "second", keys: store.keys).seal("x", at: place)
        expectFailure(.keyInUse) { try remove(check) }
        try remove(check + [.nothing(inDatabaseNamed: "second")])
        #expect(try store.keys.generations().map(\.id) == [2])
        #expect(try store.write { try Note.fetchAll($0) }.map(\.body).sorted() == ["one", "two"])
    }

    @Test func removedWithItsEnclaveKey() throws {
        let store = try NoteStore(protection: .enclave(control(.privateKeyUsage)))
        _ = try store.sealing.seal("x", at: place)
        let first = try #require(try store.keys.generations().first)
        try store.keys.addGeneration()
        try store.keys.removeGeneration(
            first, checking: [.database(store.queue, sealing: store.sealing)], settledFor: 0)
        var found: CFTypeRef?
        let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true]
        #expect(store.world.run { SecItemCopyMatching(query as CFDictionary, &found) } == errSecSuccess)
        #expect((found as? [Any])?.count == 1)
    }
}
