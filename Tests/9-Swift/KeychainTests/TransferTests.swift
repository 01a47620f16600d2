import Access
import Crypto
import Foundation
import Keybag
import Keychain
import KeychainModel
import ProcessVault
import TestSupport
import Testing
import Vault
import VaultInterface

/// Items that a program sends to another keychain, and takes in again.
@Suite struct TransferTests {
    /// Stores a private key where the vault finds it, and returns its public half.
    private func makeKey(in test: KeychainUnderTest, group: String = "TEAM.app") throws -> String {
        let key = P256.KeyAgreement.PrivateKey(compactRepresentable: false)
        let label = Data(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        let item = NewItem(
            itemClass: .key,
            attributes: [
                .keyClass: .number(1), .type: .number(73), .applicationLabel: .data(label), "bsiz": .number(256),
            ], accessGroup: group, value: key.x963Representation)
        _ = try test.vault.perform(AddItem(item), as: .owner)
        return key.publicKey.pemRepresentation
    }

    @Test func itemsGoToTheHolderOfAKeyAsTheyAre() throws {
        let (sender, receiver) = (try KeychainUnderTest(), try KeychainUnderTest())
        let pem = try makeKey(in: receiver)
        var keychain = Keychain(service: "mail", accessibility: .afterFirstUnlock)
        keychain.accessControl = .userPresence
        let (file, sent) = try VaultSession.$override.withValue(sender) {
            try keychain.set(
                "hunter2", for: "ada",
                attributes: .init(
                    label: "Ada", custom: ["stage": "test"], expiry: .at(Date(timeIntervalSinceReferenceDate: 4e9))))
            try keychain.set("s3cret", for: "bob")
            let recipient = try Keychain.Recipient(pem: pem)
            #expect(code { _ = try keychain.send(["nobody"], to: recipient) } == .itemNotFound)
            let file = try keychain.send(to: recipient)
            #expect(sender.person.prompts.count == 1)
            #expect(code { _ = try keychain.items(in: file) } == .itemNotFound)
            return (file, try keychain.items())
        }
        #expect(file.range(of: Data("hunter2".utf8)) == nil)
        try VaultSession.$override.withValue(receiver) {
            #expect(try keychain.items(in: file).map(\.account) == ["ada", "bob"])
            #expect(try keychain.items(in: file).first?.value(as: String.self) == "hunter2")
            #expect(code { try Keychain(service: "other").receive(file) } == .invalidRequest)
            #expect(code { try keychain.receive(file.dropLast(1)) } == .damaged)
            #expect(try keychain.items() == [])
            let received = try keychain.receive(file)
            #expect(received.sorted { $0.account < $1.account } == sent)
            #expect(received.allSatisfy { !$0.hasValue })
            #expect(try keychain.items() == sent)
            let asked = receiver.person.prompts.count
            #expect(try keychain.get(String.self, for: "ada") == "hunter2")
            #expect(receiver.person.prompts.count == asked + 1)
            #expect(code { try keychain.receive(file) } == .duplicateItem)
            #expect(code { try keychain.receive(file, asNew: true) } == .duplicateItem)
            try keychain.remove("ada")
            #expect(code { try keychain.receive(file) } == .duplicateItem)
            #expect(try !keychain.contains("ada"))

            var shared = keychain
            shared.accessGroup = "TEAM.shared"
            let new = try shared.receive(file, asNew: true)
            #expect(new.allSatisfy { item in item.accessGroup == "TEAM.shared" && !sent.contains { $0.id == item.id } })
            receiver.keys.enter(.locked)
            #expect(code { _ = try keychain.items(in: file) } == .interactionNotAllowed)
        }
    }

    @Test func aPassphraseOpensAFileAnywhere() async throws {
        let passphrase = try KeychainPasscode("correct horse battery staple")
        let keychain = Keychain(server: InternetServer(host: "imap.example.com", protocol: .imaps))
        let (sender, receiver) = (try KeychainUnderTest(), try KeychainUnderTest())
        let file = try await VaultSession.$override.withValue(sender) {
            try await keychain.set("hunter2", for: "ada")
            return try await keychain.send(["ada"], to: .passphrase(passphrase))
        }
        try await VaultSession.$override.withValue(receiver) {
            await #expect(throws: KeychainError.self) {
                try await keychain.items(in: file, passphrase: KeychainPasscode("another"))
            }
            #expect(code { _ = try keychain.items(in: file) } == .invalidRequest)
            let received = try await keychain.receive(file, passphrase: passphrase)
            #expect(received.map(\.account) == ["ada"])
            let value = try await keychain.get(String.self, for: "ada")
            #expect(value == "hunter2")
        }
    }

    @Test func whatIsForThisDeviceStaysThere() throws {
        try KeychainUnderTest.run { test in
            let recipient = try Keychain.Recipient(pem: makeKey(in: test))
            let keychain = Keychain(service: "mail", accessibility: .whenUnlockedThisDeviceOnly)
            try keychain.set("hunter2", for: "ada")
            let error = failure { _ = try keychain.send(["ada"], to: recipient) }
            #expect(error?.code == .invalidRequest && error?.message.contains("this device only") == true)
            #expect(code { _ = try Keychain.Recipient(pem: "no key") } == .invalidRequest)
        }
    }

    @Test func aKeyOfAnotherGroupOpensNothing() throws {
        try KeychainUnderTest.run { test in
            let recipient = try Keychain.Recipient(pem: makeKey(in: test, group: "TEAM.other"))
            let keychain = Keychain(service: "mail")
            try keychain.set("hunter2", for: "ada")
            let file = try keychain.send(["ada"], to: recipient)
            #expect(code { _ = try keychain.items(in: file) } == .itemNotFound)
        }
    }
}
