import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Vaults that earlier versions wrote stay readable.
///
/// `Fixtures/v1` was made with `VaultWorker fixture FOLDER` when the item store had version 1, `Fixtures/v2` when it
/// had version 2; `Fixtures/v1.json` and `Fixtures/v2.json` are what `Tests/Support/Vectors/format-vectors.py --keys`
/// says about them. `Fixtures/attributes` was made with `keychain set` when items first had custom attributes and an
/// expiry, and `Fixtures/versions` with `keychain` when they first had versions. None of them is ever made again.
@Suite struct FixtureTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// A copy of an example vault, with the modes that version control does not keep.
    private static func fixture(_ version: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.path(of: "vault")
        try FolderContents(of: fixtures.appendingPathComponent(version).path).restore(to: path)
        return path
    }

    @Test(arguments: ["v1", "v2"]) func theExampleOpens(_ version: String) throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: Self.fixture(version, in: folder))
        let expected = try JSONDecoder().decode(
            Inventory.self, from: Data(contentsOf: Self.fixtures.appendingPathComponent("\(version).json")))
        let live = expected.items.filter { !$0.tombstone }
        #expect(live.count == FixtureItems.all.count - 2)
        #expect(try Inventory.Item.all(in: vault) == live.sorted { $0.identifier < $1.identifier })
        #expect(try vault.verify(as: .owner).problems.isEmpty)

        for item in FixtureItems.all where item.isSynchronizable == false {
            var query = ItemQuery(itemClass: item.itemClass, attributes: item.attributes)
            query.accessGroup = item.accessGroup
            let found = try vault.items(query, as: FixtureItems.client)
            let account = item.attributes[.account]
            if account == .string("deleted") {
                #expect(found.isEmpty)
            } else {
                #expect(found.map(\.value) == [account == .string("changed") ? Data("after".utf8) : item.value])
                #expect(found.first?.accessControl == item.accessControl)
            }
        }
        _ = try vault.put(.password("new", "item", "value"), as: FixtureItems.client)
        #expect(try vault.verify(as: .owner).validItems == expected.items.count + 1)
    }

    /// The second implementation reads what this one wrote, in the past and now, and they agree on every byte.
    @Test func customAttributesAndExpiriesComeBack() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: Self.fixture("attributes", in: folder))
        let expected = try JSONDecoder().decode(
            Inventory.self, from: Data(contentsOf: Self.fixtures.appendingPathComponent("attributes.json")))
        #expect(try Inventory.Item.all(in: vault) == expected.items.sorted { $0.identifier < $1.identifier })
        #expect(expected.items.map(\.custom) == [["stage": "production", "größe": "42"], nil, nil])
        #expect(expected.items.map(\.expires) == [4_000_000_000, 791_510_400, nil])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func versionsComeBack() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: Self.fixture("versions", in: folder))
        func versions(_ service: String, _ account: String) throws -> [String] {
            var query = ItemQuery.password(service, account, limit: nil)
            query.synchronizable = .any
            return try vault.versions(query, as: .owner).map { version in
                let value = try vault.version(version.item.version, of: query, as: .owner).value
                return "\(version.item.version)\(version.isDeleted ? " deleted" : "") "
                    + String(decoding: value ?? Data(), as: UTF8.self)
            }
        }
        #expect(try versions("db", "app") == ["3 one", "2 two", "1 one"])
        #expect(try versions("plain", "item") == ["1 x"])
        #expect(try versions("mail", "bob") == ["1 deleted größer"])
        #expect(try versions("synced", "item") == ["2 deleted z"])
        #expect(try vault.keepVersions(nil, as: .owner) == 1)
        let changes = try vault.changes(since: 3, as: .owner)
        #expect(changes.known == KnownChanges(next: 9, isComplete: true))
        #expect(changes.items.map(\.change) == [6, 4, 9] && changes.items.map(\.isDeleted) == [true, false, true])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        #expect(try vault.restore(nil, of: .password("mail", "bob"), as: .owner).version == 2)
        #expect(try versions("mail", "bob") == ["2 größer", "1 deleted größer"])
    }

    @Test(arguments: ["v1", "v2", "attributes", "versions"]) func aSecondImplementationAgrees(_ version: String) throws
    {
        let folder = try TemporaryFolder()
        let path = try Self.fixture(version, in: folder)
        let kept = try Data(contentsOf: Self.fixtures.appendingPathComponent("\(version).json"))
        #expect(try Self.read(path) == kept)
    }

    @Test func anUpgradedStoreHoldsTheSame() throws {
        let folder = try TemporaryFolder()
        let path = try Self.fixture("v1", in: folder)
        func items() throws -> [Inventory.Item] {
            try JSONDecoder().decode(Inventory.self, from: Self.read(path)).items
        }
        let before = try items()
        try EmbeddedVault.open(at: path).close()
        #expect(try items() == before)
    }

    @Test func aSecondImplementationReadsWhatIsWrittenNow() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "fresh")
        func make() throws -> [Inventory.Item] {
            let vault = try EmbeddedVault.open(at: path)
            for item in FixtureItems.all { _ = try vault.add(item, as: FixtureItems.client) }
            try FixtureItems.change(vault)
            var item = NewItem.password("with", "custom attributes", "value")
            item.customAttributes = ["stage": "production", "schlüssel": ""]
            _ = try vault.add(item, as: FixtureItems.client)
            item = .password("with", "an end", "value")
            item.expiry = .at(Date(timeIntervalSinceReferenceDate: 4_000_000_000.5))
            _ = try vault.add(item, as: FixtureItems.client)
            return try Inventory.Item.all(in: vault)
        }
        let written = try make()
        #expect(written.contains { $0.custom?.count == 2 } && written.contains { $0.expires == 4_000_000_000.5 })
        let read = try JSONDecoder().decode(Inventory.self, from: Self.read(path))
        #expect(read.items.filter { !$0.tombstone }.sorted { $0.identifier < $1.identifier } == written)
        #expect(read.items.filter(\.tombstone).map(\.value) == [nil])
    }

    /// `Fixtures/v1.backup` is a backup of `Fixtures/v1`, made with the password 'correct horse', 8 MiB and one pass.
    @Test func theBackupOpens() throws {
        let folder = try TemporaryFolder()
        let backup = Self.fixtures.appendingPathComponent("v1.backup")
        let password = "correct horse"
        try Data(password.utf8).write(to: URL(fileURLWithPath: folder.path(of: "password")))
        let read = try JSONDecoder().decode(
            Inventory.self,
            from: FormatVectors.read(backup.path, ["--backup-password", folder.path(of: "password")]))
        let expected = try JSONDecoder().decode(
            Inventory.self, from: Data(contentsOf: Self.fixtures.appendingPathComponent("v1.json")))
        let portable = expected.items.filter { ["ak", "ck", "dk"].contains($0.protection) }
        #expect(read.items == portable)

        var rest = try Data(contentsOf: backup)[...]
        let reader = try BackupReader { count in
            defer { rest = rest.dropFirst(count) }
            return Data(rest.prefix(count))
        }
        guard case .password(let salt, let cost, _) = reader.head.seal else {
            Issue.record("not under a password")
            return
        }
        let stretched = try Argon2idStretching.stretch(
            SecretBytes(password), salt: salt, memoryKiB: cost.memoryKiB, passes: cost.passes)
        let path = folder.path(of: "vault")
        let summary = try EmbeddedVault.restore(
            reader, with: RecoveryKey(stretched: stretched), to: path, in: .software)
        #expect(summary == BackupSummary(items: portable.count(where: { !$0.tombstone })))
        let vault = try EmbeddedVault.open(at: path)
        #expect(
            try Inventory.Item.all(in: vault)
                == portable.filter { !$0.tombstone }.sorted { $0.identifier < $1.identifier })
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func theyAgreeAboutPasscodes() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let passcode = "pässwörd 1234"
        try Data(passcode.utf8).write(to: URL(fileURLWithPath: folder.path(of: "passcode")))
        func make() throws -> [Inventory.Item] {
            let vault = try EmbeddedVault.open(at: path)
            try vault.setPasscode(SecretBytes("first"), options: .cheapest, as: .owner)
            for item in FixtureItems.all { _ = try vault.add(item, as: FixtureItems.client) }
            var last = NewItem.password("protected", "akpu", "secret of akpu")
            last.accessControl.protection = .whenPasscodeSetThisDeviceOnly
            _ = try vault.add(last, as: FixtureItems.client)
            try vault.changePasscode(
                from: SecretBytes("first"), to: SecretBytes(passcode),
                options: PasscodeOptions(cost: .explicit(memoryMiB: 3, passes: 2), eraseAfter: 10), as: .owner)
            #expect(throws: VaultError.self) { try vault.unlock(with: SecretBytes("first"), as: .owner) }
            return try Inventory.Item.all(in: vault)
        }
        let written = try make()
        let read = try JSONDecoder().decode(
            Inventory.self, from: Self.read(path, "--passcode", folder.path(of: "passcode")))
        #expect(read.items.filter { !$0.tombstone }.sorted { $0.identifier < $1.identifier } == written)
        #expect(read.failures == 1)
    }

    private static func read(_ path: String, _ options: String...) throws -> Data {
        try FormatVectors.read(path, ["--keys"] + options)
    }
}

