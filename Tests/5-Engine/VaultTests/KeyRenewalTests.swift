import Access
import Bytes
import Enclave
import Foundation
import Items
import Keybag
import KeychainModel
import Sealing
import SecureMemory
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// New class keys for a vault that is in use.
@Suite struct KeyRenewalTests {
    private typealias Guarded = AccessControlledItemTests

    private let folder: TemporaryFolder
    private var path: String { folder.path(of: "vault") }

    init() throws { folder = try TemporaryFolder() }

    private func open(_ person: PersonUnderTest? = nil) throws -> EmbeddedVault {
        try EmbeddedVault.open(
            at: path,
            surroundings: VaultSurroundings(
                authenticator: person, passwordCost: Argon2id.Cost(memoryKiB: 8, passes: 1)))
    }

    /// Stores items of all classes, with former versions and deletions.
    private func fill(_ vault: EmbeddedVault) throws {
        for protection in ProtectionClass.allCases
        where try vault.status(as: .owner).isPasscodeSet || protection != .whenPasscodeSetThisDeviceOnly {
            for number in 0..<3 {
                var item = NewItem.password("s", "\(protection.rawValue) \(number)", "first")
                item.accessControl = AccessControl(protection: protection)
                item.kept = .atMost(3)
                item.customAttributes = ["stage": "test"]
                item.isSynchronizable = number == 2 && !protection.isThisDeviceOnly
                _ = try vault.add(item, as: .app)
                item.value = Data("second".utf8)
                _ = try vault.put(item, as: .app)
            }
        }
        for protection in ["ak", "dku"] { _ = try vault.delete(.password("s", "\(protection) 1"), as: .app) }
        var deleted = ItemQuery.password("s", "ck 2")
        deleted.synchronizable = .any
        _ = try vault.delete(deleted, as: .app)
    }

    /// What a person sees of the items and their history.
    private func everything(_ vault: EmbeddedVault) throws -> (items: [UUID: StoredItem], versions: [ItemVersion]) {
        var query = ItemQuery(itemClass: .genericPassword, synchronizable: .any, limit: nil)
        query.attributes = [:]
        return (try vault.allItems(), try vault.versions(query, as: .owner))
    }

