import Access
import Bytes
import Certificates
import Crypto
import Enclave
import Foundation
import Keybag
import KeychainModel
import PasswordFiles
import SecureMemory
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultKeys

@testable import ItemFiles

/// Items on their way from one vault to another.
@Suite struct ReceivedItemTests {
    private func session(_ vault: any Vault, _ client: Client = .owner) -> VaultSession {
        VaultSession(vault: vault, client: client)
    }

    /// What `item` is in a vault.
    private func stored(_ item: StoredItem, in vault: EmbeddedVault) throws -> StoredItem? {
        try vault.allItems()[item.identifier]
    }

    @Test func randomItemsAreInTheOtherVaultAsTheyWere() throws {
        var random = RandomItems()
        let phrase = try Seals.passphrase()
        for count in [1, TestScale.count(60, soak: 900)] {
            let (first, second) = (
                try memoryVault(person: PersonUnderTest()), try memoryVault(person: PersonUnderTest())
            )
            let items = random.items(count)
            let model = Dictionary(uniqueKeysWithValues: items.map { ($0.identifier, $0) })
            #expect(try session(first).receive(ReceiveItems(items, keepsIdentity: true)).count == count)
            let sent = try first.allItems()
            #expect(sent == model)
            let file = try ItemFile(ItemFile.seal(Array(sent.values), under: phrase))
            let received = try session(second).receive(
                ReceiveItems(file.items(openedWith: phrase), keepsIdentity: true))
            #expect(received.allSatisfy { $0.value == nil })
            #expect(try second.allItems() == model)
            let report = try second.verify(as: .owner)
            #expect(report.problems.isEmpty && report.validItems + report.lockedItems == count)
        }
    }

