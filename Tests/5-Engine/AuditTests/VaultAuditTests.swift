import Access
import Audit
import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What a vault tells its log.
@Suite struct VaultAuditTests {
    private static let stranger = Client(identifier: "stranger", accessGroups: ["strange"])

    @Test func everyOperationIsRecordedAsItEnded() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        _ = try vault.add(.password("s", "a", "1"), as: .app)
        _ = try vault.add(.password("s", "b", "2"), as: .app)
        #expect(throws: VaultError.duplicateItem) { try vault.add(.password("s", "a", "3"), as: .app) }
        _ = try vault.copy(.password("s", limit: nil), includingValues: true, as: .app)
        _ = try vault.copy(.password("s", limit: nil), includingValues: false, as: .app)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("s"), includingValues: true, as: Self.stranger)
        }
        var foreign = ItemQuery.password("s")
        foreign.accessGroup = "TEAM.app"
        #expect(throws: VaultError.self) { try vault.copy(foreign, includingValues: true, as: Self.stranger) }
        _ = try vault.update(.password("s", limit: nil), with: ItemChanges(value: Data("4".utf8)), as: .app)
        _ = try vault.put(.password("s", "c", "5"), as: .app)
        _ = try vault.exchange(.password("s", "c", "6"), expecting: Data("no".utf8), as: .app)
        _ = try vault.delete(.password("s", limit: nil), as: .app)
        #expect(throws: VaultError.self) { try vault.erase(as: .app) }
        try vault.erase(as: .owner)
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        let told = records.map { record in
            "\(record.event) \(record.client ?? "-") \(record.items.map(String.init) ?? "-") \(record.failure ?? "-")"
        }
        #expect(
            told == [
                "began - - -",
                "written app 1 -", "written app 1 -", "written app - duplicate",
                "began - - -", "read app 2 -", "listed app 2 -", "read stranger - not-found",
                "refused stranger - group-not-held",
                "written app 2 -", "written app 1 -", "written app 0 -", "deleted app 3 -",
                "refused app - group-not-held",
                "began - - -", "erased owner - -", "began - - -", "inspected owner - -",
            ])
        let report = try vault.verifyAudit(as: .owner)
        #expect(report == AuditReport(records: 19, recordsOfEarlierKeys: 14))
    }

    /// Who read an item, changed it, or asked for it in vain, is told by service and account, in every group and also
    /// after its end.
    @Test func theRecordsOfAnItemAreFoundByItsName() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        _ = try vault.add(.password("s", "a", "1"), as: .app)
        _ = try vault.add(.password("s", "b", "2"), as: .app)
        _ = try vault.copy(.password("s", "a"), includingValues: true, as: .app)
        _ = try vault.copy(.password("s", "b"), includingValues: true, as: .app)
        var other = Client(identifier: "other", accessGroups: ["other"])
        other.process = ClientProcess(user: 7, number: 8)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("s", "a"), includingValues: true, as: other)
        }
        var foreign = ItemQuery.password("s", "a")
        foreign.accessGroup = "TEAM.app"
        #expect(throws: VaultError.self) { try vault.copy(foreign, includingValues: true, as: other) }
        _ = try vault.copy(.password("s", limit: nil), includingValues: false, as: .app)
        _ = try vault.delete(.password("s", limit: nil), as: .app)
        let session = VaultSession(vault: vault, client: .owner)
        let item = AuditQuery.Item(service: "s", account: "a")
        let (records, unclear) = try session.perform(ReadAudit(AuditQuery(item: item)))
        #expect(
            records.map { "\($0.event) \($0.client ?? "-") \($0.failure ?? "-")" } == [
                "written app -", "read app -", "read other not-found", "refused other group-not-held", "listed app -",
                "deleted app -",
            ])
        #expect(unclear == 0)
        #expect(records[0].user == geteuid() && records[0].process == getpid())
        #expect(records[2].user == 7 && records[2].process == 8)
        #expect(records.map { $0.itemDigests?.count } == [1, 1, 1, 1, 2, 2])
        let nobody = AuditQuery(item: AuditQuery.Item(service: "s", account: "nobody"))
        #expect(try session.perform(ReadAudit(nobody)).records.isEmpty)
        // Nothing that leads from the log to a row, or from another vault's log to this one.
        let second = try EmbeddedVault.open(
            at: folder.path(of: "second"), surroundings: VaultSurroundings(audit: AuditLog()))
        _ = try second.add(.password("s", "a", "1"), as: .app)
        let theirs = try VaultSession(vault: second, client: .owner).perform(ReadAudit(AuditQuery(item: item)))
        #expect(theirs.records.count == 1 && theirs.records[0].itemDigests != records[0].itemDigests)
    }

    /// A record names 32 items, and the log says where it named fewer than there were.
    @Test func recordsThatDoNotNameEveryItemAreCounted() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        for number in 0..<40 { _ = try vault.add(.password("s", "\(number)", "1"), as: .app) }
        _ = try vault.copy(.password("s", limit: nil), includingValues: true, as: .app)
        let session = VaultSession(vault: vault, client: .owner)
        let all = try session.perform(ReadAudit(AuditQuery())).records
        #expect(all.first { $0.event == "read" }?.itemDigests?.count == 32)
        let counts = try (0..<40).map { number in
            let item = AuditQuery.Item(service: "s", account: "\(number)")
            let found = try session.perform(ReadAudit(AuditQuery(item: item)))
            return found.records.filter { $0.event == "read" }.count + found.unclear
        }
        #expect(counts == Array(repeating: 1, count: 40))
    }

    /// As a served vault does for a claimed group that is not held.
    @Test func newItemsForAGroupThatIsNotHeldAreRefusedAndRecorded() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        let client = Client(identifier: "app", accessGroups: ["TEAM.app"], preferredGroup: "OTHER.app")
        let refusal = VaultError.accessDenied(.groupNotHeld(group: "OTHER.app", client: "app"))
        #expect(throws: refusal) { try vault.add(.password("s", "a", "1"), as: client) }
        #expect(throws: refusal) { try vault.put(.password("s", "a", "1"), as: client) }
        #expect(throws: refusal) {
            try vault.exchange(.password("s", "a", "1"), expecting: nil, as: client)
        }
        // Nothing but `*` is no group that an item can be in.
        let everywhere = Client(identifier: "all", accessGroups: ["*"])
        #expect(throws: VaultError.accessDenied(.noAccessGroups(client: "all"))) {
            try vault.add(.password("s", "a", "1"), as: everywhere)
        }
        let told = try vault.auditRecords(AuditQuery(), as: .owner).filter { $0.event == "refused" }.map {
            "\($0.client ?? "-") \($0.operation ?? "-") \($0.failure ?? "-")"
        }
        #expect(
            told == [
                "app add group-not-held", "app put group-not-held", "app exchange group-not-held",
                "all add no-access-groups",
            ])
    }

    @Test func keysOfFilesAreRecorded() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        var key = try KeptFileKey.make(.none, in: vault, as: .app)
        _ = try key.opens(in: vault, as: .app)
        _ = try vault.rewrapFileKey(from: .none, to: .complete, file: key.file, wrapped: key.made.wrapped, as: .app)
        key.made = FileKey(key: key.made.key, wrapped: Data(count: 40))
        #expect(throws: VaultError.corruptFileKey) { try key.opens(in: vault, as: .app) }
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        try vault.lock(after: .zero, as: .owner)
        #expect(throws: VaultError.self) { try KeptFileKey.make(.complete, in: vault, as: .app) }
        let nobody = Client(identifier: "nobody", accessGroups: [])
        #expect(throws: VaultError.self) { try KeptFileKey.make(.none, in: vault, as: nobody) }
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        let told = records.filter { $0.operation?.hasSuffix("file-key") == true }.map {
            "\($0.event) \($0.client ?? "-") \($0.operation ?? "-") \($0.failure ?? "-")"
        }
        #expect(
            told == [
                "used app make-file-key -", "used app open-file-key -", "used app rewrap-file-key -",
                "used app open-file-key invalid", "used app make-file-key locked",
                "refused nobody make-file-key no-access-groups",
            ])
    }

    /// A purge destroys what a deletion leaves, so that the two have names of their own.
    @Test func aPurgeIsRecordedAsOne() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        _ = try vault.perform(KeepVersions(3), as: .owner)
        for secret in ["1", "2", "3"] { _ = try vault.put(.password("s", "a", secret), as: .app) }
        _ = try vault.delete(.password("s", "a"), as: .app)
        #expect(try vault.purge(.password("s", "a"), as: .app) == 3)
        #expect(try vault.purge(nil, as: .owner) == 0)
        #expect(throws: VaultError.self) { try vault.purge(nil, as: Client(identifier: "nobody", accessGroups: [])) }
        let told = try vault.auditRecords(AuditQuery(), as: .owner).filter { $0.operation == "purge" }.map {
            "\($0.event) \($0.client ?? "-") \($0.items.map { "\($0)" } ?? "-") \($0.itemDigests?.count ?? 0)"
        }
        #expect(told == ["purged app 3 1", "purged owner 0 0", "refused nobody - 0"])
        // A purge of everything may have been about any item, and one by name was about that one.
        let query = AuditQuery(item: AuditQuery.Item(service: "s", account: "b"))
        let (records, unclear) = try VaultSession(vault: vault, client: .owner).perform(ReadAudit(query))
        #expect(records.isEmpty && unclear == 1)
    }

    @Test func theLogIsForThoseWhoHoldEveryGroup() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog()))
        #expect(throws: VaultError.self) { try vault.auditRecords(AuditQuery(), as: .app) }
        #expect(throws: VaultError.self) { try vault.verifyAudit(as: .app) }
        let events = try vault.auditRecords(AuditQuery(), as: .owner).map(\.event)
        #expect(events == ["began", "refused", "refused", "began", "inspected"])
    }

    /// As `keychain recovery create` does, which works on the folder itself.
    @Test func aRecoveryKeyIsRecorded() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog())).erase(as: .owner)
        let vault = try #require(try EmbeddedVault.openVault(at: path) { nil } as? EmbeddedVault)
        _ = try vault.makeRecoveryKey(as: .owner)
        #expect(throws: VaultError.self) { try vault.makeRecoveryKey(as: .app) }
        let told = try vault.auditRecords(AuditQuery(), as: .owner).filter { $0.operation == "passcode" }
        #expect(told.map(\.event) == ["recovery-key-made", "refused"])
    }

    /// The records under the former keys are held by the anchor under the new ones.
    @Test func theLogGoesOnUnderRenewedKeys() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog()))
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        try vault.unlock(with: SecretBytes("right"), as: .owner)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let query = AuditQuery(item: AuditQuery.Item(service: "s", account: "a"))
        let told = try vault.auditRecords(query, as: .owner).map(\.sequence)
        #expect(!told.isEmpty)
        try vault.renewKeys("right")
        #expect(try vault.auditRecords(query, as: .owner).map(\.sequence) == told)
        _ = try vault.items(.password("s", "a"))
        #expect(try vault.verifyAudit(as: .owner).problems == [])
        let events = try vault.auditRecords(AuditQuery(), as: .owner).map(\.event)
        #expect(events.contains("keys-renewed"))
        vault.close()
        let again = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog()))
        try again.unlock(with: SecretBytes("right"), as: .owner)
        #expect(try again.verifyAudit(as: .owner).problems == [])
        #expect(try again.perform(ReadUnlockFindings(), as: .owner) == [])
    }

    @Test func aBackupIsRecorded() throws {
        let folder = try TemporaryFolder()
        let surroundings = VaultSurroundings(audit: AuditLog())
        let vault = try EmbeddedVault.open(at: folder.path(of: "vault"), surroundings: surroundings)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        _ = try vault.makeBackup(.thisVault, as: .owner)
        #expect(throws: VaultError.self) { try vault.makeBackup(.thisVault, as: .app) }
        let records = try vault.auditRecords(AuditQuery(), as: .owner).filter { $0.operation == "backup" }
        #expect(records.map(\.event) == ["backed-up", "refused"])
        #expect(records.first?.items == 1)
    }

    @Test func aVaultWithoutALogSaysSo() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
        #expect(throws: VaultError.self) { try vault.auditRecords(AuditQuery(), as: .owner) }
        #expect(!AuditReader.hasLog(in: folder.path(of: "vault")))
    }

    @Test func nothingOfWhatIsStoredIsInTheLog() throws {
        let canary = "Kq7VwZ3canaryXb9Tm"
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: BufferedAudit()))
        let client = Client(identifier: "c", accessGroups: ["TEAM.\(canary)"])
        for itemClass in ItemClass.stored {
            var item = NewItem(
                itemClass: itemClass, attributes: [.label: .string(canary)], value: Data(canary.utf8))
            item.accessGroup = client.accessGroups[0]
            let stored = try vault.add(item, as: client)
            var query = ItemQuery(itemClass: itemClass, attributes: [.label: .string(canary)], limit: nil)
            query.accessGroup = client.accessGroups[0]
            _ = try vault.copy(query, includingValues: true, as: client)
            _ = try vault.update(query, with: ItemChanges(attributes: [.label: .string(canary + "2")]), as: client)
            #expect(throws: VaultError.self) { try vault.copy(query, includingValues: true, as: client) }
            query.accessGroup = "OTHER.\(canary)"
            #expect(throws: VaultError.self) { try vault.delete(query, as: client) }
            _ = try vault.delete(ItemQuery(itemClass: itemClass, identifier: stored.identifier), as: client)
        }
        vault.close()
        let files = try FolderContents(of: path)
        let logs = ["audit.log", "audit.head", "audit-looks.log", "audit-looks.head"].compactMap { files[$0] }
        #expect(logs.count == 4)
        for form in [canary, canary.utf8.map { String(format: "%02x", $0) }.joined()] {
            for log in logs { #expect(log.range(of: Data(form.utf8)) == nil) }
        }
    }
}

