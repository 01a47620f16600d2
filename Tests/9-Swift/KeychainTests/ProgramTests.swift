import Foundation
import Glibc
import Keychain
import TestSupport
import Testing

/// Who the process is and where its vault is can be said once for a process, so these run in their own.
@Suite struct ProgramTests {
    @Test func newItemsGoToTheFirstGroup() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            setenv("KEYCHAIN_HOME", folder.path(of: "vault"), 1)
            try KeychainProgram.declare(identifier: "com.example.mail", accessGroups: ["first", "second"])
            let keychain = Keychain(service: "s")
            try await keychain.set("v", for: "a")
            try #require(try await keychain.item(for: "a")?.accessGroup == "first")
            try await Keychain(service: "s", accessGroup: "second").set("v", for: "a")
            do {
                try await Keychain(service: "s", accessGroup: "third").set("v", for: "a")
                Issue.record("stored in a group the program does not hold")
            } catch KeychainError.Code.accessDenied {}
        }
    }

    @Test func theIdentifierIsTheGroupUnlessGroupsAreNamed() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            setenv("KEYCHAIN_HOME", folder.path(of: "vault"), 1)
            try KeychainProgram.declare(identifier: "com.example.mail")
            let keychain = Keychain(service: "s")
            try await keychain.set("v", for: "a")
            try #require(try await keychain.item(for: "a")?.accessGroup == "com.example.mail")
        }
    }

    @Test func aVaultThatCannotBeOpenedIsAnErrorAndNoCrash() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try Data().write(to: URL(filePath: folder.path(of: "file")))
            setenv("KEYCHAIN_HOME", folder.path(of: "file/vault"), 1)
            let error = await #expect(throws: KeychainError.self) {
                try await Keychain(service: "s").get(String.self, for: "a")
            }
            try #require(error?.message.isEmpty == false)
        }
    }

    @Test func refusesEmptyNames() {
        #expect(code { try KeychainProgram.declare(identifier: "") } == .invalidRequest)
        #expect(code { try KeychainProgram.declare(identifier: "a", accessGroups: []) } == .invalidRequest)
        #expect(code { try KeychainProgram.declare(identifier: "a", accessGroups: [""]) } == .invalidRequest)
    }
}