    @Test(arguments: [nil, "right"]) func everythingStays(_ passcode: String?) throws {
        let vault = try open()
        if let passcode { try vault.setPasscode(.test(passcode), options: .cheapest, as: .owner) }
        try fill(vault)
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        let key = try vault.makeEnclaveKey(
            .p256Signing, accessControl: AccessControl(protection: .whenUnlocked), options: .init(), as: .app)
        _ = try vault.keepVersions(7, as: .owner)
        let before = try everything(vault)
        for round in 1...3 {
            let summary = try vault.renewKeys(passcode)
            #expect(summary.items == before.items.count + 1 && summary.formerVersions > 0, "round \(round)")
            let after = try everything(vault)
            #expect(after.items == before.items && after.versions == before.versions)
            #expect(try vault.verify(as: .owner).problems.isEmpty)
        }
        vault.close()
        let again = try open()
        if let passcode { try again.unlock(with: .test(passcode), as: .owner) }
        let after = try everything(again)
        #expect(after.items == before.items && after.versions == before.versions)
        for key in keys {
            #expect(try key.opens(in: again, as: .app))
            let wrapped = try again.rewrapFileKey(
                from: key.fileClass, to: key.fileClass, file: key.file, wrapped: key.made.wrapped, as: .app)
            #expect(wrapped != key.made.wrapped)
        }
        let digest = Data(repeating: 7, count: 32)
        #expect(throws: Never.self) {
            _ = try again.useEnclaveKey(key, for: .sign(digest: digest), options: .init(), as: .app)
        }
        _ = try again.restore(nil, of: .password("s", "ak 1"), as: .app)
        #expect(try again.items(.password("s", "ak 1")).map(\.value) == [Data("second".utf8)])
        try expectSoundStore(in: path)
    }

    /// The former keybag with its passcode, the former recovery key, and a copy of the former class keys open nothing.
    @Test func formerKeysOpenNothing() throws {
        let vault = try open()
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let recovery = try vault.makeRecoveryKey(as: .owner)
        let before = try FolderContents(of: path)
        #expect(try vault.renewKeys("right").hadRecoveryKey)
        vault.close()
        let after = try FolderContents(of: path)
        #expect(after["recovery"] == nil)

        let enclave = try SoftwareEnclave(decoding: try #require(before["device-secret"]))
        let keybag = try Keybag(decoding: try #require(before["keybag"]), in: enclave)
        let former = try ClassKeys(keybag, in: enclave)
        let protection = try #require(keybag.passcode)
        try before.restore(to: folder.path(of: "before"))
        let formerStore = try ItemStore.open(
            path: ItemStoreFile.path(inVault: folder.path(of: "before")), key: former.storeKey)
        #expect(try formerStore.check() == keybag.identifier)
        try formerStore.close()
        try former.unlock(with: protection.key(for: .test("right"), in: enclave))
        let store = try ItemStoreFile.name(inVault: path)
        #expect(throws: (any Error).self) { try ItemStore.open(path: path + "/" + store, key: former.storeKey).check() }
        let present = try Keybag(decoding: try #require(after["keybag"]), in: enclave)
        #expect(present.identifier != keybag.identifier && present.passcode?.salt != protection.salt)
        // Nor does what is kept of the former keys lead from them to the present ones.
        let kept = try #require(after.entries.keys.first { $0.hasPrefix("former-keys-") })
        #expect(throws: KeybagError.authenticationFailed) {
            try FormerKeys(
                decoding: try #require(after[kept]), of: present.identifier, under: former.classKey(for: .always))
        }

        for names in [["keybag"], ["keybag", "recovery", "attempts"]] {
            var mixed = after
            for name in names { mixed[name] = before[name] }
            try mixed.restore(to: path)
            #expect(throws: VaultError.self) { try open() }
        }
        var mixed = after
        mixed["recovery"] = before["recovery"]
        try mixed.restore(to: path)
        #expect(throws: VaultError.self) {
            try EmbeddedVault.recover(at: path, with: recovery, in: .software, as: .owner)
        }
        #expect(try FolderContents(of: path)["keybag"] == after["keybag"])
    }

    @Test func theNextPasscodeTakesThePlaceOfTheFirst() throws {
        let vault = try open()
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        try fill(vault)
        let error = #expect(throws: VaultError.self) { try vault.renewKeys("wrong", next: "second") }
        guard case .wrongPasscode = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(throws: VaultError.self) { try vault.renewKeys(nil) }
        #expect(throws: VaultError.self) { try vault.renewKeys("first", next: "second", as: .app) }
        try vault.renewKeys("first", next: "second")
        #expect(vault.lockState == .unlocked)
        vault.close()
        let again = try open()
        #expect(throws: VaultError.self) { try again.unlock(with: .test("first"), as: .owner) }
        try again.unlock(with: .test("second"), as: .owner)
        #expect(try again.verify(as: .owner).problems.isEmpty)
    }

    @Test func itemsWithAPasswordOfTheirOwnStaySealed() throws {
        let person = PersonUnderTest()
        let vault = try open(person)
        _ = try vault.add(Guarded.item("a", .applicationPassword, password: "pw"), as: .app)
        _ = try vault.add(Guarded.item("b", [.applicationPassword, .biometryCurrentSet], password: "pw"), as: .app)
        let seals = { try self.seals() }
        let plain = try seals()
        for _ in 0..<2 {
            try vault.renewKeys()
            #expect(try vault.verify(as: .owner).problems.isEmpty)
            for account in ["a", "b"] {
                #expect(throws: VaultError.authenticationFailed) {
                    try vault.copy(Guarded.query(account, password: "other"), includingValues: true, as: .app)
                }
                let found = try vault.copy(Guarded.query(account, password: "pw"), includingValues: true, as: .app)
                #expect(found.map(\.value) == [Data("secret of \(account)".utf8)])
            }
        }
        #expect(try seals() == plain.map { $0 + 33 })
        let enrolment = person.enrolment
        person.enrolment = Data("two fingers".utf8)
        #expect(throws: VaultError.enrolmentChanged) {
            try vault.copy(Guarded.query("b", password: "pw"), includingValues: true, as: .app)
        }
        person.enrolment = enrolment
        // A new value is sealed under the present key alone.
        for account in ["a", "b"] {
            let changes = ItemChanges(value: Data("new".utf8))
            #expect(try vault.update(Guarded.query(account, password: "pw"), with: changes, as: .app) == 1)
            #expect(
                try vault.copy(Guarded.query(account, password: "pw"), includingValues: true, as: .app).map(\.value)
                    == [Data("new".utf8)])
        }
        #expect(try seals() == plain)
        person.enrolment = Data("two fingers".utf8)
        #expect(throws: VaultError.enrolmentChanged) {
            try vault.copy(Guarded.query("b", password: "pw"), includingValues: true, as: .app)
        }
    }

    /// The lengths of the seals in the store.
    private func seals() throws -> [Int] {
        let store = try ItemStore.open(path: ItemStoreFile.path(inVault: path), key: ItemStoreFile.key(ofVault: path))
        defer { store.abandon() }
        var lengths: [Int] = []
        try store.read(for: AccessGate.authorize(.removeUnreadable)) { reader in
            try reader.forEachRow { lengths.append(try $0.get().value.seal.count) }
        }
        return lengths.sorted()
    }

    /// Where the passcode will do as well, a new finger does not get in by a renewal and a change.
    @Test func anotherEnrolmentStaysAnotherOne() throws {
        let person = PersonUnderTest()
        let vault = try open(person)
        _ = try vault.add(Guarded.item("a", [.biometryCurrentSet, .or, .devicePasscode]), as: .app)
        person.enrolment = Data("two fingers".utf8)
        try vault.renewKeys()
        person.willAnswer(.succeeded(.passcode))
        #expect(try vault.update(Guarded.query("a"), with: ItemChanges(value: Data("new".utf8)), as: .app) == 1)
        person.willAnswer(.succeeded(.biometry))
        #expect(throws: VaultError.authenticationFailed) {
            try vault.copy(Guarded.query("a"), includingValues: true, as: .app)
        }
    }

    @Test func aDamagedItemStopsIt() throws {
        let vault = try open()
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        vault.close()
        let store = try ItemStore.open(path: ItemStoreFile.path(inVault: path), key: ItemStoreFile.key(ofVault: path))
        try store.write(for: AccessGate.authorize(.removeUnreadable)) { writer in
            var row = try #require(try writer.reader.row(1, includingCiphertext: true))
            row.metadata[row.metadata.startIndex] ^= 1
            try writer.replace(row, filedUnder: [], insteadOf: [])
        }
        try store.close()
        let again = try open()
        let before = try FolderContents(of: path).entries.keys.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }
        let error = #expect(throws: VaultError.self) { try again.renewKeys() }
        guard case .corruptItem(row: 1, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            try FolderContents(of: path).entries.keys.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }.sorted()
                == before.sorted())
        #expect(try again.perform(DeleteDamagedItems(), as: .owner) == 1)
        try again.renewKeys()
    }

    private static func keybag(of folder: FolderContents) throws -> UUID {
        let encoded = try #require(folder["keybag"])
        return try #require(Keybag.identifier(of: encoded))
    }

    private static func mark(_ from: UUID, _ to: UUID, isCommitted: Bool = false) -> Data {
        RenewalMark(from: from, to: to).encoded + (isCommitted ? [1] : [])
    }

    /// The files of a vault with an item, before and after a renewal.
    private func filesAroundARenewal() throws -> (before: FolderContents, after: FolderContents, key: RecoveryKey) {
        let vault = try open()
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let key = try vault.makeRecoveryKey(as: .owner)
        vault.close()
        let before = try FolderContents(of: path)
        let again = try open()
        try again.renewKeys()
        _ = try again.add(.password("s", "b", "value"), as: .app)
        again.close()
        return (before, try FolderContents(of: path), key)
    }

    /// Adds the store of the former keys, as a kill before its removal leaves it.
    private func withFormerStore(_ after: FolderContents, _ before: FolderContents) -> FolderContents {
        var contents = after
        for name in before.entries.keys where name.hasPrefix("items-") || name == "recovery" {
            contents[name] = before[name]
        }
        return contents
    }

    /// Whoever puts the former keybag back loses nothing: the store in force stays, and opens with its own keybag.
    @Test(arguments: [false, true], [false, true])
    func aFormerKeybagRemovesNoStoreInForce(isCommitted: Bool, hasFormerStore: Bool) throws {
        let (before, after, _) = try filesAroundARenewal()
        var contents = hasFormerStore ? withFormerStore(after, before) : after
        contents["renewal"] = try Self.mark(Self.keybag(of: before), Self.keybag(of: after), isCommitted: isCommitted)
        contents["keybag"] = before["keybag"]
        // Without the end of the mark, nothing can have been stored under the new keys.
        guard isCommitted || !hasFormerStore else { return }
        try contents.restore(to: path)
        #expect(throws: VaultError.self) { try open() }
        let left = try FolderContents(of: path)
        for name in after.entries.keys where name.hasPrefix("items-") || name.hasPrefix("former-keys-") {
            #expect(left[name] == after[name], "\(name)")
        }
        contents["keybag"] = after["keybag"]
        try contents.restore(to: path)
        let vault = try open()
        #expect(try vault.items(.password("s", limit: nil)).count == 2)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    /// The former recovery key brings the former keys back only where the present ones are lost.
    @Test(arguments: [false, true]) func aFormerRecoveryKeyReplacesNoKeybagInForce(isCommitted: Bool) throws {
        let (before, after, key) = try filesAroundARenewal()
        var contents = withFormerStore(after, before)
        contents["renewal"] = try Self.mark(Self.keybag(of: before), Self.keybag(of: after), isCommitted: isCommitted)
        try contents.restore(to: path)
        #expect(throws: VaultError.self) { try EmbeddedVault.itemsLost(recovering: path, with: key) }
        #expect(throws: VaultError.self) {
            try EmbeddedVault.recover(at: path, with: key, in: .software, as: .owner)
        }
        #expect(try FolderContents(of: path)["keybag"] == after["keybag"])
        let vault = try open()
        #expect(try vault.items(.password("s", limit: nil)).count == 2)
        vault.close()
        #expect(try FolderContents(of: path)["recovery"] == nil)

        contents["device-secret"] = try SoftwareEnclave().encoded()
        try contents.restore(to: path)
        #expect(try EmbeddedVault.itemsLost(recovering: path, with: key) == [:])
        let (recovered, lost) = try EmbeddedVault.recover(at: path, with: key, in: .software, as: .owner)
        #expect(lost == 0)
        #expect(try recovered.items(.password("s", limit: nil)).map(\.value) == [Data("value".utf8)])
    }

    @Test func aRecoveryRecordThatCannotBeReadStopsItBeforeItsEnd() throws {
        let vault = try open()
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        try FileManager.default.createDirectory(atPath: path + "/recovery", withIntermediateDirectories: false)
        #expect(throws: VaultError.self) { try vault.renewKeys() }
        #expect(try vault.items(.password("s", "a")).count == 1)
        vault.close()
        #expect(try open().items(.password("s", "a")).count == 1)
    }

    /// A program that has the vault open goes on after another was killed between the end of the former store and the
    /// next keybag.
    @Test func anOpenVaultGetsItsStoreBack() throws {
        let vault = try open()
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let own = try Self.keybag(of: FolderContents(of: path))
        let next = UUID()
        try Self.mark(own, next).write(to: URL(fileURLWithPath: path + "/renewal"))
        #expect(chmod(path + "/renewal", 0o600) == 0)
        let store = try ItemStore.open(path: ItemStoreFile.path(inVault: path), key: ItemStoreFile.key(ofVault: path))
        try store.write(for: AccessGate.authorize(.renewKeys)) { try $0.retire(for: next) }
        try store.close()
        #expect(try vault.items(.password("s", "a")).count == 1)
        _ = try vault.add(.password("s", "b", "value"), as: .app)
        #expect(try FolderContents(of: path)["renewal"] == nil)
    }

    /// A tombstone that was made while the vault was unlocked, and an item that took its place before the vault was
    /// unlocked, get the same primary key. The item stays, however many passes there are.
    @Test func aTombstoneTakesThePlaceOfNoItem() throws {
        let vault = try open()
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        var item = NewItem.password("s", "a", "first")
        item.isSynchronizable = true
        _ = try vault.add(item, as: .app)
        var query = ItemQuery.password("s", "a")
        query.synchronizable = .any
        _ = try vault.delete(query, as: .app)
        vault.close()
        let again = try open()
        item.accessControl = AccessControl(protection: .always)
        item.value = Data("second".utf8)
        _ = try again.add(item, as: .app)
        try again.removePasscode(.test("right"), as: .owner)
        let authorization = AccessGate.authorize(.renewKeys)
        let renewal = try again.vault.keyChange.beginRenewal(from: nil, for: authorization)
        for _ in 0..<4 {
            _ = try renewal.pass { body in try again.vault.reading(for: authorization) { reader, _ in try body(reader) }
            }
            let rows = try renewal.store.read(for: authorization) { reader in
                try reader.states(former: false, after: .start).compactMap { try reader.row($0.place.row) }
            }
            #expect(rows.map(\.binding.isTombstone) == [false])
        }
        renewal.abandon()
        try again.renewKeys()
        #expect(try again.items(query).map(\.value) == [Data("second".utf8)])
        #expect(try again.verify(as: .owner).problems.isEmpty)
    }

    /// Whatever somebody writes into the mark of a renewal, the store in force stays.
    @Test func aHostileMarkRemovesNothingInForce() throws {
        let vault = try open()
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        vault.close()
        let folder = try FolderContents(of: path)
        let own = try Self.keybag(of: folder)
        // Another identifier, with which the names of files begin in the same way.
        var twin = own.uuid
        twin.15 ^= 1
        let like = UUID(uuid: twin)
        var random = SeededGenerator()
        for mark in [
            Data(), random.bytes(31), random.bytes(32), Self.mark(own, own), Self.mark(own, UUID()),
            Self.mark(UUID(), own),
            Self.mark(UUID(), UUID()), Self.mark(own, own) + Data([1]), Self.mark(like, own), Self.mark(own, like),
            Self.mark(UUID(), like),
            Self.mark(like, UUID()), Self.mark(UUID(), own) + Data([1]), Self.mark(own, UUID()) + Data([2]),
            Data(count: 65), Data(count: 1 << 20),
        ] {
            var contents = folder
            contents["renewal"] = mark
            try contents.restore(to: path)
            let again = try open()
            #expect(try again.items(.password("s", "a")).map(\.value) == [Data("value".utf8)], "\(Array(mark))")
            #expect(try again.verify(as: .owner).problems.isEmpty)
            again.close()
            #expect(try FolderContents(of: path)["renewal"] == nil)
        }
        try folder.restore(to: path)
        #expect(try open().items(.password("s", "a")).count == 1)
    }

    /// A renewal that was killed after the new keys were in force must not look like wrong passcodes, of which some
    /// erase the vault.
    @Test func noTryIsCountedThatNobodyMade() throws {
        var options = PasscodeOptions.cheapest
        options.eraseAfter = 4
        let vault = try open()
        try vault.setPasscode(.test("right"), options: options, as: .owner)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        vault.close()
        try open().close()
        let before = try FolderContents(of: path)["attempts"]
        let again = try open()
        try again.renewKeys("right")
        again.close()
        var contents = try FolderContents(of: path)
        contents["attempts"] = before
        try contents.restore(to: path)
        let third = try open()
        #expect(try third.status(as: .owner).failedAttempts == 0)
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try third.unlock(with: .test("wrong"), as: .app) }
        try third.unlock(with: .test("right"), as: .app)
        #expect(try third.items(.password("s", "a")).count == 1)
    }

    /// A program that had the vault open before erases what another one has renewed, also where that was killed before
    /// it removed the former store.
    @Test(arguments: [false, true]) func anEraseTakesTheFormerStoreToo(_ wasKilled: Bool) throws {
        let (vault, other) = (try open(), try open())
        _ = try other.add(.password("s", "a", "value"), as: .app)
        let before = try FolderContents(of: path)
        try other.renewKeys()
        other.close()
        if wasKilled {
            // In place, since a program has the folder open.
            let (from, to) = (try Self.keybag(of: before), try Self.keybag(of: FolderContents(of: path)))
            for (name, entry) in before.entries where name.hasPrefix("items-") && !name.hasSuffix("-shm") {
                if let bytes = entry.bytes { try FolderContents.write(bytes, to: path + "/" + name) }
            }
            try FolderContents.write(Self.mark(from, to) + Data([1]), to: path + "/renewal")
        }
        try vault.erase(as: .owner)
        #expect(try vault.items(.password("s", "a")).isEmpty)
        vault.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.count { $0.hasPrefix("items-") && $0.hasSuffix(".db") } == 1, "\(names)")
        #expect(!names.contains("renewal"))
        #expect(try open().items(.password("s", "a")).isEmpty)
    }

    @Test func aVaultInATPMGoesOn() throws {
        let tpm = try SoftwareTPM()
        let place = EnclavePlace(tpm: tpm.address)
        let vault = try EmbeddedVault.open(at: path, in: .tpm2, detectsRollback: true, enclaves: place)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let before = try FolderContents(of: path)
        let expected = try everything(vault)
        try vault.renewKeys("right", next: "next")
        vault.close()
        let again = try EmbeddedVault.open(at: path, enclaves: place)
        try again.unlock(with: .test("next"), as: .owner)
        let found = try everything(again)
        #expect(found.items == expected.items && found.versions == expected.versions)
        again.close()
        // The TPM's counter has gone on.
        try before.restore(to: path)
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path, enclaves: place) }
        withExtendedLifetime(tpm) {}
    }
}