/// The output of the script.
private struct Inventory: Decodable {
    var failures: Int?
    struct Value: Decodable, Equatable {
        var string: String?
        var data: String?
        var number: Int64?
        var real: Double?
        var date: Double?
    }

    struct Item: Decodable, Equatable {
        var `class`: String
        var identifier: String
        var group: String
        var protection: String
        var accessControlFlags: UInt64?
        var synchronizable: Bool
        var tombstone: Bool
        var created: Double
        var modified: Double
        var attributes: [String: Value]
        var custom: [String: String]?
        var expires: Double?
        var value: String?
    }

    var items: [Item]
}

extension Inventory.Item {
    fileprivate init(_ item: StoredItem) {
        self.init(
            class: item.itemClass.rawValue, identifier: item.identifier.uuidString, group: item.accessGroup,
            protection: item.accessControl.protection.rawValue, accessControlFlags: item.accessControl.flags?.rawValue,
            synchronizable: item.isSynchronizable, tombstone: item.isTombstone,
            created: item.creationDate.timeIntervalSinceReferenceDate,
            modified: item.modificationDate.timeIntervalSinceReferenceDate,
            attributes: Dictionary(
                uniqueKeysWithValues: item.attributes.map { ($0.key.string, Inventory.Value($0.value)) }),
            custom: item.customAttributes.isEmpty ? nil : item.customAttributes,
            expires: item.expiry.date?.timeIntervalSinceReferenceDate,
            value: item.value.map(Self.hex))
    }

    /// Every live item of `vault`, in the order of identifiers.
    fileprivate static func all(in vault: EmbeddedVault) throws -> [Self] {
        try vault.allItems().values.map { Self($0) }.sorted { $0.identifier < $1.identifier }
    }

    fileprivate static func hex(_ bytes: Data) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }
}

extension Inventory.Value {
    fileprivate init(_ value: AttributeValue) {
        switch value {
        case .string(let string): self.init(string: string)
        case .data(let data): self.init(data: Inventory.Item.hex(data))
        case .number(let number): self.init(number: number)
        case .real(let real): self.init(real: real)
        case .date(let date): self.init(date: date.timeIntervalSinceReferenceDate)
        }
    }
}
