import Foundation
import Keybag
import Keychain
import KeychainModel
import Synchronization
import Testing

@Suite struct StoredPropertyTests {
    struct Credentials: Sendable {
        @KeychainStored("token", service: "mail") var token: String?
        @KeychainStored("count", in: Keychain(service: "mail", accessibility: .afterFirstUnlock)) var count: Int?
    }

    @Test func readsAndWritesTheKeychain() throws {
        try KeychainUnderTest.run { _ in
            let credentials = Credentials()
            #expect(credentials.token == nil)
            credentials.token = "t-123"
            credentials.count = 7
            #expect(credentials.token == "t-123")
            #expect(Credentials().count == 7)
            let keychain = Keychain(service: "mail")
            #expect(try keychain.item(for: "count")?.accessibility == .afterFirstUnlock)
            try keychain.set("t-456", for: "token")
            #expect(credentials.token == "t-456")
            credentials.token = nil
            #expect(try !keychain.contains("token"))
            #expect(credentials.$token.error == nil)
        }
    }

    @Test func operationsOfTheProjectedValueThrow() async throws {
        try await KeychainUnderTest.runAsync { test in
            let credentials = Credentials()
            try await credentials.$token.set("t-123")
            #expect(try await credentials.$token.get() == "t-123")
            var values = credentials.$token.values.makeAsyncIterator()
            #expect(try await values.next() == "t-123")
            test.keys.enter(.locked)
            await #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) {
                try await credentials.$token.get()
            }
            #expect(credentials.$token.error?.code == .interactionNotAllowed)
            test.keys.enter(.unlocked)
            try await credentials.$token.set(nil)
            #expect(credentials.$token.error == nil)
        }
    }

    @Test func aFailureIsKeptAndReported() throws {
        let reports = Mutex<[(KeychainError.Code, String)]>([])
        let report = KeychainFailureReport { error, declaration in
            reports.withLock { $0.append((error.code, declaration)) }
        }
        try KeychainUnderTest.run { test in
            @KeychainStored("token", service: "mail", onFailure: report) var token: String?
            token = "t-123"
            test.keys.enter(.locked)
            #expect(token == nil)
            #expect(token == nil)
            #expect($token.error?.code == .interactionNotAllowed)
            // Reading on is reported once; a value that could not be stored, each time.
            #expect(reports.withLock { $0.count } == 1)
            token = "lost"
            token = "lost again"
            #expect(reports.withLock { $0.map(\.0) } == Array(repeating: .interactionNotAllowed, count: 3))
            #expect(reports.withLock { $0.allSatisfy { $0.1.contains("StoredPropertyTests.swift:") } })

            test.keys.enter(.unlocked)
            #expect(token == "t-123")
            #expect($token.error == nil)
        }
    }

    @Test func printsNoValue() throws {
        try KeychainUnderTest.run { _ in
            let credentials = Credentials()
            credentials.token = "hunter2"
            var dumped = ""
            dump(credentials, to: &dumped)
            #expect(!dumped.contains("hunter2"))
            #expect(!"\(credentials)".contains("hunter2"))
        }
    }
}
