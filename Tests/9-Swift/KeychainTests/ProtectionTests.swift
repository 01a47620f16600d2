import Access
import Foundation
import Keybag
import Keychain
import KeychainModel
import Testing

@Suite struct ProtectionTests {
    @Test func aLockedItemIsUnreadableAndNotMissing() throws {
        try KeychainUnderTest.run { test in
            let keychain = Keychain(service: "mail")
            let background = Keychain(service: "mail", accessibility: .afterFirstUnlock)
            try keychain.set("secret", for: "foreground")
            try background.set("secret", for: "background")
            test.keys.enter(.locked)

            #expect(code { _ = try keychain.get(String.self, for: "foreground") } == .interactionNotAllowed)
            #expect(code { try keychain.set("new", for: "foreground") } == .interactionNotAllowed)
            #expect(code { _ = try keychain.items() } == .interactionNotAllowed)
            #expect(try keychain.get(String.self, for: "background") == "secret")
            #expect(try keychain.contains("foreground"))
            #expect(try !keychain.contains("nobody"))
            #expect(try keychain.get(String.self, for: "nobody") == nil)
            // Signing out must work on a locked machine.
            #expect(try keychain.removeAll() == 2)
        }
    }

    @Test func passcodeItemsNeedAPasscode() throws {
        try KeychainUnderTest.run { test in
            let keychain = Keychain(service: "mail", accessibility: .whenPasscodeSetThisDeviceOnly)
            #expect(code { try keychain.set("secret", for: "ada") } == .passcodeRequired)
            try test.keys.setPasscodeClass(present: true)
            try keychain.set("secret", for: "ada")
            #expect(try keychain.get(String.self, for: "ada") == "secret")
        }
    }

    @Test func asksWhenReadAndNotWhenStored() throws {
        try KeychainUnderTest.run { test in
            var keychain = Keychain(service: "bank", accessControl: .userPresence)
            keychain.interaction = .allowed(prompt: "Show the balance")
            try keychain.set("secret", for: "ada")
            #expect(test.person.prompts.isEmpty)
            #expect(try keychain.get(String.self, for: "ada") == "secret")
            #expect(test.person.prompts == ["Show the balance"])
            #expect(try keychain.contains("ada"))
            #expect(test.person.prompts.count == 1)
            #expect(try keychain.item(for: "ada")?.accessControl == .userPresence)
            try keychain.set("other", for: "ada")
            #expect(test.person.prompts == Array(repeating: "Show the balance", count: 3))

            test.person.willAnswer(.failed(.userCancel))
            #expect(code { _ = try keychain.get(String.self, for: "ada") } == .userCanceled)
            test.person.willAnswer(.failed(.authenticationFailed))
            #expect(code { _ = try keychain.get(String.self, for: "ada") } == .authenticationFailed)
            let asked = test.person.prompts.count
            #expect(try keychain.remove("ada"))
            #expect(test.person.prompts.count == asked)
        }
    }

    @Test func respectsThatNobodyMayBeAsked() throws {
        try KeychainUnderTest.run { test in
            var keychain = Keychain(service: "bank", accessControl: [.biometryAny, .or, .devicePasscode])
            try keychain.set("secret", for: "ada")
            for interaction in [Keychain.Interaction.forbidden, .skipped] {
                keychain.interaction = interaction
                #expect(code { try keychain.set("new", for: "ada") } == .interactionNotAllowed)
                #expect(code { try keychain.setAttributes(.init(label: "x"), for: "ada") } == .interactionNotAllowed)
                #expect(
                    code { try keychain.update(String.self, for: "ada") { $0 = "new" } } == .interactionNotAllowed)
            }
            keychain.interaction = .forbidden
            #expect(code { _ = try keychain.get(String.self, for: "ada") } == .interactionNotAllowed)
            #expect(code { _ = try keychain.items() } == .interactionNotAllowed)
            keychain.interaction = .skipped
            #expect(try keychain.get(String.self, for: "ada") == nil)
            #expect(try keychain.items().isEmpty)
            #expect(test.person.prompts.isEmpty)
        }
    }

    @Test func whatCannotBeAskedForIsNotRead() throws {
        try KeychainUnderTest.run(asksPerson: false) { _ throws in
            let guarded = Keychain(service: "s", accessControl: .userPresence)
            try guarded.set("secret", for: "a")
            #expect(try guarded.contains("a"))
            let failure = failure { _ = try guarded.get(String.self, for: "a") }
            #expect(failure?.code == .interactionNotAllowed)
            #expect(failure?.message.contains("no way to ask") == true)
            #expect(
                code { try Keychain(service: "s", accessControl: .applicationPassword).set("secret", for: "b") }
                    == .interactionNotAllowed)
            #expect(try guarded.removeAll() == 1)
        }
    }

    @Test(arguments: [
        Keychain(service: "s", accessControl: [.or, .and]),
        Keychain(service: "s", accessControl: [.biometryAny, .biometryCurrentSet]),
        Keychain(service: "s", accessControl: [.userPresence, .devicePasscode]),
        Keychain(service: "s", accessControl: .userPresence, isSynchronizable: true),
        Keychain(service: "s", accessibility: .whenUnlockedThisDeviceOnly, isSynchronizable: true),
    ])
    func refusesWhatMakesNoSense(_ keychain: Keychain) throws {
        try KeychainUnderTest.run { _ throws in
            #expect(code { try keychain.set("secret", for: "a") } == .invalidRequest)
            #expect(try Keychain(service: "s").items().isEmpty)
        }
    }

    @Test func refusesGroupsOfOthers() throws {
        try KeychainUnderTest.run { _ in
            let foreign = Keychain(service: "s", accessGroup: "TEAM.other")
            #expect(code { try foreign.set("secret", for: "a") } == .accessDenied)
            #expect(code { _ = try foreign.get(String.self, for: "a") } == .accessDenied)
        }
        try KeychainUnderTest.run(client: Client(identifier: "nobody", accessGroups: [])) { _ in
            #expect(code { try Keychain(service: "s").set("secret", for: "a") } == .accessDenied)
            #expect(code { try Keychain(service: "s").removeAll() } == .accessDenied)
        }
    }

    @Test func accessibilityHasApplesRawValues() {
        let named: [(Keychain.Accessibility, String, String)] = [
            (.whenUnlocked, "ak", "whenUnlocked"), (.afterFirstUnlock, "ck", "afterFirstUnlock"),
            (.always, "dk", "always"), (.whenUnlockedThisDeviceOnly, "aku", "whenUnlockedThisDeviceOnly"),
            (.afterFirstUnlockThisDeviceOnly, "cku", "afterFirstUnlockThisDeviceOnly"),
            (.alwaysThisDeviceOnly, "dku", "alwaysThisDeviceOnly"),
            (.whenPasscodeSetThisDeviceOnly, "akpu", "whenPasscodeSetThisDeviceOnly"),
        ]
        for (accessibility, raw, name) in named {
            #expect(accessibility.rawValue == raw)
            #expect(accessibility.description == name)
        }
        #expect(named.count == ProtectionClass.allCases.count)
        #expect(Keychain.Accessibility(rawValue: "no class") == nil)
    }
}
