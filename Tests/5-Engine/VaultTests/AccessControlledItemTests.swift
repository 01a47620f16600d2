import Access
import Bytes
import Foundation
import KeychainModel
import Sealing
import SecureMemory
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Items that need a person.
@Suite struct AccessControlledItemTests {
    static func item(_ account: String, _ flags: AccessControl.Flags, password: String? = nil) throws -> NewItem {
        var item = NewItem.password("bank", account, "secret of \(account)")
        item.accessControl = AccessControl(protection: .whenUnlocked, flags: flags)
        item.authentication.applicationPassword = try password.map { try SecretBytes($0) }
        return item
    }

    static func query(
        _ account: String? = nil, _ interaction: AuthenticationOptions.Interaction = .allow, context: UUID? = nil,
        password: String? = nil
    ) throws -> ItemQuery {
        var query = ItemQuery.password("bank", account, limit: nil)
        query.authentication = AuthenticationOptions(
            interaction: interaction, context: context, applicationPassword: try password.map { try SecretBytes($0) })
        return query
    }

    @Test func whatCannotBeAskedForIsNotRead() throws {
        let vault = try memoryVault()
        _ = try vault.add(Self.item("a", .userPresence), as: .app)
        for includingValues in [true, false] {
            let error = #expect(throws: VaultError.self) {
                try vault.copy(Self.query("a"), includingValues: includingValues, as: .app)
            }
            guard case .interactionNotAllowed(let reason) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("no way to ask"))
        }
        #expect(try vault.delete(Self.query("a"), as: .app) == 1)
    }

    /// Bits that another version may give a meaning, alone and beside known ones.
    @Test(arguments: [2, 6, 13, 16, 29, 32, 63] as [UInt64], [[], .userPresence] as [AccessControl.Flags])
    func flagsThatAreNotKnownAreNeverMet(_ bit: UInt64, _ known: AccessControl.Flags) throws {
        let flags = known.union(AccessControl.Flags(rawValue: 1 << bit))
        #expect(!AccessControl.isValid(flags))
        #expect(AccessControl(protection: .whenUnlocked, flags: flags).isConstrained)
        #expect(!flags.isSatisfied(by: [.passcode, .biometry, .companion]))
        let vault = try memoryVault(person: PersonUnderTest())
        var item = try Self.item("a", flags, password: "p")
        #expect(
            throws: VaultError.invalidRequest(
                reason: "an access control with flags that this vault does not know")
        ) { try vault.add(item, as: .app) }
        item.accessControl.flags = nil
        _ = try vault.add(item, as: .app)
        #expect(throws: VaultError.self) {
            try vault.update(
                Self.query("a", password: "p"),
                with: ItemChanges(accessControl: AccessControl(protection: .whenUnlocked, flags: flags)), as: .app)
        }
        #expect(throws: VaultError.self) {
            _ = try vault.authenticate(flags, context: UUID(), options: .init(), as: .app)
        }
        let metadata = ItemMetadata(
            accessControlFlags: flags, creationDate: Date(), modificationDate: Date(), accessGroup: "g", attributes: [:]
        )
        #expect(throws: SealingError.malformed("access control with flags of another version")) {
            try ItemMetadata(decoding: metadata.encoded())
        }
    }

    @Test func asksOncePerKind() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        for number in 0..<3 {
            _ = try vault.add(Self.item("presence \(number)", .userPresence), as: .app)
            _ = try vault.add(Self.item("finger \(number)", .biometryAny), as: .app)
        }
        _ = try vault.add(.password("bank", "plain", "plain"), as: .app)
        #expect(person.requests.isEmpty)
        #expect(try vault.copy(Self.query(), includingValues: true, as: .app).count == 7)
        #expect(Set(person.requests.map(\.flags)) == [.userPresence, .biometryAny])
        #expect(person.requests.count == 2)
    }

    @Test func saysWhatItLeavesOut() throws {
        let vault = try memoryVault(person: PersonUnderTest())
        let guarded = try vault.add(Self.item("a", .userPresence), as: .app)
        _ = try vault.add(.password("bank", "plain", "plain"), as: .app)
        var query = try Self.query(nil, .skip)
        query.reports = .withheld
        var withheld: [CopyItems.Part] = []
        let found = try vault.copy(query, includingValues: false, as: .app) { withheld.append($0) }
        #expect(found.map { $0.attributes[.account] } == [.string("plain")])
        #expect(withheld == [.withheld(WithheldItem(guarded))])

        // The owner's tool, which holds every group, is told what they are; an app has to ask.
        query.reports = .guarded
        withheld = []
        _ = try vault.copy(query, includingValues: true, as: .app) { withheld.append($0) }
        #expect(withheld == [.withheld(WithheldItem(guarded))])
        withheld = []
        _ = try vault.copy(query, includingValues: true, as: .owner) { withheld.append($0) }
        var named = guarded
        named.value = nil
        #expect(withheld == [.guarded(named)])
    }

    @Test func aContextIsAskedForOnce() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        let context = UUID()
        _ = try vault.add(Self.item("a", .userPresence), as: .app)
        #expect(
            try vault.authenticate(.userPresence, context: context, options: .init(prompt: "why"), as: .app)
                == .passcode)
        #expect(person.requests.map(\.prompt) == ["why"])
        #expect(person.requests.map(\.context) == [context])
        for interaction in [AuthenticationOptions.Interaction.allow, .fail] {
            #expect(
                try vault.copy(Self.query("a", interaction, context: context), includingValues: true, as: .app).count
                    == 1)
        }
        #expect(try vault.authenticate(.userPresence, context: context, options: .init(), as: .app) == .passcode)
        #expect(person.requests.count == 1)

        // What was shown is not what this item asks for.
        _ = try vault.add(Self.item("b", .biometryAny), as: .app)
        #expect(throws: VaultError.self) {
            try vault.copy(Self.query("b", .fail, context: context), includingValues: true, as: .app)
        }
        // Another program cannot use the context by its name.
        let other = Client(identifier: "other", accessGroups: Client.app.accessGroups)
        #expect(throws: VaultError.self) {
            try vault.copy(Self.query("a", .fail, context: context), includingValues: true, as: other)
        }
        // Neither can anybody after a lock.
        vault.enter(.locked)
        vault.enter(.unlocked)
        #expect(throws: VaultError.self) {
            try vault.copy(Self.query("a", .fail, context: context), includingValues: true, as: .app)
        }
    }

    @Test func readingGrantsToTheContext() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        let context = UUID()
        _ = try vault.add(Self.item("a", .userPresence), as: .app)
        for _ in 0..<3 { _ = try vault.copy(Self.query("a", context: context), includingValues: true, as: .app) }
        #expect(person.requests.count == 1)
        for _ in 0..<2 { _ = try vault.copy(Self.query("a"), includingValues: true, as: .app) }
        #expect(person.requests.count == 3)
    }

    @Test func anEndedContextIsRefused() throws {
        let vault = try memoryVault(person: PersonUnderTest())
        let context = UUID()
        _ = try vault.add(.password("bank", "plain", "plain"), as: .app)
        _ = try vault.authenticate(.userPresence, context: context, options: .init(), as: .app)
        vault.endContext(context, as: .app)
        let refusal = VaultError.presence(.invalidContext)
        #expect(throws: refusal) {
            try vault.copy(Self.query(context: context), includingValues: false, as: .app)
        }
        #expect(throws: refusal) { try vault.delete(Self.query(context: context), as: .app) }
        #expect(throws: refusal) {
            try vault.authenticate(.userPresence, context: context, options: .init(), as: .app)
        }
    }

    @Test func endingAContextTakesThePromptAway() async throws {
        let person = PersonUnderTest()
        person.willNotAnswer()
        let vault = try memoryVault(person: person)
        let context = UUID()
        _ = try vault.add(Self.item("a", .userPresence), as: .app)
        async let outcome: Result<Int, VaultError> = Task.detached {
            do throws(VaultError) {
                let query = ItemQuery(
                    itemClass: .genericPassword, authentication: AuthenticationOptions(context: context))
                return .success(try vault.copy(query, includingValues: true, as: .app).count)
            } catch {
                return .failure(error)
            }
        }.value
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                person.asked.wait()
                vault.endContext(context, as: .app)
                continuation.resume()
            }
        }
        #expect(await outcome == .failure(.presence(.appCancel)))
    }

    @Test func aPromptThatBringsNothingEnds() throws {
        let person = PersonUnderTest()
        person.willAnswer(.succeeded([]))
        let vault = try memoryVault(person: person)
        _ = try vault.add(Self.item("a", .userPresence), as: .app)
        #expect(throws: VaultError.authenticationFailed) {
            try vault.copy(Self.query("a"), includingValues: true, as: .app)
        }
        #expect(person.requests.count == 1)
    }
}
