import Access
import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import TestSupport
import Testing
import Vault
import VaultInterface

/// Backups of a vault, and the vaults that are made from them.
@Suite struct BackupTests {
    private let folder: TemporaryFolder
    private let path: String
    private let next: String
    private let stretched: SecretBytes
    private let key: RecoveryKey

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        next = folder.path(of: "next")
        stretched = try [UInt8].random(count: 32).withUnsafeBytes { try SecretBytes(copying: $0) }
        key = try RecoveryKey(stretched: stretched)
    }

    private var password: BackupSeal {
        .password(
            stretched: stretched, salt: .random(count: BackupSeal.saltSize), cost: Argon2Cost(memoryKiB: 8, passes: 1))
    }

    private func reader(_ bytes: Data) throws -> BackupReader {
        var rest = bytes[...]
        return try BackupReader { count in
            defer { rest = rest.dropFirst(count) }
            return Data(rest.prefix(count))
        }
    }

    /// One item of each class, one item with a value of several chunks, and a deleted one that is synchronized.
    private func fill(_ vault: EmbeddedVault) throws {
        for protection in ProtectionClass.allCases where vault.hasPasscodeClass || protection.rawValue != "akpu" {
            var item = NewItem.password("s", protection.rawValue, "value of \(protection.rawValue)")
            item.accessControl = AccessControl(protection: protection)
            _ = try vault.add(item, as: .app)
        }
        _ = try vault.add(.password("s", "large", String(repeating: "x", count: 200_000)), as: .app)
        var synchronized = NewItem.password("s", "deleted", "value")
        synchronized.isSynchronizable = true
        _ = try vault.add(synchronized, as: .app)
        var query = ItemQuery.password("s", "deleted")
        query.synchronizable = .any
        _ = try vault.perform(DeleteItems(query), as: .app)
    }

    private func expectPortableItems(in vault: EmbeddedVault) throws {
        for protection in ProtectionClass.allCases {
            let value = try vault.items(.password("s", protection.rawValue)).first?.value
            let isPortable = ["ak", "ck", "dk"].contains(protection.rawValue)
            #expect(value == (isPortable ? Data("value of \(protection.rawValue)".utf8) : nil))
        }
        #expect(try vault.items(.password("s", "large")).first?.value?.count == 200_000)
        #expect(try vault.items(.password("s", "deleted")).isEmpty)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test(arguments: EnclaveKind.allCases)
    func anotherMachineRestoresIt(_ kind: EnclaveKind) throws {
        let (first, second) = (try SoftwareTPM(), try SoftwareTPM())
        let vault = try EmbeddedVault.open(at: path, in: kind, enclaves: EnclavePlace(tpm: first.address))
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let (bytes, summary) = try vault.makeBackup(password, as: .owner)
        #expect(summary == BackupSummary(items: 4, leftOut: 4, damaged: 0))
        vault.close()
        first.kill()
        try FileManager.default.removeItem(atPath: path)

        #expect(try EmbeddedVault.verify(reader(bytes), with: key) == BackupSummary(items: 4))
        let restored = try EmbeddedVault.restore(
            reader(bytes), with: key, to: next, in: kind, enclaves: EnclavePlace(tpm: second.address))
        #expect(restored == BackupSummary(items: 4))
        #expect(!FileManager.default.fileExists(atPath: next + ".restoring"))
        let opened = try EmbeddedVault.open(at: next, enclaves: EnclavePlace(tpm: second.address))
        #expect(try !opened.status(as: .owner).isPasscodeSet)
        try expectPortableItems(in: opened)
        // It is a vault as any other.
        try opened.setPasscode(.test("next"), options: .cheapest, as: .owner)
        _ = try opened.add(.password("s", "new", "value"), as: .app)
        opened.close()
        let again = try EmbeddedVault.open(at: next, enclaves: EnclavePlace(tpm: second.address))
        try again.unlock(with: .test("next"), as: .app)
        try expectPortableItems(in: again)
        withExtendedLifetime(second) {}
    }

    @Test func theRecoveryKeyOpensOneThatALockedVaultMade() throws {
        let vault = try EmbeddedVault.open(at: path)
        #expect(throws: VaultError.self) { try vault.makeBackup(.recoveryKey, as: .owner) }
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let recoveryKey = try vault.makeRecoveryKey(as: .owner)
        try vault.lock(after: .zero, as: .owner)
        #expect(throws: VaultError.self) { try vault.makeBackup(password, as: .owner) }
        let (bytes, _) = try vault.makeBackup(.recoveryKey, as: .owner)
        vault.close()

        #expect(throws: VaultError.self) { try EmbeddedVault.verify(reader(bytes), with: key) }
        _ = try EmbeddedVault.restore(reader(bytes), with: recoveryKey, to: next, in: .software)
        let restored = try EmbeddedVault.open(at: next)
        try expectPortableItems(in: restored)
        // The key stays the vault's recovery key.
        restored.close()
        try FileManager.default.removeItem(atPath: next + "/device-secret")
        let (recovered, lost) = try EmbeddedVault.recover(at: next, with: recoveryKey, in: .software, as: .owner)
        #expect(lost == 0)
        try expectPortableItems(in: recovered)
    }

    @Test func whoMayMakeOne() throws {
        let vault = try EmbeddedVault.open(at: path)
        for seal in [password, .recoveryKey, .thisVault] {
            #expect(throws: VaultError.self) { try vault.makeBackup(seal, as: .app) }
        }
    }

    @Test func onlyItsVaultRestoresOneForThisDevice() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let (bytes, summary) = try vault.makeBackup(.thisVault, as: .owner)
        #expect(summary == BackupSummary(items: 7, leftOut: 1))
        #expect(throws: VaultError.self) {
            try EmbeddedVault.restore(reader(bytes), with: key, to: next, in: .software)
        }
        let other = try EmbeddedVault.open(at: next)
        #expect(throws: VaultError.self) { try other.restore({ try reader(bytes) }, as: .owner) }
        #expect(throws: VaultError.self) { try vault.restore({ try reader(bytes) }, as: .app) }
        #expect(throws: VaultError.self) {
            try vault.restore({ try reader(vault.makeBackup(password, as: .owner).bytes) }, as: .owner)
        }

        // What is there stays.
        #expect(
            try vault.restore({ try reader(bytes) }, as: .owner) == BackupSummary(items: 0, leftOut: 7, damaged: 0))
        for account in ["ak", "aku", "akpu", "large"] {
            _ = try vault.perform(DeleteItems(.password("s", account)), as: .app)
        }
        #expect(try vault.verify(reader(bytes), as: .owner) == BackupSummary(items: 7))
        #expect(
            try vault.restore({ try reader(bytes) }, as: .owner) == BackupSummary(items: 3, leftOut: 4, damaged: 0))
        #expect(try vault.items(.password("s", "aku")).count == 1)
        #expect(try vault.items(.password("s", "akpu")).isEmpty)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        try vault.lock(after: .zero, as: .owner)
        #expect(throws: VaultError.self) { try vault.restore({ try reader(bytes) }, as: .owner) }
        try vault.erase(as: .owner)
        #expect(throws: VaultError.self) { try vault.restore({ try reader(bytes) }, as: .owner) }
    }

    /// A backup for this device that was made before the class keys were renewed, once and twice.
    @Test func itsVaultRestoresOneOfFormerKeys() throws {
        let person = PersonUnderTest()
        let vault = try EmbeddedVault.open(
            at: path,
            surroundings: VaultSurroundings(
                authenticator: person, passwordCost: Argon2id.Cost(memoryKiB: 8, passes: 1)))
        try fill(vault)
        let guarded = try AccessControlledItemTests.item("a", .applicationPassword, password: "pw")
        _ = try vault.add(guarded, as: .app)
        var backups = [try vault.makeBackup(.thisVault, as: .owner)]
        for _ in 0..<2 {
            try vault.renewKeys()
            backups.append(try vault.makeBackup(.thisVault, as: .owner))
        }
        for backup in backups {
            #expect(try vault.verify(reader(backup.bytes), as: .owner) == backup.summary)
            for account in ["ak", "dku", "large"] { _ = try vault.delete(.password("s", account), as: .app) }
            _ = try vault.delete(AccessControlledItemTests.query("a", password: "pw"), as: .app)
            _ = try vault.restore({ try reader(backup.bytes) }, as: .owner)
            for account in ["ak", "dku"] {
                #expect(try vault.items(.password("s", account)).map(\.value) == [Data("value of \(account)".utf8)])
            }
            #expect(try vault.items(.password("s", "large")).first?.value?.count == 200_000)
            let found = try vault.copy(
                AccessControlledItemTests.query("a", password: "pw"), includingValues: true, as: .app)
            #expect(found.map(\.value) == [Data("secret of a".utf8)])
            #expect(try vault.verify(as: .owner).problems.isEmpty)
        }
    }

    /// Where the keys were renewed, the vault that is made from a backup opens what hangs on the former ones, too.
    @Test func formerKeysTravelAlong() throws {
        let surroundings = VaultSurroundings(
            authenticator: PersonUnderTest(), passwordCost: Argon2id.Cost(memoryKiB: 8, passes: 1))
        let vault = try EmbeddedVault.open(at: path, surroundings: surroundings)
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        let guarded = try AccessControlledItemTests.item("a", .applicationPassword, password: "pw")
        _ = try vault.add(guarded, as: .app)
        for _ in 0..<2 { try vault.renewKeys() }
        let backup = try vault.makeBackup(password, as: .owner)
        vault.close()
        #expect(try EmbeddedVault.verify(reader(backup.bytes), with: key) == backup.summary)
        _ = try EmbeddedVault.restore(reader(backup.bytes), with: key, to: next, in: .software)
        let restored = try EmbeddedVault.open(at: next, surroundings: surroundings)
        for key in keys { #expect(try key.opens(in: restored, as: .app)) }
        let found = try restored.copy(
            AccessControlledItemTests.query("a", password: "pw"), includingValues: true, as: .app)
        #expect(found.map(\.value) == [Data("secret of a".utf8)])
        #expect(try restored.verify(as: .owner).problems.isEmpty)
    }

    /// Each changed, missing or added byte is noticed, and then there is no vault.
    @Test func everyByteCounts() throws {
        let vault = try EmbeddedVault.open(at: path)
        try fill(vault)
        let (bytes, _) = try vault.makeBackup(password, as: .owner)
        var random = SeededGenerator()
        // All of the head, and some of the rest.
        let places = Array(bytes.indices.prefix(400)) + (0..<200).map { _ in random.int(below: bytes.count) }
        for place in places {
            var changed = bytes
            changed[place] ^= 1 << UInt8(truncatingIfNeeded: random.int(below: 8))
            #expect(throws: VaultError.self, "byte \(place), \(random)") {
                try EmbeddedVault.verify(reader(changed), with: key)
            }
        }
        let chunk = (1 << 16) + 16
        let end = bytes.count - bytes.count % chunk
        let lengths =
            [0, 1, 94, 95, 200, chunk, end, bytes.count - 1] + (0..<50).map { _ in random.int(below: bytes.count) }
        for count in lengths {
            #expect(throws: VaultError.self, "\(count) bytes") {
                try EmbeddedVault.verify(reader(bytes.prefix(count)), with: key)
            }
        }
        #expect(throws: VaultError.self) { try EmbeddedVault.verify(reader(bytes + [0]), with: key) }
        #expect(throws: VaultError.self) {
            try EmbeddedVault.restore(reader(bytes.dropLast()), with: key, to: next, in: .software)
        }
        #expect(!FileManager.default.fileExists(atPath: next + ".restoring"))
        #expect(!FileManager.default.fileExists(atPath: next + "/keybag"))
        // The same place is still good for the whole backup.
        _ = try EmbeddedVault.restore(reader(bytes), with: key, to: next, in: .software)
    }

    @Test func aVaultThatIsThereStays() throws {
        let vault = try EmbeddedVault.open(at: path)
        try fill(vault)
        let (bytes, _) = try vault.makeBackup(password, as: .owner)
        let before = try FolderContents(of: path).entries
        #expect(throws: VaultError.self) {
            try EmbeddedVault.restore(reader(bytes), with: key, to: path, in: .software)
        }
        #expect(try FolderContents(of: path).entries == before)
    }

    /// What a killed restore leaves beside the place of the vault is no vault, and in nobody's way.
    @Test func whatAKilledRestoreLeftIsRemoved() throws {
        let vault = try EmbeddedVault.open(at: path)
        try fill(vault)
        let (bytes, _) = try vault.makeBackup(password, as: .owner)
        try FileManager.default.copyItem(atPath: path, toPath: next + ".restoring")
        try FileManager.default.removeItem(atPath: next + ".restoring/lock")
        _ = try EmbeddedVault.restore(reader(bytes), with: key, to: next, in: .software)
        try expectPortableItems(in: EmbeddedVault.open(at: next))
    }

    /// The backup has the items of one moment, while a program moves an amount from one item to another.
    @Test func itIsOfOneMoment() async throws {
        let vault = try EmbeddedVault.open(at: path)
        for account in ["a", "b"] { _ = try vault.add(.password("s", account, "0"), as: .app) }
        for number in 0..<500 { _ = try vault.add(.password("other", "\(number)", "x"), as: .app) }
        let writer = Task.detached {
            var number = 0
            while !Task.isCancelled {
                number += 1
                for account in ["a", "b"] { _ = try vault.put(.password("s", account, "\(number)"), as: .app) }
            }
        }
        defer { writer.cancel() }
        for turn in 0..<5 {
            let (bytes, summary) = try vault.makeBackup(password, as: .owner)
            #expect(summary.items == 502)
            let place = next + "\(turn)"
            _ = try EmbeddedVault.restore(reader(bytes), with: key, to: place, in: .software)
            let restored = try EmbeddedVault.open(at: place)
            let values = try ["a", "b"].map { account in
                try Int(String(decoding: restored.items(.password("s", account)).first?.value ?? Data(), as: UTF8.self))
            }
            let (first, second) = (try #require(values[0]), try #require(values[1]))
            #expect(first == second || first == second + 1)
        }
        writer.cancel()
        _ = await writer.result
    }
}
