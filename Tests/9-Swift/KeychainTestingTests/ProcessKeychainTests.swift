import Dispatch
import Foundation
import KeychainServices
import KeychainTesting
import Testing

/// There is one process, so these run one after the other.
@Suite(.serialized) struct ProcessKeychainTests {
    @Test func reachesCodeOnQueuesOfItsOwn() async throws {
        let world = try TestKeychain()
        world.replaceProcessKeychain()
        defer { TestKeychain.restoreProcessKeychain() }
        let status = await withCheckedContinuation { continuation in
            DispatchQueue(label: "code under test").async {
                continuation.resume(returning: CodeUnderTest.add("1", account: "queue"))
            }
        }
        #expect(status == errSecSuccess)
        #expect(await Task.detached { CodeUnderTest.read(account: "queue").password }.value == "1")
        #expect(world.run { CodeUnderTest.read(account: "queue").password } == "1")
    }

    @Test func reachesCodeOnThreadsOfItsOwn() async throws {
        let world = try TestKeychain()
        world.replaceProcessKeychain()
        defer { TestKeychain.restoreProcessKeychain() }
        let password = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                _ = CodeUnderTest.add("1", account: "thread")
                continuation.resume(returning: CodeUnderTest.read(account: "thread").password)
            }
        }
        #expect(password == "1")
    }

    @Test func aRunningKeychainGoesFirst() throws {
        let process = try TestKeychain()
        process.replaceProcessKeychain()
        defer { TestKeychain.restoreProcessKeychain() }
        try withTestKeychain { _ in
            #expect(CodeUnderTest.add("inner", account: "a") == errSecSuccess)
        }
        #expect(CodeUnderTest.read(account: "a").status == errSecItemNotFound)
    }
}
