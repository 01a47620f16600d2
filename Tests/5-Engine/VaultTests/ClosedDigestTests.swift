import Access
import Crypto
import Enclave
import Foundation
import GRDB
import KeychainModel
import SecureMemory
import TestSupport
import Testing
import VaultInterface

@testable import Keybag
@testable import Sealing
@testable import Vault

/// What a vault tells, and finds, before it was unlocked for the first time.
@Suite struct ClosedDigestTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path(of: "vault") }

    init() throws { folder = try TemporaryFolder() }

    private static func item(
        _ service: String, _ account: String, _ protection: ProtectionClass, group: String = "TEAM.app"
    ) -> NewItem {
        var item = NewItem.password(service, account, "value of \(account)")
        item.accessControl = AccessControl(protection: protection)
        item.accessGroup = group
        item.customAttributes = ["stage": "production \(account)"]
        return item
    }

    /// Makes a vault with a passcode, and items of all classes.
    private func makeVault() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        for (number, protection) in ProtectionClass.allCases.enumerated() {
            _ = try vault.add(Self.item("service \(number)", "account \(number)", protection), as: .app)
        }
        vault.close()
    }

    /// All the digests that the item store and the audit log show to somebody who has the device secret.
    private func shownDigests() throws -> (terms: Set<Int64>, keys: Set<Data>) {
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: path))
        defer { try? database.close() }
        return try database.read { database in
            var terms = Set(try Int64.fetchAll(database, sql: "SELECT term FROM filing"))
            for packed in try Data.fetchAll(database, sql: "SELECT terms FROM item UNION SELECT terms FROM former") {
                for place in stride(from: 0, to: packed.count, by: 8) {
                    terms.insert(packed[place..<(place + 8)].reduce(0) { $0 << 8 | Int64($1) })
                }
            }
            return (terms, Set(try Data.fetchAll(database, sql: "SELECT pk FROM item UNION SELECT pk FROM former")))
        }
    }

    private func guesser() throws -> OpenedKeybag {
        let bytes = { try Data(contentsOf: URL(fileURLWithPath: path + "/" + $0)) }
        let enclave = try SoftwareEnclave(decoding: bytes("device-secret"))
        return OpenedKeybag(try ClassKeys(Keybag(decoding: bytes("keybag"), in: enclave), in: enclave))
    }

    /// Whether guesses at the names of an item are confirmed.
    private func isConfirmed(
        _ service: String, _ account: String, by keybag: OpenedKeybag, _ shown: (terms: Set<Int64>, keys: Set<Data>)
    ) -> Bool {
        let index = keybag.index
        let names: ItemAttributes = [.service: .string(service), .account: .string(account)]
        let terms = [
            index.term(.service, .string(service), in: .genericPassword),
            index.term(.account, .string(account), in: .genericPassword), index.lookup(.genericPassword, names) ?? 0,
            index.term(ofCustom: "stage", "production \(account)", in: .genericPassword),
        ]
        let key = index.primaryKey(
            .genericPassword, accessGroup: "TEAM.app", isSynchronizable: false, attributes: names)
        return terms.contains { shown.terms.contains($0) } || shown.keys.contains(key)
    }

    @Test func guessesConfirmNothing() throws {
        try makeVault()
        let (shown, keybag) = (try shownDigests(), try guesser())
        #expect(keybag.closedIndex == nil)
        #expect(shown.terms.count > 20)
        for number in 0..<10_000 {
            let isOpen = number < ProtectionClass.allCases.count && !ProtectionClass.allCases[number].isClosed
            #expect(
                isConfirmed("service \(number)", "account \(number)", by: keybag, shown) == isOpen, "\(number)")
        }
    }

    @Test func whatNeedsNoUnlockingIsFoundAndNothingElse() throws {
        try makeVault()
        let vault = try EmbeddedVault.open(at: path)
        for (number, protection) in ProtectionClass.allCases.enumerated() {
            let query = ItemQuery.password("service \(number)", "account \(number)")
            if protection.isClosed {
                expectClosed { try vault.copy(query, includingValues: true, as: .app) }
                expectClosed { try vault.delete(query, as: .app) }
                expectClosed { try vault.add(Self.item("service \(number)", "account \(number)", .always), as: .app) }
            } else {
                #expect(try vault.copy(query, includingValues: true, as: .app).count == 1)
                #expect(try vault.update(query, with: ItemChanges(value: Data([1])), as: .app) == 1)
                #expect(try vault.delete(query, as: .app) == 1)
            }
        }
        // There may be one that is closed.
        expectClosed { try vault.copy(.password("nowhere", "nobody"), includingValues: false, as: .app) }
        // Of another class there is none.
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(
                ItemQuery(itemClass: .internetPassword, attributes: [.server: .string("h")]), includingValues: false,
                as: .app)
        }
        // Nor does another group hold any.
        let other = Client(identifier: "other", accessGroups: ["TEAM.other"])
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("service 0", "account 0"), includingValues: false, as: other)
        }
        _ = try vault.add(Self.item("s", "a", .always, group: "TEAM.other"), as: other)

        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try vault.items(.password("service 0", "account 0")).count == 1)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("nowhere", "nobody"), includingValues: false, as: .app)
        }
        #expect(throws: VaultError.duplicateItem) {
            try vault.add(Self.item("service 0", "account 0", .always), as: .app)
        }
        // Locked again, the vault still tells a locked item from one that is not there.
        try vault.lock(after: .zero, as: .owner)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("nowhere", "nobody"), includingValues: false, as: .app)
        }
        expectClosed { try vault.copy(.password("service 0", "account 0"), includingValues: true, as: .app) }
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func deletedItemsAreNotOverlookedEither() throws {
        let first = try EmbeddedVault.open(at: path)
        try first.setPasscode(.test("right"), options: .cheapest, as: .owner)
        var item = Self.item("s", "a", .whenUnlocked)
        item.kept = .atMost(3)
        _ = try first.add(item, as: .app)
        #expect(try first.delete(.password("s", "a"), as: .app) == 1)
        first.close()
        let vault = try EmbeddedVault.open(at: path)
        let query = ItemQuery.password("s", "a", limit: nil)
        expectClosed { try vault.versions(query, as: .app) }
        expectClosed { try vault.restore(nil, of: query, as: .app) }
        expectClosed { try vault.purge(query, as: .app) }
        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try vault.versions(query, as: .app).count == 1)
        #expect(try vault.purge(query, as: .app) == 1)
    }

    private func expectClosed<Result>(_ place: SourceLocation = #_sourceLocation, _ body: () throws -> Result) {
        let error = #expect(throws: VaultError.self, sourceLocation: place) { _ = try body() }
        guard case .interactionNotAllowed = error else {
            Issue.record("\(String(describing: error))", sourceLocation: place)
            return
        }
    }

    /// An item that gets a class of the other kind has other digests and stays the same item.
    @Test(arguments: [ProtectionClass.always, .whenUnlocked]) func theClassChanges(_ first: ProtectionClass) throws {
        let vault = try EmbeddedVault.open(at: path)
        let added = try vault.add(Self.item("s", "a", first), as: .app)
        let other: ProtectionClass = first == .always ? .whenUnlocked : .always
        let changes = ItemChanges(accessControl: AccessControl(protection: other))
        #expect(try vault.update(.password("s", "a"), with: changes, as: .app) == 1)
        let found = try vault.items(.password("s", "a", limit: nil))
        #expect(found.map(\.identifier) == [added.identifier] && found.first?.accessControl.protection == other)
        #expect(throws: VaultError.duplicateItem) { try vault.add(Self.item("s", "a", first), as: .app) }
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        #expect(try vault.delete(.password("s", "a"), as: .app) == 1)
        vault.close()
        try expectSoundStore(in: path)
    }

    /// Rows of earlier software get their digests under the other key at the first unlocking.
    @Test(arguments: [false, true]) func oldRowsAreRenewed(_ hasPasscode: Bool) throws {
        let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Fixtures/many")
        try FolderContents(of: example.path).restore(to: path)
        let before: (terms: Set<Int64>, keys: Set<Data>)
        if hasPasscode {
            // As software of before does: the passcode is there when the store is taken over.
            let enclave = try SoftwareEnclave(
                decoding: Data(contentsOf: URL(fileURLWithPath: path + "/device-secret")))
            let old = try Keybag(decoding: Data(contentsOf: URL(fileURLWithPath: path + "/keybag")), in: enclave)
            let protection = PasscodeProtection.fresh(cost: Argon2id.Cost(memoryKiB: 1024, passes: 1), eraseAfter: nil)
            let (guarded, key) = try protection.guarding(.test("right"), in: enclave)
            let next = try old.rewrapped(from: nil, to: key, guarded, in: enclave)
            try FolderContents.write(next.encoded(in: enclave), to: path + "/keybag")
            // No wrong passcode was given (Formats/Vault.md, "attempts").
            let tag = try enclave.deriveKey(tangling: nil, salt: old.salt, context: "swift-keychain/v1/attempts")
            let attempts = Data("SKTRIES".utf8) + [0, 0, 1] + Data(count: 28)
            try FolderContents.write(
                attempts + HMAC<SHA256>.authenticationCode(for: attempts, using: tag), to: path + "/attempts")
            let vault = try EmbeddedVault.open(at: path)
            before = try shownDigests()
            #expect(isConfirmed("old", "7", by: try guesser(), before))
            // Found as ever.
            expectClosed { try vault.copy(.password("old", "7"), includingValues: true, as: .app) }
            try vault.unlock(with: .test("right"), as: .owner)
            #expect(try vault.items(.password("old", "7")).map(\.value) == [Data("value 7".utf8)])
            vault.close()
        } else {
            try EmbeddedVault.open(at: path).close()
        }
        let shown = try shownDigests()
        let keybag = try guesser()
        for number in 0..<200 { #expect(!isConfirmed("old", "\(number)", by: keybag, shown), "\(number)") }
        let vault = try EmbeddedVault.open(at: path)
        if hasPasscode { try vault.unlock(with: .test("right"), as: .owner) }
        #expect(try vault.items(.password("old", limit: nil)).count == 200)
        #expect(try vault.verify(as: .owner) == IntegrityReport(validItems: 200, lockedItems: 0, problems: []))
        vault.close()
        try expectSoundStore(in: path)
    }
}