/// What a vault tells its log about its lock.
@Suite struct LockAuditTests {
    @Test func passcodeAndLockAreRecorded() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog()))
        let first = try SecretBytes("first passcode")
        let second = try SecretBytes("second passcode")
        try vault.setPasscode(first, options: .cheapest, as: .owner)
        #expect(throws: VaultError.self) { try vault.setPasscode(first, options: .cheapest, as: .app) }
        #expect(throws: VaultError.passcodeIsSet) { try vault.setPasscode(first, options: .cheapest, as: .owner) }
        try vault.changePasscode(from: first, to: second, options: .cheapest, as: .owner)
        try vault.lock(after: .zero, as: .app)
        #expect(throws: VaultError.self) { try vault.unlock(with: first, as: .app) }
        try vault.unlock(with: second, as: .app)
        try vault.removePasscode(second, as: .owner)
        let told = try vault.auditRecords(AuditQuery(), as: .owner).map { record in
            "\(record.event) \(record.client ?? "-") \(record.failure ?? "-")"
        }
        #expect(
            told == [
                "began - -", "passcode-set owner -", "refused app group-not-held", "passcode-set owner invalid",
                "passcode-changed owner -",
                "locked app -", "unlock-failed app wrong-passcode", "unlocked app -", "passcode-removed owner -",
                "began - -", "inspected owner -",
            ])
        // Setting and removing a passcode leaves the log's key as it was.
        #expect(try vault.verifyAudit(as: .owner) == AuditReport(records: 12))
        let log = try #require(FolderContents(of: path)["audit.log"])
        for passcode in ["first passcode", "second passcode"] { #expect(log.range(of: Data(passcode.utf8)) == nil) }
    }
}
