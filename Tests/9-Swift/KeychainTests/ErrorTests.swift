import Access
import Foundation
import Keybag
import Keychain
import KeychainModel
import Testing
import VaultInterface

@Suite struct ErrorTests {
    @Test func codesArePatterns() throws {
        try KeychainUnderTest.run { _ in
            let keychain = Keychain(service: "s")
            do {
                try keychain.setAttributes(.init(label: "l"), for: "nobody")
                Issue.record("changed an item that is not there")
            } catch KeychainError.Code.accessDenied {
                Issue.record("took one code for another")
            } catch KeychainError.Code.itemNotFound {
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func carriesApplesStatus() throws {
        try KeychainUnderTest.run { test in
            let keychain = Keychain(service: "s")
            #expect(failure { try keychain.setAttributes(.init(label: "l"), for: "nobody") }?.status == -25300)
            #expect(failure { try Keychain(service: "s", accessGroup: "no").removeAll() }?.status == -34018)
            try keychain.set("secret", for: "a")
            test.keys.enter(.locked)
            #expect(failure { _ = try keychain.get(String.self, for: "a") }?.status == -25308)
        }
    }

    @Test func tooLargeSaysHowLarge() throws {
        try KeychainUnderTest.run { _ in
            let error = failure { try Keychain(service: "s").set(Data(repeating: 7, count: 64 << 20), for: "a") }
            #expect(error?.code == .tooLarge)
            #expect(error?.message.contains("\(64 << 20)") == true)
        }
    }

    @Test func anErrorTellsAPersonWhatToDo() {
        let error = KeychainError(.busy, status: 0, message: "in use; or not; try again")
        #expect((error as any Error).localizedDescription == error.message)
        #expect(error.recoverySuggestion == "try again")
        #expect(KeychainError(.busy, status: 0, message: "in use").recoverySuggestion == nil)
    }

    /// Whatever goes wrong, no part of the item is in what may end up in a log.
    @Test func noErrorSaysWhatItIsAbout() throws {
        try KeychainUnderTest.run { test in
            let marked = "MARKED"
            let keychain = Keychain(
                service: marked + "-service", accessControl: .userPresence, interaction: .forbidden)
            try keychain.set(marked + "-value", for: marked + "-account", attributes: .init(label: marked))
            var errors: [KeychainError] = []
            func collect(_ body: () throws -> Void) throws {
                let error = failure(body)
                errors.append(try #require(error))
            }
            try collect { _ = try keychain.get(String.self, for: marked + "-account") }
            try collect { try keychain.set(marked, for: marked + "-account") }
            try collect { try keychain.setAttributes(.init(label: marked), for: marked) }
            try collect {
                try Keychain(service: marked, accessControl: [.or, .and]).set(marked, for: marked)
            }
            try Keychain(service: marked).set(marked, for: marked)
            try collect { _ = try Keychain(service: marked).get(Int.self, for: marked) }
            test.keys.enter(.locked)
            try collect { _ = try Keychain(service: marked).get(String.self, for: marked) }
            for error in errors {
                #expect(!"\(error) \(String(reflecting: error)) \(error.localizedDescription)".contains(marked))
                #expect(error.message.contains(";"), "says what to do: \(error)")
            }
        }
    }

    @Test func nothingPrintsAValue() throws {
        try KeychainUnderTest.run { _ in
            let keychain = Keychain(service: "s")
            try keychain.set("hunter2", for: "a")
            let items = try keychain.items(includingValues: true)
            #expect(try items.first?.value(as: String.self) == "hunter2")
            var dumped = ""
            dump(items, to: &dumped)
            let value = Data("hunter2".utf8)
            for text in ["\(items)", String(reflecting: items), dumped] {
                #expect(!text.contains("hunter2"))
                #expect(!text.contains("\(value.count) bytes"))
            }
            #expect(dumped.contains("hasValue: true"))
        }
    }
}
