import Foundation
import Keychain
import TestSupport
import Testing

/// Moving items to another service, passwords that are made up, and one-time passwords as values.
@Suite struct MigrationTests {
    private let old = Keychain(service: "Mail", accessibility: .afterFirstUnlock)
    private let new = Keychain(service: "com.example.mail", accessibility: .whenUnlockedThisDeviceOnly)

    @Test func everythingMovesInOneStep() throws {
        try KeychainUnderTest.run { _ in
            try old.set("first", for: "ada", attributes: .init(label: "Ada", keep: .versions(2)))
            try old.set("second", for: "ada")
            try old.set("third", for: "bob", attributes: .init(custom: ["stage": "test"]))
            let before = try old.item(for: "ada")
            try Keychain(service: "Mailbox").set("stays", for: "ada")
            #expect(try new.migrate(from: old) == 2)
            #expect(try old.items().isEmpty && new.items().map(\.account).sorted() == ["ada", "bob"])
            #expect(try new.get(String.self, for: "ada") == "second")
            #expect(try new.get(String.self, for: "ada", version: 1) == "first")
            let after = try new.item(for: "ada")
            #expect(after?.id == before?.id && after?.attributes.label == "Ada")
            #expect(after?.accessibility == .whenUnlockedThisDeviceOnly)
            #expect(try new.items(withCustom: ["stage": "test"]).map(\.account) == ["bob"])
            #expect(try new.migrate(from: old) == 0)
            #expect(try Keychain(service: "Mailbox").get(String.self, for: "ada") == "stays")
        }
    }

    @Test func whatIsThereAlreadyStaysAndNothingMoves() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await old.set("old", for: "ada")
            try await old.set("old", for: "bob")
            try await new.set("new", for: "bob")
            let error = await #expect(throws: KeychainError.self) { try await new.migrate(from: old) }
            #expect(error?.code == .duplicateItem)
            #expect(try await old.items().count == 2)
            #expect(try await new.get(String.self, for: "bob") == "new")
        }
    }

    @Test func onlyWhatIsAlikeMoves() throws {
        try KeychainUnderTest.run { _ in
            let server = Keychain(server: InternetServer(host: "mail.example.org"))
            let synchronizable = Keychain(service: "Mail", isSynchronizable: true)
            for other in [server, synchronizable] {
                let error = #expect(throws: KeychainError.self) { try new.migrate(from: other) }
                #expect(error?.code == .invalidRequest)
            }
            try server.set("x", for: "ada")
            let renamed = Keychain(server: InternetServer(host: "mx.example.org"))
            #expect(try renamed.migrate(from: server) == 1)
            #expect(try renamed.get(String.self, for: "ada") == "x")
        }
    }

    @Test func aMoveIntoAGroupOfSomebodyElseIsRefused() throws {
        try KeychainUnderTest.run { _ in
            try old.set("x", for: "ada")
            let other = Keychain(service: "Mail", accessGroup: "somebody.else")
            let error = #expect(throws: KeychainError.self) { try other.migrate(from: old) }
            #expect(error?.code == .accessDenied)
            #expect(try old.get(String.self, for: "ada") == "x")
        }
    }

    @Test func passwordsAreMadeUp() throws {
        let passwords = try (0..<100).map { _ in try Keychain.generatePassword() }
        #expect(Set(passwords).count == 100 && passwords.allSatisfy { $0.count == 20 })
        #expect(try Keychain.generatePassword(.words(4, separator: " ")).split(separator: " ").count == 4)
        let error = #expect(throws: KeychainError.self) { try Keychain.generatePassword(.characters(0)) }
        #expect(error?.code == .invalidRequest)
    }

    /// RFC 6238, appendix B, with the first eight digits of its table cut to six.
    @Test func oneTimePasswordsAreValues() throws {
        try KeychainUnderTest.run { _ in
            let address = "otpauth://totp/Example:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Example"
            try old.set(OneTimePassword(address), for: "ada")
            let password = try #require(try old.get(OneTimePassword.self, for: "ada"))
            #expect(password.code(at: Date(timeIntervalSince1970: 59)) == "287082")
            #expect(try old.get(String.self, for: "ada") == password.uri)
            try old.set("no address", for: "bob")
            let error = #expect(throws: KeychainError.self) { try old.get(OneTimePassword.self, for: "bob") }
            #expect(error?.code == .undecodableValue)
        }
    }
}