    @Test func newItemsHaveIdentifiersAndDatesOfTheirOwn() throws {
        let vault = try memoryVault(person: PersonUnderTest(), now: tickingClock())
        var random = RandomItems()
        let items = random.items(5)
        _ = try session(vault).receive(ReceiveItems(items, accessGroup: "TEAM.shared", keepsIdentity: false))
        let found = try vault.allItems().values
        #expect(found.count == 5 && found.allSatisfy { $0.accessGroup == "TEAM.shared" })
        for item in found {
            #expect(!items.contains { $0.identifier == item.identifier })
            #expect(item.version == 1)
            #expect(
                item.creationDate == item.modificationDate && item.creationDate.timeIntervalSinceReferenceDate > 8e8)
        }
        for item in items {
            #expect(found.contains { $0.attributes == item.attributes && $0.value == item.value })
        }
        // Once more they are there already, in this group alone.
        #expect(throws: ItemFileError.refused(.duplicateItem)) {
            try session(vault).receive(ReceiveItems(items, accessGroup: "TEAM.shared", keepsIdentity: false))
        }
        #expect(
            try session(vault).receive(ReceiveItems(items, accessGroup: "TEAM.app", keepsIdentity: true)).count == 5)
    }

    /// A program that speaks to the vault itself cannot store a row that no vault can read.
    @Test(arguments: [0, -1, .min, .max] as [Int64]) func versionsThatNoVaultGivesAreRefused(_ version: Int64) throws {
        let vault = try memoryVault(person: PersonUnderTest())
        var random = RandomItems()
        var item = random.item()
        item.version = version
        #expect(throws: VaultError.self) {
            try vault.perform(ReceiveItems([item], keepsIdentity: true), as: .owner)
        }
        #expect(throws: ItemFileError.self) { try ItemFile.seal([item], under: Seals.passphrase()) }
        #expect(try vault.allItems().isEmpty)
    }

    @Test func allItemsAreTakenInOrNone() throws {
        let vault = try memoryVault(person: PersonUnderTest())
        var random = RandomItems()
        var items = random.items(6)
        let present = random.item()
        _ = try session(vault).receive(ReceiveItems([present], keepsIdentity: true))
        let before = try vault.allItems()

        var sameName = present
        sameName.identifier = UUID()
        var sameIdentifier = random.item()
        sameIdentifier.identifier = present.identifier
        var large = random.item()
        large.value = Data(count: (16 << 20) + 1)
        var twice = items[0]
        twice.identifier = UUID()
        var synchronized = random.item()
        synchronized.accessControl.flags = .userPresence
        synchronized.isSynchronizable = true
        var unknown = random.item()
        unknown.accessControl.flags = AccessControl.Flags(rawValue: 1 << 40)
        var token = random.item()
        token.attributes[.tokenID] = .string("com.example.token")
        var misnamed = random.item()
        misnamed.attributes["zzzz"] = .string("x")
        for item in [sameName, sameIdentifier, large, twice, synchronized, unknown, token, misnamed] {
            for place in [0, 3, 6] {
                var list = items
                list.insert(item, at: place)
                #expect(throws: ItemFileError.self) {
                    try session(vault).receive(ReceiveItems(list, keepsIdentity: true))
                }
                #expect(try vault.allItems() == before)
            }
        }
        #expect(throws: ItemFileError.self) { try session(vault).receive(ReceiveItems([], keepsIdentity: true)) }
        items.append(present)
        #expect(throws: ItemFileError.refused(.duplicateItem)) {
            try session(vault).receive(ReceiveItems(items, keepsIdentity: true))
        }
        #expect(try vault.allItems() == before)
    }

    @Test func aDeletedItemCanBeReceivedAgain() throws {
        let vault = try memoryVault()
        var item = StoredItem(
            itemClass: .genericPassword, identifier: UUID(), attributes: [.account: .string("a")],
            accessGroup: "TEAM.app", accessControl: AccessControl(protection: .whenUnlocked), isSynchronizable: true,
            creationDate: Date(timeIntervalSinceReferenceDate: 1), modificationDate: Date(), value: Data([1]))
        _ = try session(vault).receive(ReceiveItems([item], keepsIdentity: true))
        var query = ItemQuery(itemClass: .genericPassword, synchronizable: .any, identifier: item.identifier)
        // It leaves a trace under another name.
        _ = try vault.update(query, with: ItemChanges(attributes: [.account: .string("b")]), as: .owner)
        #expect(try vault.delete(query, as: .owner) == 1)
        _ = try session(vault).receive(ReceiveItems([item], keepsIdentity: true))
        #expect(try stored(item, in: vault) == item)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        query.identifier = nil
        #expect(try vault.delete(query, as: .owner) == 1)
        item.attributes[.account] = .string("c")
        _ = try session(vault).receive(ReceiveItems([item], keepsIdentity: true))
        #expect(try vault.allItems().count == 1)
    }

    @Test func groupsAndQuotasOfTheCallerHold() throws {
        let vault = try memoryVault(person: PersonUnderTest())
        var random = RandomItems()
        let (mine, others) = (random.item(group: "TEAM.app"), random.item(group: "TEAM.other"))
        for group in [nil, "TEAM.other", Client.tokenGroup] {
            let error = #expect(throws: ItemFileError.self) {
                try session(vault, .app).receive(
                    ReceiveItems([mine, others], accessGroup: group, keepsIdentity: true))
            }
            guard case .refused(.accessDenied) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try vault.allItems().isEmpty)
        _ = try session(vault, .app).receive(
            ReceiveItems([mine, others], accessGroup: "TEAM.shared", keepsIdentity: true))
        #expect(Set(try vault.allItems().values.map(\.accessGroup)) == ["TEAM.shared"])

        var limited = Client.app
        limited.quotas = GroupQuotas()
        limited.quotas?.add("TEAM.app", bytes: 3_000)
        let values = (0..<4).map { _ in
            var item = random.item(group: "TEAM.app")
            item.value = Data(count: 1_000)
            return item
        }
        let error = #expect(throws: ItemFileError.self) {
            try session(vault, limited).receive(ReceiveItems(values, keepsIdentity: true))
        }
        guard case .refused(.quotaExceeded) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try vault.allItems().count == 2)
    }

    @Test func lockedClassesStayLocked() throws {
        let vault = try memoryVault()
        var random = RandomItems()
        func item(_ protection: ProtectionClass) -> StoredItem {
            var item = random.item(group: "TEAM.app")
            item.accessControl = AccessControl(protection: protection)
            return item
        }
        let open = item(.afterFirstUnlock)
        _ = try session(vault).receive(ReceiveItems([item(.whenUnlocked)], keepsIdentity: true))
        vault.enter(.locked)
        // Reading is refused, and so is taking in.
        for itemClass in ItemClass.stored {
            let query = ItemQuery(itemClass: itemClass, synchronizable: .any)
            let error = #expect(throws: VaultError.self) {
                try vault.copy(query, includingValues: true, as: .owner)
            }
            switch error {
            case .interactionNotAllowed, .itemNotFound: continue
            default: Issue.record("\(String(describing: error))")
            }
        }
        let error = #expect(throws: ItemFileError.self) {
            try session(vault).receive(ReceiveItems([open, item(.whenUnlocked)], keepsIdentity: true))
        }
        guard case .refused(.interactionNotAllowed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try session(vault).receive(ReceiveItems([open], keepsIdentity: true)).count == 1)
        vault.enter(.unlocked)
        #expect(try stored(open, in: vault) == open)
    }

    @Test func conditionsTravelAndHold() throws {
        let (person, other) = (PersonUnderTest(), PersonUnderTest())
        let (first, second) = (try memoryVault(person: person), try memoryVault(person: other))
        let phrase = try Seals.passphrase()
        let own = try AuthenticationOptions(applicationPassword: SecretBytes("open sesame"))
        let conditions: [AccessControl.Flags] = [
            .userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet, .applicationPassword,
            [.userPresence, .applicationPassword],
        ]
        for (number, flags) in conditions.enumerated() {
            var item = NewItem.password("s", "\(number)", "secret \(number)")
            item.accessControl = AccessControl(protection: .whenUnlocked, flags: flags)
            item.authentication = own
            _ = try first.add(item, as: .app)
            var query = ItemQuery.password("s", "\(number)")
            // Nothing is read without what reading takes.
            query.authentication = AuthenticationOptions(interaction: .fail)
            #expect(throws: VaultError.self) { try first.copy(query, includingValues: true, as: .app) }
            query.authentication = own
            let asked = person.requests.count
            let items = try first.copy(query, includingValues: true, as: .app)
            #expect(person.requests.count == asked + (flags == .applicationPassword ? 0 : 1))

            let file = try ItemFile(ItemFile.seal(items, under: phrase))
            let opened = try file.items(openedWith: phrase)
            #expect(opened == items)
            let new = try AuthenticationOptions(applicationPassword: SecretBytes("open barley"))
            if flags.contains(.applicationPassword) {
                #expect(throws: ItemFileError.refused(.itemPasswordMissing)) {
                    try session(second).receive(ReceiveItems(opened, keepsIdentity: true))
                }
            }
            _ = try session(second).receive(ReceiveItems(opened, keepsIdentity: true, options: new))
            #expect(other.requests.count == number - (number > 4 ? 1 : 0))
            query.authentication = AuthenticationOptions(interaction: .fail)
            #expect(throws: VaultError.self) { try second.copy(query, includingValues: true, as: .app) }
            if flags.contains(.applicationPassword) {
                query.authentication = own
                #expect(throws: VaultError.authenticationFailed) {
                    try second.copy(query, includingValues: true, as: .app)
                }
            }
            query.authentication = new
            #expect(try second.copy(query, includingValues: true, as: .app) == items)
        }
    }

    @Test(arguments: [false, true])
    func theKeyInTheVaultOpensAFile(_ inEnclave: Bool) throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        let key: VaultKey
        if inEnclave {
            let record = try vault.perform(
                MakeEnclaveKey(
                    .p256, accessControl: AccessControl(protection: .whenUnlocked, flags: .userPresence),
                    options: .init()),
                as: .owner)
            key = try #require(VaultKey(record, use: KeyUse()))
        } else {
            let made = P256.KeyAgreement.PrivateKey(compactRepresentable: false)
            key = VaultKey(try KeyData(made.x963Representation, type: .ellipticCurve, keyClass: .private))
        }
        var random = RandomItems()
        let items = random.items(2)
        let file = try ItemFile(ItemFile.seal(items, to: ItemRecipient(key.publicKey.keyData)))
        #expect(throws: ItemFileError.keyNotFound) { try session(vault).items(in: file) }
        let item = NewItem(
            itemClass: .key, attributes: key.storedAttributes, accessGroup: "keys", value: key.storedValue)
        _ = try vault.perform(AddItem(item), as: .owner)
        #expect(try session(vault).items(in: file) == items)
        #expect(person.requests.count == (inEnclave ? 1 : 0))
        // A program without the key's group does not have the key.
        #expect(throws: ItemFileError.keyNotFound) { try session(vault, .app).items(in: file) }
        if inEnclave {
            person.willAnswer(.failed(.userCancel))
            #expect(throws: ItemFileError.refused(.userCanceled)) { try session(vault).items(in: file) }
        }
        vault.enter(.locked)
        let error = #expect(throws: ItemFileError.self) { try session(vault).items(in: file) }
        guard case .refused(.interactionNotAllowed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private final class Log: AuditSink {
        let events = Mutex<[AuditEvent]>([])
        func record(_ event: AuditEvent) { events.withLock { $0.append(event) } }
    }

    @Test func sendingAndReceivingAreRecorded() throws {
        let log = Log()
        let enclave = try SoftwareEnclave()
        let vault = try EmbeddedVault.inMemory(
            keys: ClassKeys(Keybag.generate(in: enclave), in: enclave), surroundings: VaultSurroundings(audit: log))
        var random = RandomItems()
        let items = (0..<3).map { _ in
            var item = random.item(group: "TEAM.app")
            item.itemClass = .genericPassword
            item.attributes = [.account: .string(item.identifier.uuidString)]
            item.accessControl.flags = nil
            item.expiry = .never
            return item
        }
        _ = try session(vault, .app).receive(ReceiveItems(items, keepsIdentity: true))
        _ = try? session(vault, .app).receive(ReceiveItems(items, keepsIdentity: true))
        _ = try? session(vault, .app).receive(ReceiveItems(items, accessGroup: "other", keepsIdentity: true))
        let query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        _ = try vault.copy(query, includingValues: true, as: .app)
        let events = log.events.withLock { $0 }
        #expect(events.map(\.kind) == [.written, .written, .refused, .read])
        #expect(events.map(\.items) == [3, nil, nil, 3])
        #expect(events.map(\.failure) == [nil, .duplicate, .groupNotHeld, nil])
        #expect(events[0].operation?.accessGroup == "TEAM.app" && events[0].operation?.itemClass == .genericPassword)
        #expect(Set(events[0].operation?.itemDigests ?? []) == Set(events[3].operation?.itemDigests ?? []))
        #expect(events[0].operation?.itemDigests.count == 3)
    }
}
