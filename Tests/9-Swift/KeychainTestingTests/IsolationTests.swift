import Foundation
import KeychainServices
import KeychainTesting
import Testing

@Suite struct IsolationTests {
    @Test func aHundredTestsAtOnceKeepTheirOwnItems() async throws {
        let passwords = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await withTestKeychain { _ in
                        #expect(CodeUnderTest.add("password \(number)", account: "same") == errSecSuccess)
                        await Task.yield()
                        #expect(CodeUnderTest.add("again", account: "same") == errSecDuplicateItem)
                        return (number, CodeUnderTest.read(account: "same").password)
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(passwords.count == 100)
        for (number, password) in passwords { #expect(password == "password \(number)") }
    }

    @Test func startsEmptyAndForgets() throws {
        try withTestKeychain { _ in
            #expect(CodeUnderTest.read(account: "a").status == errSecItemNotFound)
            #expect(CodeUnderTest.add("1", account: "a") == errSecSuccess)
        }
        try withTestKeychain { _ in
            #expect(CodeUnderTest.read(account: "a").status == errSecItemNotFound)
        }
    }

    @Test func aKeychainKeepsItsItemsFromRunToRun() throws {
        let world = try TestKeychain()
        world.run { #expect(CodeUnderTest.add("1", account: "a") == errSecSuccess) }
        let password = world.run { CodeUnderTest.read(account: "a").password }
        #expect(password == "1")
    }

    @Test func theInnermostKeychainCounts() throws {
        try withTestKeychain { _ in
            #expect(CodeUnderTest.add("outer", account: "a") == errSecSuccess)
            try withTestKeychain { _ in
                #expect(CodeUnderTest.read(account: "a").status == errSecItemNotFound)
                #expect(CodeUnderTest.add("inner", account: "a") == errSecSuccess)
            }
            #expect(CodeUnderTest.read(account: "a").password == "outer")
        }
    }

    @Test func tasksInheritTheKeychain() async throws {
        try await withTestKeychain { _ in
            #expect(CodeUnderTest.add("1", account: "a") == errSecSuccess)
            async let child = CodeUnderTest.read(account: "a").password
            let unstructured = Task { CodeUnderTest.read(account: "a").password }
            #expect(await child == "1")
            #expect(await unstructured.value == "1")
        }
    }

    private struct Refusal: Error, Equatable {}

    @Test func errorsPassThrough() async throws {
        let world = try TestKeychain()
        #expect(throws: Refusal()) { try world.run { throw Refusal() } }
        await #expect(throws: Refusal()) {
            try await world.run { () async throws(Refusal) -> Void in throw Refusal() }
        }
    }
}
