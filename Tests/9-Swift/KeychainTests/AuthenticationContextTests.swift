import Access
import Foundation
import Keychain
import KeychainModel
import Testing

@Suite struct AuthenticationContextTests {
    @Test func asksOnce() async throws {
        try await KeychainUnderTest.runAsync { test in
            var keychain = Keychain(service: "bank", accessControl: .userPresence)
            try await keychain.set("secret", for: "ada")
            let context = Keychain.AuthenticationContext()
            try await context.authenticate(for: .userPresence, reason: "Show the balance")
            #expect(test.person.prompts == ["Show the balance"])
            keychain.authenticationContext = context
            for _ in 0..<3 { #expect(try await keychain.get(String.self, for: "ada") == "secret") }
            keychain.interaction = .forbidden
            #expect(try await keychain.get(String.self, for: "ada") == "secret")
            #expect(test.person.prompts.count == 1)

            context.invalidate()
            let refused = keychain
            #expect(code { _ = try refused.get(String.self, for: "ada") } == .authenticationFailed)
            #expect(code { try context.authenticate(for: .userPresence, reason: "") } == .authenticationFailed)
            #expect(test.person.prompts.count == 1)
        }
    }

    @Test func suppliesThePassword() throws {
        try KeychainUnderTest.run { test in
            var keychain = Keychain(service: "bank", accessControl: .applicationPassword)
            let context = Keychain.AuthenticationContext()
            try context.setApplicationPassword(Data("pw".utf8))
            keychain.authenticationContext = context
            try keychain.set("secret", for: "ada")
            #expect(try keychain.get(String.self, for: "ada") == "secret")
            try context.setApplicationPassword(Data("other".utf8))
            #expect(code { _ = try keychain.get(String.self, for: "ada") } == .authenticationFailed)
            #expect(try keychain.contains("ada"))
            try context.setApplicationPassword(nil)
            #expect(code { _ = try keychain.get(String.self, for: "ada") } == .interactionNotAllowed)
            #expect(code { try keychain.set("new", for: "ada") } == .interactionNotAllowed)
            #expect(test.person.prompts.isEmpty)
        }
    }

    @Test func anInvalidatedContextIsRefusedWhereItWasNeverUsed() throws {
        let context = Keychain.AuthenticationContext()
        context.invalidate()
        try KeychainUnderTest.run { _ throws in
            var keychain = Keychain(service: "bank")
            try keychain.set("secret", for: "ada")
            keychain.authenticationContext = context
            #expect(code { _ = try keychain.get(String.self, for: "ada") } == .authenticationFailed)
        }
    }
}
